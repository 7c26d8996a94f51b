/** profile_table: the content of a CSV, JSON or XLSX file, in figures that the agent can rely on. */

import Type from 'typebox';
import { readingFiles } from '../../../authority.ts';
import { ToolError } from '../../../errors.ts';
import { type Compute, JobStopped } from '../../../providers/compute/port.ts';
import {
  type Bounds,
  type JoinProfile,
  joinJob,
  profileJob,
  type Query,
  type QueryAnswers,
  queryJob,
  type TableProfile,
} from '../../../providers/table/port.ts';
import { maxPathBytes } from '../../workspaces/contract.ts';
import { maxResultBytes, type Tool } from './port.ts';
import { dayPattern, tableQueries } from './table-queries.ts';

const monthPattern = '^([0-9]{4}-)?(0[1-9]|1[0-2])$';
/** Reserve for the data around the recorded result. */
const envelopeBytes = 1024;

type Arguments = Omit<Bounds, 'ratio' | 'months' | 'period' | 'promoters' | 'aboveMinutes'> & {
  above_minutes?: number;
  path: string;
  compare_with?: string;
  extended_by?: string;
  sheet?: string;
  ratio_of?: string;
  ratio_per?: string;
  ratio_times?: number;
  from_month?: string;
  to_month?: string;
  promoters_of?: string[];
  from_day?: string;
  to_day?: string;
  measures?: string[];
  queries?: Query[];
};

