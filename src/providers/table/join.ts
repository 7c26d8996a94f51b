/** Two tables joined by a common key: keys that are missing on either side, repeated keys, and figures that need both tables. */

import type { Readable } from 'node:stream';
import { ToolError } from '../../errors.ts';
import { cellText } from './cell.ts';
import type { ColumnPlan } from './column-evidence.ts';
import { ColumnsInMemory, clean } from './columns-in-memory.ts';
import { countOf, exact, leftOutText, listed, rowList } from './figure-text.ts';
import { chainFigures, type JoinBounds, joinFigures } from './join-figures.ts';
import { findKey, type JoinKey, type JoinSide, uniqueness } from './join-key.ts';
import { convertedFigures } from './join-rates.ts';
import { mainOf } from './join-side.ts';
import { basisIn, type RepeatedRows, readRows } from './profile.ts';
import type { Finding } from './table-profile.ts';
import { openTables } from './table-source.ts';

export type JoinProfile = {
  left: string;
  right: string;
  /** Null if the tables have no common key; then everything else is empty. */
  key: { left: string; right: string } | null;
  common_keys: number;
  only_left: { count: number; keys: string[] };
  only_right: { count: number; keys: string[] };
  remarks: Finding[];
};

const keysShown = 20;
const maxKeyChars = 60;
const repeatsShown = 6;
const maxLists = 3;
const maxSheets = 6;

type Opener = () => Promise<Readable>;

/** Throws `ToolError` when one of the files is not a table, or too long to be compared in memory. */
export async function joinTables(
  left: { name: string; open: Opener },
  right: { name: string; open: Opener },
  signal?: AbortSignal,
  bounds: JoinBounds = {},
): Promise<JoinProfile> {
  return joined(await sideOf(left, signal, bounds), await sideOf(right, signal, bounds), bounds);
}

/** The first two sheets of a workbook that have a common key. */
export async function joinSheets(
  file: { name: string; open: Opener },
  signal?: AbortSignal,
  bounds: JoinBounds = {},
): Promise<JoinProfile> {
  const sheets: FileSide[] = [];
  for (const { path, source } of (await openTables(file.open, file.name, signal)).slice(0, maxSheets)) {
    if (source.title === undefined) continue;
    const side = await tableSide(`sheet ${source.title}`, { path, source }, new Map(), signal, bounds);
    if (side !== null) sheets.push({ ...side, lists: [] });
  }
  for (const [i, a] of sheets.entries())
    for (const b of sheets.slice(i + 1)) {
      const found = joined(a, b, bounds);
      if (found.key !== null) return found;
    }
  return nothingJoined(file.name, file.name);
}

function nothingJoined(left: string, right: string): JoinProfile {
  return {
    left,
    right,
    key: null,
    common_keys: 0,
    only_left: { count: 0, keys: [] },
    only_right: { count: 0, keys: [] },
    remarks: [],
  };
}

function joined(a: FileSide, b: FileSide, bounds: JoinBounds): JoinProfile {
  const nothing = nothingJoined(a.name, b.name);
  const key = a.table.count === 0 || b.table.count === 0 ? null : findKey(a, b);
  if (key === null) return nothing;
  const onlyLeft = missingIn(key.leftRows, key.rightRows, a, key.left);
  const onlyRight = missingIn(key.rightRows, key.leftRows, b, key.right);
  const common = key.leftRows.size - onlyLeft.keys.length;
  const names = { left: key.left.map(({ name }) => name).join(' + '), right: key.right.map(({ name }) => name).join(' + ') };
  const same = names.left === names.right ? names.left : `${names.left} = ${names.right}`;
  const ofLists = [...convertedLists(a, b), ...convertedLists(b, a)];
  const figures = joinFigures(key, a, b, bounds).filter(({ kind }) => ofLists.length === 0 || kind !== 'join_converted');
  const findings: Finding[] = [
    {
      kind: 'join',
      text: `${a.name} and ${b.name} are joined on ${same}: ${exact(common)} of ${countOf(key.leftRows.size, 'key')} of ${a.name}${rowsIn(key.leftRows, key.rightRows)} ${common === 1 ? 'is' : 'are'} in ${b.name}, which has ${countOf(key.rightRows.size, 'key')}.`,
    },
    ...[a, b].flatMap((side) => countedIn(side, figures)),
    ...onlySide(onlyLeft, a.name, b.name),
    ...onlySide(onlyRight, b.name, a.name),
    ...(onlyLeft.keys.length + onlyRight.keys.length === 0 ? [{ kind: 'join', text: `No key is missing on either side.` }] : []),
    ...repeats(key.leftRows, key.rightRows, a, key.left),
    ...repeats(key.rightRows, key.leftRows, b, key.right),
    ...writtenOtherwise(key, a, b),
    ...byWrittenKey(key, a, b),
    ...ofLists,
    ...figures,
  ];
  return {
    ...nothing,
    key: names,
    common_keys: common,
    only_left: { count: onlyLeft.keys.length, keys: onlyLeft.keys.slice(0, keysShown) },
    only_right: { count: onlyRight.keys.length, keys: onlyRight.keys.slice(0, keysShown) },
    remarks: findings,
  };
}

