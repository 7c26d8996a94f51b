/** profile_table: what is in a CSV or JSON file, in figures the agent can rely on. */
import { Readable } from 'node:stream';
import Type from 'typebox';
import { maxResultBytes, type Tool } from './port.ts';
import { fitProfile } from './table/fit-profile.ts';
import { profileTable } from './table/profile.ts';

/** Room for what surrounds the result where it is recorded. */
const envelopeBytes = 1024;

export const profileTableTool: Tool = {
  name: 'profile_table',
  description:
    'Profiles a table in the workspace: CSV, TSV (any delimiter or encoding) or JSON (array, {"data": […]}, JSON lines), of any size. Returns rows, ' +
    'and for each column type, missing and distinct values; for numbers exact sum, mean, median, extremes, quartiles and outliers with row numbers ' +
    '(1 is the first row below the header); for text the most frequent values; figures by group, a trend over time, correlations, and warnings about ' +
    'what is odd in the file. Use it before reading a table as text.',
  parameters: Type.Object({ path: Type.String({ minLength: 1, maxLength: 255, description: 'File name in the workspace' }) }),
  highConsequence: false,
  repeatable: true,
  timeoutMs: 120_000,
  async run({ path }: { path: string }, { workspace, signal }) {
    const open = async () => {
      const { stream } = await workspace.open(path);
      return stream instanceof Readable ? stream : new Readable().wrap(stream);
    };
    return fitProfile(await profileTable(open, path, signal), maxResultBytes - envelopeBytes);
  },
};
