/** The profile of the table that the source holds, made to fit a tool's result. */
import type { JobFunction } from '../../compute/port.ts';
import { fitProfile } from './fit-profile.ts';
import { profileTable } from './profile.ts';
import type { TableProfile } from './table-profile.ts';

const job: JobFunction<{ name: string; maxBytes: number }, TableProfile> = async ({ name, maxBytes }, { open, signal }) =>
  fitProfile(await profileTable(open, name, signal), maxBytes);
export default job;
