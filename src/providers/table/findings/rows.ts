/** Findings on rows: duplicates, repeated keys, gaps in keys. */
import { cellText } from '../cell.ts';
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { failedReadings } from '../failed-readings.ts';
import { exact, listed, rowList } from '../figure-text.ts';
import { isMoney, personalCodes, unitColumns } from '../plan-figures.ts';
import type { Finding, TableProfile } from '../table-profile.ts';
import { isGroup } from './crossed-groups.ts';
import { differencesOf } from './differences.ts';

const shown = 5;
/** Cells of a row that identify it, and those that describe it. */
const shortCells = 4;
const wholeCells = 7;
const foreign = new Set(
  'customer kunde client user member employee product article item artikel order parent sensor device station account category region store shop project ticket session host player team'.split(
    ' ',
  ),
);

/** @param leftOut whether the figures leave out repeated rows */
export function rowFindings(table: ColumnsInMemory, profile: TableProfile, leftOut: boolean): Finding[] {
  return [...wholeRows(table, profile, leftOut), ...keys(table), ...repeatedValues(table), ...numberGaps(table)];
}

/** Pairs of a row and the first row with equal cells; none if the table has no column by which a row could be identified. */
export function duplicateRows(table: ColumnsInMemory): [number, number][] {
  const plans = table.plans.filter(({ type }) => type !== 'empty');
  return isDistinctive(table, plans) ? repeated(table, plans) : [];
}

/** Measurements with few values repeat by chance; a row needs an identifying column. */
function isDistinctive(table: ColumnsInMemory, plans: readonly ColumnPlan[]): boolean {
  if (table.count < 2 || plans.length < 2) return false;
  const ids = plans.filter(({ role }) => role === 'identifier');
  return (
    plans.some(({ values, reads }) => reads === 'date' || values.distinct >= table.count * 0.6) ||
    // Two ids together, such as student and course, identify a row.
    (ids.length >= 2 && repeated(table, ids).length <= table.count * 0.1)
  );
}

/** Rows that are equal in every cell, and rows that differ only in a running number. */
function wholeRows(table: ColumnsInMemory, profile: TableProfile, leftOut: boolean): Finding[] {
  const plans = table.plans.filter(({ type }) => type !== 'empty');
  if (!isDistinctive(table, plans)) return [];
  const repeats = repeated(table, plans);
  if (repeats.length > 0) {
    const each = repeats
      .slice(0, shown)
      .map(([again, first]) => `row ${table.row(again)} repeats row ${table.row(first)} (${shownCells(table, plans, first, wholeCells)})`);
    const more = repeats.length > shown ? ` and ${repeats.length - shown} more` : '';
    return [
      {
        kind: 'duplicate_rows',
        text: `${exact(repeats.length)} ${repeats.length === 1 ? 'row is an exact duplicate' : 'rows are exact duplicates'} of an earlier row: ${each.join('; ')}${more}. ${repeats.length === 1 ? 'It is' : 'They are'} ${leftOut ? 'left out of' : 'counted in'} all figures that do not say otherwise${without(
          table,
          repeats.map(([again]) => again),
        )}.${remaining(
          table,
          repeats.map(([again]) => again),
        )}`,
      },
    ];
  }
  const key = plans.find(({ role, values, filled }) => role === 'identifier' && filled === table.count && values.distinct >= filled - 1);
  const running = plans.filter(({ role }) => role === 'level');
  if ((key === undefined && running.length === 0) || plans.length < 4 || profile.rows < 4) return [];
  const except = [...(key === undefined ? [] : [key]), ...running];
  const rest = plans.filter((plan) => !except.includes(plan));
  const numeric = rest.filter(({ reads }) => reads === 'number').length;
  if (numeric === 0 || (!rest.some(({ reads }) => reads === 'date') && (numeric < 2 || rest.length < 4))) return [];
  // In a table with few kinds of rows equal rows are expected, unless they are adjacent.
  const hasDistinctColumn = rest.some(({ reads, values }) => reads !== 'date' && values.distinct >= table.count * 0.5);
  const alike = repeated(table, rest).filter(([again, first]) => hasDistinctColumn || again === first + 1);
  if (alike.length === 0 || alike.length > table.count * 0.1 + 1) return [];
  return [
    {
      kind: 'near_duplicates',
      text: `Possible double entries: ${alike
        .slice(0, shown)
        .map(([again, first]) => `rows ${table.row(first)} and ${table.row(again)} (${shownCells(table, rest, first)})`)
        .join('; ')} ${alike.length === 1 ? 'are' : 'are each'} equal in everything but ${listed(except.map(({ name }) => name))}.`,
    },
  ];
}