/**
 * The figures of the first table by the columns of a third one, to which only the second leads: stock × price by the supplier's country.
 * Returns only these figures; `key` is null if the three are not a chain.
 */
export async function joinChain(
  left: { name: string; open: Opener },
  middle: { name: string; open: Opener },
  last: { name: string; open: Opener },
  signal?: AbortSignal,
): Promise<JoinProfile> {
  const [a, b, c] = [await sideOf(left, signal), await sideOf(middle, signal), await sideOf(last, signal)];
  const nothing = nothingJoined(left.name, `${middle.name} with ${last.name}`);
  if ([a, b, c].some(({ table }) => table.count === 0)) return nothing;
  const onward = findKey(b, c);
  if (onward === null || uniqueness(onward.rightRows) < 1) return nothing;
  const extended = extend(b, onward, c);
  const key = findKey(a, { name: b.name, table: b.table });
  if (key === null) return nothing;
  const added = new Set(extended.table.plans.slice(b.table.plans.length));
  const names = { left: key.left.map(({ name }) => name).join(' + '), right: key.right.map(({ name }) => name).join(' + ') };
  return { ...nothing, key: names, remarks: chainFigures(key, a, extended, added) };
}

/** The rows of a table, extended with the other table's cells. */
function extend(side: JoinSide, key: JoinKey, other: JoinSide): JoinSide {
  const width = Math.max(...side.table.rows.cells.map((cells) => cells.length), ...side.table.plans.map(({ index }) => index + 1));
  const partner = new Map<number, number>();
  for (const [folded, rows] of key.leftRows) {
    const found = key.rightRows.get(folded)?.[0];
    if (found !== undefined) for (const at of rows) partner.set(at, found);
  }
  const cells = side.table.rows.cells.map((own, at) => {
    const found = partner.get(at);
    const padded = [...own, ...Array<null>(width - own.length).fill(null)];
    return found === undefined ? padded : [...padded, ...other.table.rows.cells[found]!];
  });
  const plans = other.table.plans.filter((plan) => !key.right.includes(plan)).map((plan) => ({ ...plan, index: plan.index + width }));
  return {
    name: `${side.name} with ${other.name}`,
    table: new ColumnsInMemory({ cells, numbers: side.table.rows.numbers }, [...side.table.plans, ...plans]),
  };
}

/** `lists`: the lists in the records of a JSON file, such as the lines of orders. */
type FileSide = JoinSide & { lists: JoinSide[] };

async function sideOf({ name, open }: { name: string; open: Opener }, signal?: AbortSignal, bounds: JoinBounds = {}): Promise<FileSide> {
  const repeated: RepeatedRows = new Map();
  const [main, ...lists] = await openTables(open, name, signal);
  const own = await tableSide(name, main!, repeated, signal, bounds);
  if (own === null) throw new ToolError(`${name} is too long to be compared row by row; use code_exec.`);
  const others: JoinSide[] = [];
  for (const list of lists.slice(0, maxLists)) {
    const side = await tableSide(`${name}: ${list.path}`, list, repeated, signal, bounds);
    if (side !== null) others.push(side);
  }
  return { ...own, lists: others };
}

/** Null if the table is too long. */
async function tableSide(
  name: string,
  { path, source }: Awaited<ReturnType<typeof openTables>>[number],
  repeated: RepeatedRows,
  signal: AbortSignal | undefined,
  bounds: JoinBounds,
): Promise<JoinSide | null> {
  const memory = await readRows(source, signal);
  if (memory === null) return null;
  const leftOut = basisIn(memory, source, bounds, repeated)?.leftOut ?? [];
  repeated.set(path, new Set(leftOut.find(({ kind }) => kind === 'duplicates')?.rows));
  const out = new Set(leftOut.filter(({ kind }) => kind !== 'values').flatMap(({ rows }) => rows));
  const { numbers } = memory.rows;
  const counted = new Set([...numbers.keys()].filter((at) => !out.has(numbers[at]!)));
  return {
    name,
    table: new ColumnsInMemory(memory.rows, memory.survey.columns),
    leftOut,
    named: bounds.measures,
    ...(out.size === 0 ? {} : { counted }),
  };
}

