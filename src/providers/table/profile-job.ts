/** The profile of the table in the source, shortened to fit a tool's result. */
import type { JobFunction } from '../compute/port.ts';
import type { Bounds } from './findings/missing.ts';
import { fitProfile } from './fit-profile.ts';
import { profileTable } from './profile.ts';
import type { TableProfile } from './table-profile.ts';

const job: JobFunction<{ name: string; maxBytes: number; bounds?: Bounds; sheet?: string }, TableProfile> = async (
  { name, maxBytes, bounds, sheet },
  { open, signal },
) => fitProfile(await profileTable(open, name, signal, bounds, sheet), maxBytes);
export default job;