/** The common values of two rows, in short. */
function shownCells(table: ColumnsInMemory, plans: readonly ColumnPlan[], at: number, most = shortCells): string {
  return plans
    .map((plan) => cellText(table.texts(plan)[at]!, 40))
    .filter((text) => text !== '')
    .slice(0, most)
    .join(', ');
}

function without(table: ColumnsInMemory, rows: number[]): string {
  const measures = table.quantities().filter(({ role, units }) => role === 'measure' && units.size < 2);
  // Amounts of money come first.
  const parts = measures
    .toSorted((a, b) => Number(isMoney(b)) - Number(isMoney(a)))
    .slice(0, 2)
    .flatMap((plan) => sumsWithout(table, plan, rows));
  return parts.length === 0 ? '' : `; ${parts.join(', ')}`;
}

/** The number of rows without the duplicates, in all and in their groups. */
function remaining(table: ColumnsInMemory, rows: readonly number[]): string {
  const groups = table.plans.filter((plan) => isGroup(table, plan)).slice(0, 2);
  const parts = groups.flatMap((plan) => {
    const texts = table.texts(plan);
    const count = (name: string, all: Iterable<number>) => [...all].filter((at) => texts[at] === name).length;
    return [...new Set(rows.map((at) => texts[at]!))].slice(0, shown).map((name) => {
      const all = count(name, texts.keys());
      return `${plan.name} ${cellText(name, 40)} ${exact(all - count(name, rows))} instead of ${exact(all)}`;
    });
  });
  return ` Without ${rows.length === 1 ? 'it' : 'them'} ${exact(table.count - rows.length)} rows remain${parts.length === 0 ? '' : ` (${parts.join(', ')})`}.`;
}

/** The sum of a column with and without some rows; one sum for each currency of those rows if currencies are mixed. */
function sumsWithout(table: ColumnsInMemory, plan: ColumnPlan, rows: readonly number[]): string[] {
  // A sum with failed readings has no meaning.
  if (failedReadings(plan, table).length > 0) return [];
  const numbers = table.numbers(plan);
  const units = unitColumns({ columns: table.plans }).get(plan.index);
  const unitOf = (at: number) => (units === undefined ? '' : table.texts(units)[at]!);
  return [...new Set(rows.map(unitOf))].flatMap((unit) => {
    const add = (total: number, at: number) => (unitOf(at) === unit && !Number.isNaN(numbers[at]!) ? total + numbers[at]! : total);
    const sum = [...numbers.keys()].reduce(add, 0);
    const extra = rows.reduce(add, 0);
    if (extra === 0) return [];
    const name = unit === '' ? plan.name : `${plan.name} in ${unit}`;
    return [`${name} adds up to ${exact(clean(sum - extra))} without ${rows.length === 1 ? 'it' : 'them'} (${exact(clean(sum))} with)`];
  });
}

/** Pairs of a row and the first row that it repeats. */
function repeated(table: ColumnsInMemory, plans: readonly ColumnPlan[]): [number, number][] {
  const columns = plans.map((plan) => table.written(plan));
  const first = new Map<string, number>();
  const found: [number, number][] = [];
  for (let at = 0; at < table.count; at++) {
    const key = columns.map((texts) => texts[at]).join('\u0000');
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, at);
    else found.push([at, earlier]);
  }
  return found;
}

/** A column that identifies the rows, except for a few repeated values. */
function keys(table: ColumnsInMemory): Finding[] {
  if (table.count < 4) return [];
  const ids = table.plans.filter(
    ({ role, reads, type, filled, values, name }) =>
      (role === 'identifier' || (table.plans[0]!.name === name && reads === 'text' && type === 'text')) &&
      filled > 0 &&
      values.exact &&
      !has(nameTokens(name), personalCodes),
  );
  // The column closest to a key; others beside it refer to something else.
  const key = ids.toSorted((a, b) => b.values.distinct / b.filled - a.values.distinct / a.filled || a.index - b.index)[0];
  if (key === undefined || key.values.distinct < key.filled * (key.role === 'identifier' ? 0.75 : 0.9) || key.values.distinct < 4)
    return [];
  const findings: Finding[] = [];
  if (key.values.distinct < key.filled && !(has(nameTokens(key.name), foreign) && key.role !== 'identifier')) {
    const rowsOf = new Map<string, number[]>();
    for (const [at, text] of table.written(key).entries()) {
      if (text === '') continue;
      const rows = rowsOf.get(text);
      if (rows === undefined) rowsOf.set(text, [at]);
      else rows.push(at);
    }
    const twice = [...rowsOf].filter(([, rows]) => rows.length > 1);
    findings.push({
      kind: 'duplicate_keys',
      text: `${key.name} is different in nearly every row, but ${listed(
        twice
          .slice(0, shown)
          .map(
            ([value, rows]) =>
              `${cellText(value, 60)} occurs ${rows.length} times (${rowList(rows.map((at) => table.row(at)))}${differencesOf(table, rows)})`,
          ),
      )}${twice.length > shown ? ` and ${twice.length - shown} more values repeat` : ''}.`,
    });
  } else if (key.values.distinct === key.filled && key.role === 'identifier')
    findings.push({ kind: 'key', text: `${key.name} is different in every row, so it identifies the rows; it is not added up.` });
  return findings;
}