/** Amounts in the lists of the records (quantity × price of order lines) at the rates of the other table. */
function convertedLists(side: FileSide, other: JoinSide): Finding[] {
  return side.lists.flatMap((list) => {
    const key = list.table.count === 0 ? null : findKey(list, other);
    if (key === null) return [];
    return convertedFigures({ ...list, plans: key.left, rows: key.leftRows }, { ...other, plans: key.right, rows: key.rightRows });
  });
}

/** A key is in a file whatever the status of its row says; dues count every payment. */
function countedIn({ name, leftOut = [] }: JoinSide, figures: readonly Finding[]): Finding[] {
  if (leftOut.length === 0) return [];
  const isOfDues = figures.some(({ kind }) => kind.startsWith('dues_'));
  return [
    {
      kind: 'join',
      text: `The keys${isOfDues ? ' and what is due' : ''} rest on every row of ${name}${isOfDues ? ', also' : '; the joined figures leave out'} ${leftOutText(leftOut)}.`,
    },
  ];
}

type Unmatched = { keys: string[]; together: string };

/** Keys without a partner row, as written, each with its name, its rows where keys repeat, and the main figure. */
function missingIn(own: JoinKey['leftRows'], other: JoinKey['leftRows'], joined: JoinSide, plans: JoinKey['left']): Unmatched {
  const { table } = joined;
  const repeats = uniqueness(own) < 1;
  const name = repeats ? undefined : table.nameBeside(plans);
  const main = mainOf({ ...joined, plans, rows: own });
  const amount = main === undefined || main.units.size > 1 ? undefined : main;
  const keys: string[] = [];
  const sums: number[] = [];
  for (const [key, rows] of own) {
    if (other.has(key)) continue;
    const written = plans.map((plan) => cellText(table.texts(plan)[rows[0]!]!, maxKeyChars)).join(' / ');
    const label = name === undefined ? '' : cellText(table.texts(name)[rows[0]!]!, maxKeyChars);
    const sum = amount === undefined ? null : sumOf(joined, rows, amount);
    if (sum !== null) sums.push(sum);
    const details = [
      label === written ? '' : label,
      repeats ? rowList(rows.map((at) => table.row(at))) : '',
      sum === null ? '' : `${amount!.name} ${exact(sum)}`,
    ].filter((text) => text !== '');
    keys.push(details.length === 0 ? written : `${written} (${details.join(', ')})`);
  }
  const together = sums.length < 2 ? '' : `; together ${amount!.name} ${exact(clean(sums.reduce((total, sum) => total + sum, 0)))}`;
  return { keys, together };
}

/** Null if no counted row has a value. */
function sumOf({ table, counted }: JoinSide, rows: readonly number[], amount: ColumnPlan): number | null {
  const known = rows.filter((at) => (counted?.has(at) ?? true) && !Number.isNaN(table.numbers(amount)[at]!));
  return known.length === 0 ? null : clean(known.reduce((total, at) => total + table.numbers(amount)[at]!, 0));
}

function onlySide({ keys, together }: Unmatched, here: string, there: string): Finding[] {
  if (keys.length === 0) return [];
  return [
    {
      kind: 'join_only',
      text: `Only in ${here}, not in ${there}: ${countOf(keys.length, 'key')} (${listed(keys, keysShown)}${together}).`,
    },
  ];
}

/** " (35 of 39 rows)", where that differs from the keys. */
function rowsIn(own: JoinKey['leftRows'], other: JoinKey['leftRows']): string {
  const count = (keys: Iterable<readonly [string, readonly number[]]>) => [...keys].reduce((sum, [, rows]) => sum + rows.length, 0);
  const all = count(own);
  return all === own.size ? '' : ` (${exact(count([...own].filter(([key]) => other.has(key))))} of ${exact(all)} rows)`;
}

