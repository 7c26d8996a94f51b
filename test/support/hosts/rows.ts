/** Every host of the contract suite. */
import { pagesRow, workersRow } from './cloudflare-rows.ts';
import { expoRow } from './expo-row.ts';
import type { HostRow } from './host-row.ts';
import { netlifyRow } from './netlify-row.ts';
import { vercelRow } from './vercel-row.ts';

export const hostRows: readonly HostRow[] = [vercelRow, netlifyRow, workersRow, pagesRow, expoRow];