/** Addresses, names and similar values that occur twice in a column where nearly all are different. */
function repeatedValues(table: ColumnsInMemory): Finding[] {
  if (table.count < 8) return [];
  return table.plans
    .filter(
      ({ role, reads, type, filled, values, name, meanChars, index }) =>
        reads === 'text' &&
        type === 'text' &&
        role !== 'identifier' &&
        index > 0 &&
        values.exact &&
        meanChars >= 4 &&
        !table.texts(table.plans[index]!).some((text) => /^\d{1,2}:\d{2}/.test(text)) &&
        meanChars <= 60 &&
        filled >= table.count * 0.5 &&
        values.distinct < filled &&
        (values.distinct >= filled * 0.9 || (/mail/i.test(name) && values.distinct >= filled * 0.7)),
    )
    .slice(0, 3)
    .map((plan) => {
      const rowsOf = new Map<string, number[]>();
      for (const [at, text] of table.texts(plan).entries()) {
        const folded = text.toLowerCase();
        if (text !== '') rowsOf.set(folded, [...(rowsOf.get(folded) ?? []), at]);
      }
      const twice = [...rowsOf.values()].filter((rows) => rows.length > 1);
      return {
        kind: 'repeated_values',
        text: `${plan.name} has the same value in several rows: ${listed(twice.slice(0, shown).map((rows) => `${cellText(table.texts(plan)[rows[0]!]!, 60)} (${rowList(rows.map((at) => table.row(at)))})`))}${twice.length > shown ? ` and ${twice.length - shown} more` : ''}.`,
      };
    });
}

/** Gaps in running numbers (1001, 1002, 1004; INV-17, INV-19). */
function numberGaps(table: ColumnsInMemory): Finding[] {
  for (const plan of table.plans) {
    const naming = plan.role === 'identifier' || (plan.index === 0 && plan.reads === 'text' && plan.type === 'text');
    if (!naming || plan.filled < 5 || plan.values.distinct < plan.filled * 0.85) continue;
    const parsed = table
      .texts(plan)
      .filter((text) => text !== '')
      .map(splitNumber);
    if (parsed.some((each) => each === null)) continue;
    const prefix = parsed[0]!.prefix;
    if (parsed.some((each) => each!.prefix !== prefix)) continue;
    const numbers = [...new Set(parsed.map((each) => each!.number))].sort((a, b) => a - b);
    const span = numbers.at(-1)! - numbers[0]! + 1;
    const gaps = span - numbers.length;
    if (gaps === 0 || gaps > numbers.length * 0.2 || gaps > 200) continue;
    const have = new Set(numbers);
    const width = parsed[0]!.digits;
    const missing: string[] = [];
    for (let n = numbers[0]!; n <= numbers.at(-1)!; n++) if (!have.has(n)) missing.push(`${prefix}${String(n).padStart(width, '0')}`);
    return [
      {
        kind: 'number_gaps',
        text: `${plan.name} runs from ${prefix}${String(numbers[0]!).padStart(width, '0')} to ${prefix}${String(numbers.at(-1)!).padStart(width, '0')}, but ${listed(missing, 10)} ${missing.length === 1 ? 'is' : 'are'} missing.`,
      },
    ];
  }
  return [];
}

function splitNumber(text: string): { prefix: string; number: number; digits: number } | null {
  let at = text.length;
  while (at > 0 && text.charCodeAt(at - 1) >= 48 && text.charCodeAt(at - 1) <= 57) at--;
  const digits = text.slice(at);
  if (digits.length === 0 || digits.length > 12 || at > 20) return null;
  return { prefix: text.slice(0, at), number: Number(digits), digits: digits[0] === '0' || at > 0 ? digits.length : 0 };
}