/** Keys that are repeated on a side where they should be unique. */
function repeats(own: JoinKey['leftRows'], other: JoinKey['leftRows'], { name, table }: JoinSide, plans: JoinKey['left']): Finding[] {
  if (uniqueness(own) < (uniqueness(other) === 1 ? 0.7 : 0.6)) return [];
  const twice = [...own].filter(([, rows]) => rows.length > 1);
  if (twice.length === 0) return [];
  const each = twice
    .slice(0, repeatsShown)
    .map(
      ([, rows]) =>
        `${plans.map((plan) => cellText(table.texts(plan)[rows[0]!]!, maxKeyChars)).join(' / ')} occurs ${rows.length} times (${rowList(rows.map((at) => table.row(at)))}${differing(table, plans, rows)})`,
    );
  return [
    {
      kind: 'join_repeats',
      text: `In ${name} ${listed(each)}${twice.length > repeatsShown ? ` and ${twice.length - repeatsShown} more keys repeat` : ''}.`,
    },
  ];
}

/** ": location Ward 3 and Theatre", the texts and numbers in which the rows of one key differ. */
function differing(table: JoinSide['table'], plans: JoinKey['left'], rows: readonly number[]): string {
  const each = table.plans
    .filter((plan) => !plans.includes(plan) && plan.reads !== 'date' && plan.meanChars <= maxKeyChars)
    .flatMap((plan) => {
      const values = [...new Set(rows.map((at) => cellText(table.texts(plan)[at]!, maxKeyChars) || 'missing'))];
      return values.length < 2 ? [] : [`${plan.name} ${listed(values, 3)}`];
    });
  return each.length === 0 ? '' : `: ${each.slice(0, 3).join(', ')}`;
}

/** The sums by key, if a table writes one key in several ways: by its column alone, such a key would be two. */
function byWrittenKey(key: JoinKey, a: JoinSide, b: JoinSide): Finding[] {
  if (key.left.length !== 1 || key.left[0]!.reads === 'date') return [];
  return [
    { ...a, plans: key.left, rows: key.leftRows },
    { ...b, plans: key.right, rows: key.rightRows },
  ].flatMap((side): Finding[] => {
    const amount = mainOf(side);
    const texts = side.table.texts(side.plans[0]!);
    const isSplit = [...side.rows.values()].some((rows) => new Set(rows.map((at) => texts[at]!)).size > 1);
    if (amount === undefined || amount.units.size > 1 || !isSplit) return [];
    const numbers = side.table.numbers(amount);
    const sums = [...side.rows].map(([, rows]) => {
      const own = rows.filter((at) => (side.counted?.has(at) ?? true) && !Number.isNaN(numbers[at]!));
      return { name: texts[rows[0]!]!, rows: own.length, sum: clean(own.reduce((total, at) => total + numbers[at]!, 0)) };
    });
    const each = sums
      .toSorted((x, y) => y.sum - x.sum)
      .slice(0, keysShown)
      .map(({ name, rows, sum }) => `${cellText(name, maxKeyChars)} ${exact(sum)} (${countOf(rows, 'row')})`);
    const left = side.counted === undefined ? '' : `, without ${leftOutText(side.leftOut ?? [])}`;
    return [
      {
        kind: 'join_by_key',
        text: `${amount.name} by ${side.plans[0]!.name} of ${side.name}, spellings of one key taken together${left}: ${listed(each, keysShown)}.`,
      },
    ];
  });
}

/** Keys that match only without case, blanks, hyphens or leading zeros. */
function writtenOtherwise(key: JoinKey, a: JoinSide, b: JoinSide): Finding[] {
  if (key.left[0]!.reads === 'date') return [];
  const pairs: string[] = [];
  let count = 0;
  for (const [folded, rows] of key.leftRows) {
    const others = key.rightRows.get(folded);
    if (others === undefined) continue;
    const [mine, ...different] = new Set([
      ...rows.map((at) => a.table.texts(key.left[0]!)[at]!),
      ...others.map((at) => b.table.texts(key.right[0]!)[at]!),
    ]);
    if (different.length === 0) continue;
    count++;
    if (pairs.length < 4) pairs.push(`'${cellText(mine!, maxKeyChars)}' and '${cellText(different[0]!, maxKeyChars)}'`);
  }
  if (count === 0) return [];
  const what = key.zerosIgnored ? 'case, blanks, hyphens and zeros in front' : 'case, blanks and hyphens';
  return [
    {
      kind: 'join_written',
      text: `${countOf(count, 'key')} ${count === 1 ? 'is' : 'are'} written in several ways and taken as the same, ignoring ${what}: ${listed(pairs, 4)}.`,
    },
  ];
}
