/** Every host of the contract suite. */
import type { HostRow } from './host-row.ts';
import { netlifyRow } from './netlify-row.ts';
import { vercelRow } from './vercel-row.ts';

export const hostRows: readonly HostRow[] = [vercelRow, netlifyRow];
