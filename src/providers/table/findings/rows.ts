/** Findings on rows: duplicates, repeated keys, gaps in keys. */
import { cellText } from '../cell.ts';
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { exact, listed, rowList } from '../figure-text.ts';
import { personalCodes, unitColumns } from '../plan-figures.ts';
import type { Finding, TableProfile } from '../table-profile.ts';

const shown = 5;
const foreign = new Set(
  'customer kunde client user member employee product article item artikel order parent sensor device station account category region store shop project ticket session host player team'.split(
    ' ',
  ),
);

export function rowFindings(table: ColumnsInMemory, profile: TableProfile): Finding[] {
  return [...wholeRows(table, profile), ...keys(table), ...repeatedValues(table), ...numberGaps(table)];
}

/** Rows that are equal in every cell, and rows that differ only in a running number. */
function wholeRows(table: ColumnsInMemory, profile: TableProfile): Finding[] {
  const plans = table.plans.filter(({ type }) => type !== 'empty');
  if (table.count < 2 || plans.length < 2) return [];
  // Measurements with few values repeat by chance; a row needs an identifying column.
  const ids = plans.filter(({ role }) => role === 'identifier');
  const distinctive =
    plans.some(({ values, reads }) => reads === 'date' || values.distinct >= table.count * 0.6) ||
    // Two ids together, such as student and course, identify a row.
    (ids.length >= 2 && repeated(table, ids).length <= table.count * 0.1);
  if (!distinctive) return [];
  const repeats = repeated(table, plans);
  if (repeats.length > 0) {
    const each = repeats
      .slice(0, shown)
      .map(([again, first]) => `row ${table.row(again)} repeats row ${table.row(first)}${nameOf(table, first)}`);
    const more = repeats.length > shown ? ` and ${repeats.length - shown} more` : '';
    return [
      {
        kind: 'duplicate_rows',
        text: `${exact(repeats.length)} ${repeats.length === 1 ? 'row is an exact duplicate' : 'rows are exact duplicates'} of an earlier row: ${each.join('; ')}${more}. ${repeats.length === 1 ? 'It is' : 'They are'} counted in all figures${without(
          table,
          repeats.map(([again]) => again),
        )}.`,
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
  const telling = rest.some(({ reads, values }) => reads !== 'date' && values.distinct >= table.count * 0.5);
  const alike = repeated(table, rest).filter(([again, first]) => telling || again === first + 1);
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
function shownCells(table: ColumnsInMemory, plans: readonly ColumnPlan[], at: number): string {
  return plans
    .map((plan) => cellText(table.texts(plan)[at]!, 40))
    .filter((text) => text !== '')
    .slice(0, 4)
    .join(', ');
}

function without(table: ColumnsInMemory, rows: number[]): string {
  const mixed = unitColumns({ columns: table.plans });
  const parts = table
    .quantities()
    .filter(({ role, units, index }) => role === 'measure' && units.size < 2 && !mixed.has(index))
    .slice(0, 2)
    .flatMap((plan) => {
      const numbers = table.numbers(plan);
      const sum = numbers.reduce((total, value) => total + (Number.isNaN(value) ? 0 : value), 0);
      const extra = rows.reduce((total, at) => total + (Number.isNaN(numbers[at]!) ? 0 : numbers[at]!), 0);
      return extra === 0
        ? []
        : [`${plan.name} adds up to ${exact(clean(sum - extra))} without ${rows.length === 1 ? 'it' : 'them'} (${exact(clean(sum))} with)`];
    });
  return parts.length === 0 ? '' : `; ${parts.join(', ')}`;
}

/** Pairs of a row and the first row that it repeats. */
function repeated(table: ColumnsInMemory, plans: readonly ColumnPlan[]): [number, number][] {
  const columns = plans.map((plan) => table.texts(plan));
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
    for (const [at, text] of table.texts(key).entries()) {
      if (text === '') continue;
      const rows = rowsOf.get(text);
      if (rows === undefined) rowsOf.set(text, [table.row(at)]);
      else rows.push(table.row(at));
    }
    const twice = [...rowsOf].filter(([, rows]) => rows.length > 1);
    findings.push({
      kind: 'duplicate_keys',
      text: `${key.name} is different in nearly every row, but ${listed(
        twice.slice(0, shown).map(([value, rows]) => `${cellText(value, 60)} occurs ${rows.length} times (${rowList(rows)})`),
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

function nameOf(table: ColumnsInMemory, at: number): string {
  const label = table.label(at);
  return label === '' ? '' : ` (${label})`;
}