export const createProfileTable = (compute: Compute): Tool => ({
  name: 'profile_table',
  agentTypes: ['researcher', 'analyst', 'trader'],
  description:
    'Profiles a table in the workspace: CSV, TSV (any delimiter or encoding), columns aligned by blanks, a table in a Markdown text or Word document (.docx), or JSON (array, {"data": […]}, JSON lines), of any size; ' +
    'and XLSX workbooks: each sheet is a table (the largest first, the others in `nested`), formulas are checked against their cells, and sums that leave out rows, typed totals, texts that are numbers and errors are in `remarks`. Returns rows, ' +
    'and for each column type, missing and distinct values; for numbers exact sum, mean, median, extremes, quartiles and outliers with row numbers ' +
    '(1 is the first row below the header); for text the most frequent values; figures by group, a trend over time, correlations, and warnings about ' +
    'what is odd in the file. Figures leave out exact duplicates of rows, rows whose status says cancelled, refunded, returned or test, and ' +
    'values off their scale: `basis` says so, and `all` is the figure of every row. Use it before reading a table as text. With ' +
    '`compare_with` it joins two tables on their common key instead: keys that are missing on either side, keys that repeat, and figures that only both give (quantity × price, budget − spent, a measure by a group of the other). Two sheets of one workbook are joined if it is the same path. With ' +
    '`extended_by` as well, it gives the figures of the first by the columns of a third table that only the second has a common key with.',
  parameters: Type.Object({
    path: Type.String({ minLength: 1, maxLength: maxPathBytes, description: 'File name in the workspace' }),
    compare_with: Type.Optional(
      Type.String({ minLength: 1, maxLength: maxPathBytes, description: 'Another table in the workspace, to be joined with this one' }),
    ),
    sheet: Type.Optional(Type.String({ minLength: 1, maxLength: 120, description: 'Of a workbook: read only the sheet of this name' })),
    above: Type.Optional(Type.Number({ description: 'Name the rows in which a number is larger than this' })),
    below: Type.Optional(Type.Number({ description: 'Name the rows in which a number is smaller than this' })),
    above_minutes: Type.Optional(
      Type.Number({ minimum: 0, description: 'Of planned and actual times: name the rows that are later by more than these minutes' }),
    ),
    ratio_of: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'With ratio_per: a column of numbers, such as rent' }),
    ),
    ratio_per: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'The column that ratio_of is divided by, such as square metres' }),
    ),
    ratio_times: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1_000_000,
        description: 'The ratio is per this many of ratio_per, such as 100 for litres per 100 km',
      }),
    ),
    from_month: Type.Optional(
      Type.String({
        pattern: monthPattern,
        description: 'With to_month: groups are compared from this month (2024-01, or 01 for that month of the last year) to the other',
      }),
    ),
    to_month: Type.Optional(Type.String({ pattern: monthPattern, description: 'The later month of the comparison' })),
    promoters_of: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        maxItems: 8,
        description: 'Columns of answers from 0 to 10 whose net promoter score is wanted',
      }),
    ),
    from_day: Type.Optional(
      Type.String({ pattern: dayPattern, description: 'With to_day: the first day of the period that the figures are wanted for' }),
    ),
    to_day: Type.Optional(Type.String({ pattern: dayPattern, description: 'The last day of that period' })),
    scales: Type.Optional(
      Type.Array(
        Type.Object({
          column: Type.String({ minLength: 1, maxLength: 255 }),
          low: Type.Number(),
          high: Type.Number(),
        }),
        { maxItems: 8, description: 'Known scales of columns, such as 1 to 5: the few values outside are left out of the figures' },
      ),
    ),
    measures: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        maxItems: 8,
        description: 'With compare_with: columns of numbers that the figures should be about, where a table has several',
      }),
    ),
    queries: Type.Optional(tableQueries),
    extended_by: Type.Optional(
      Type.String({ minLength: 1, maxLength: maxPathBytes, description: 'A third table, which has a common key with the second only' }),
    ),
  }),
  need: readingFiles,
  highConsequence: false,
  repeatable: true,
  // The job waits first for its turn.
  timeoutMs: Math.max(profileJob.wallMs, joinJob.wallMs) + 30_000,
  async run(
    {
      path,
      compare_with: other,
      extended_by: last,
      sheet,
      above,
      below,
      above_minutes: aboveMinutes,
      ratio_of: of,
      ratio_per: per,
      ratio_times: times,
      from_month: from,
      to_month: to,
      promoters_of: promoters,
      from_day: firstDay,
      to_day: lastDay,
      scales,
      measures,
      queries,
    }: Arguments,
    { workspace, accountId, signal },
  ) {
    if (last !== undefined && other === undefined)
      throw new ToolError('extended_by needs compare_with: the table that leads to the third.');
    const ratio = of === undefined || per === undefined ? {} : { ratio: { of, per, ...(times === undefined ? {} : { times }) } };
    const period = firstDay === undefined || lastDay === undefined ? {} : { period: { from: firstDay, to: lastDay } };
    const open = async (name: string) => (await workspace.open(name)).stream;
    const run = (): Promise<TableProfile | JoinProfile | QueryAnswers> => {
      const ofOne = { account: accountId, signal, open: () => open(path) };
      const ofSheet = { name: path, ...(sheet === undefined ? {} : { sheet }) };
      if (queries !== undefined) return compute.run(queryJob, { ...ofSheet, queries }, ofOne);
      if (other !== undefined)
        return compute.run(
          joinJob,
          { left: path, right: other, last, ...period, ...ratio, ...(measures === undefined ? {} : { measures }) },
          { ...ofOne, open: inTurn(open, [path, other, ...(last === undefined ? [] : [last])]) },
        );
      const bounds = {
        above,
        below,
        ...(aboveMinutes === undefined ? {} : { aboveMinutes }),
        ...ratio,
        ...(from === undefined || to === undefined ? {} : { months: { from, to } }),
        ...(scales === undefined ? {} : { scales }),
        ...(promoters === undefined ? {} : { promoters }),
        ...period,
      };
      return compute.run(profileJob, { ...ofSheet, maxBytes: maxResultBytes - envelopeBytes, bounds }, ofOne);
    };
    return run().catch((error: unknown) => {
      if (!(error instanceof JobStopped)) throw error;
      const { timeMs } = queries === undefined ? profileJob : queryJob;
      const what = error.reason === 'time' ? `${timeMs / 1000} s` : 'the memory that it may use';
      throw new ToolError(`${path} could not be profiled: it takes more than ${what}.`, { cause: error });
    });
  },
});

/** Opens the first name at the first call, the next one at each further call. */
function inTurn(open: (name: string) => Promise<NodeJS.ReadableStream>, names: readonly string[]): () => Promise<NodeJS.ReadableStream> {
  let at = 0;
  return () => open(names[Math.min(at++, names.length - 1)]!);
}
