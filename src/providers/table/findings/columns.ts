/** Findings on single columns: constant, empty, mixed, misspelt, left out, out of range. */
import { cellText, isFormula } from '../cell.ts';
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { dateText, parseDate } from '../date-format.ts';
import { countOf, exact, listed } from '../figure-text.ts';
import { shownKey } from '../frequent-values.ts';
import { isOneApart } from '../same-value.ts';
import { oddValues, type Scale } from '../scales.ts';
import { foldsSpellings, valuesOf } from '../spellings.ts';
import type { Finding, TableProfile } from '../table-profile.ts';
import { isGroup } from './crossed-groups.ts';
import { farYears } from './pauses.ts';

const shown = 6;
const minOfForm = 3;
const maxCodesCounted = 12;
/** Values of programs for an unknown date. */
const placeholders = /^(?:1970-01-01|1900-01-0[01]|9999-12-31|2099-12-31|01\.01\.1970|01\.01\.1900|31\.12\.9999)/;
const neverNegative = new Set(
  'qty quantity units count price preis age alter stock bestand menge anzahl hours stunden weight gewicht duration dauer distance'.split(
    ' ',
  ),
);
const dateForms: Record<string, string> = {
  'NN/NN/YYYY': 'NN/NN/YYYY (day or month first)',
  'NN-NN-YYYY': 'NN-NN-YYYY (day or month first)',
};

/** @param own columns that belong to the rows themselves, not to a surrounding record */
export function columnFindings(
  table: ColumnsInMemory,
  profile: TableProfile,
  own: ReadonlySet<ColumnPlan>,
  scales: readonly Scale[],
): Finding[] {
  return table.plans
    .filter((plan) => own.has(plan))
    .flatMap((plan) => [
      ...constant(plan, table),
      ...leftOut(plan),
      ...mixedUnits(plan, profile),
      ...mixedDates(table, plan),
      ...mixedZones(plan),
      ...impossibleDates(plan, table),
      ...mixedStyles(plan),
      ...spellings(plan, table),
      ...codesKept(plan, table),
      ...formulas(plan, table),
      ...signs(plan, table),
      ...scale(plan, table, scales),
      ...addresses(plan, table),
    ]);
}

function constant({ name, type, filled, values }: ColumnPlan, table: ColumnsInMemory): Finding[] {
  if (type === 'empty')
    return table.count === 0 ? [] : [{ kind: 'empty_column', text: `${name} is an empty column: no row has a value in it.` }];
  if (values.distinct !== 1 || table.count < 3 || filled < table.count * 0.5) return [];
  const value = shownKey(values.top(1)[0]!.key);
  const where = filled === table.count ? 'in every row' : `in all ${exact(filled)} rows that have one`;
  return [{ kind: 'constant_column', text: `${name} is constant: ${value} ${where}.` }];
}

/** Cells left out of a column's figures, counted and named. */
function leftOut({ name, reads, leftOut: left, leftOutCells: count, filled, unlike }: ColumnPlan): Finding[] {
  if (left.length === 0) return [];
  const named = left.slice(0, shown).map((each) => `'${each.value}' ×${each.count}`);
  const what = reads === 'date' ? 'dates' : 'numbers';
  // Placeholders such as "-" are not among the filled cells.
  const written = filled + Math.max(0, count - unlike);
  return [
    {
      kind: 'left_out',
      text: `${exact(count)} of ${exact(Math.max(written, count))} values in ${name} are not ${what}: ${named.join(', ')}${left.length > shown ? ' and more' : ''} — left out of its figures.`,
    },
  ];
}

function mixedUnits(plan: ColumnPlan, profile: TableProfile): Finding[] {
  const found = profile.columns.find(({ name, by_unit }) => name === plan.name && by_unit !== undefined)?.by_unit;
  if (found === undefined) return [];
  const additive = plan.role === 'measure';
  const each = found.map(({ unit, count, sum, min, max }) => {
    const called = unit === '' ? 'without a unit' : unit;
    const range = `${exact(min)} to ${exact(max)}`;
    return additive
      ? `${called} ${exact(sum)} (${countOf(count, 'row')})`
      : `${called} ${range} (${countOf(count, 'row')}, mean ${exact(clean(sum / count))})`;
  });
  return [
    {
      kind: 'mixed_units',
      text: `${plan.name} mixes units or currencies, so its values are not added together: ${each.join('; ')}.`,
    },
  ];
}

function mixedDates(table: ColumnsInMemory, plan: ColumnPlan): Finding[] {
  const { name, reads, dateForms: forms } = plan;
  if (reads !== 'date' || forms.size < 2) return [];
  const ranked = [...forms].sort((a, b) => b[1] - a[1]);
  return [
    {
      kind: 'mixed_dates',
      text: `${name} mixes ${forms.size} date formats: ${ranked.map(([form, count]) => `${dateForms[form] ?? form} ×${count}`).join(', ')}.${formOfGroup(table, plan, ranked.at(-1)!)}`,
    },
  ];
}

/** The one group that has the rarer form: the export of one branch was changed. */
function formOfGroup(table: ColumnsInMemory, plan: ColumnPlan, [form, count]: readonly [string, number]): string {
  const rows = table.rows.cells.flatMap((cells, at) => (parseDate(cells[plan.index] ?? null, 'day_first')?.form === form ? [at] : []));
  const groups = table.plans.filter((each) => isGroup(table, each));
  if (rows.length !== count || count < minOfForm) return '';
  const of = groups.find((group) => new Set(rows.map((at) => table.texts(group)[at]!)).size === 1);
  if (of === undefined) return '';
  return ` All ${exact(count)} with ${dateForms[form] ?? form} are of ${of.name} ${table.texts(of)[rows[0]!]}, the first in row ${table.row(rows[0]!)} (${table.texts(plan)[rows[0]!]}).`;
}

function mixedZones({ name, reads, offsets }: ColumnPlan): Finding[] {
  if (reads !== 'date' || offsets.size < 2) return [];
  const ranked = [...offsets].sort((a, b) => b[1] - a[1]);
  const named = ranked.map(([offset, count]) => `${offset === '' ? 'without a zone' : offsetText(offset)} ×${count}`);
  const bare = offsets.has('') ? '; times without a zone are taken as UTC, which the file does not say' : '';
  return [
    { kind: 'mixed_zones', text: `${name} mixes time zones: ${named.join(', ')}. All its times are turned to UTC for the figures${bare}.` },
  ];
}

function offsetText(minutes: number): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return minutes === 0 ? 'UTC' : `${minutes < 0 ? '-' : '+'}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
}

/** 2024-02-30, or a year far from all others. */
function impossibleDates(plan: ColumnPlan, table: ColumnsInMemory): Finding[] {
  if (plan.reads !== 'date' || table.count < 5) return [];
  const dates = table.dates(plan);
  const holders = table.texts(plan).filter((text) => placeholders.test(text)).length;
  if (holders > 0 && holders < plan.filled * 0.5)
    return [
      {
        kind: 'far_date',
        text: `${plan.name} has ${countOf(holders, 'date')} that ${holders === 1 ? 'is' : 'are'} probably a placeholder (${listed([...new Set(table.texts(plan).filter((text) => placeholders.test(text)))], 3)}).`,
      },
    ];
  const far = farYears(plan, dates);
  if (far.length === 0) return [];
  const named = far.slice(0, shown).map((at) => `${table.texts(plan)[at]} in ${table.rowInWords(at)}`);
  const rest = dates.filter((ms, at) => !Number.isNaN(ms) && !far.includes(at)).sort();
  return [
    {
      kind: 'far_date',
      text: `${plan.name} has ${far.length === 1 ? 'a date' : 'dates'} far from all others: ${named.join(', ')}; probably a mistake or a placeholder. The others go from ${dateText(rest[0]!, false)} to ${dateText(rest.at(-1)!, false)}.`,
    },
  ];
}

function mixedStyles({ name, reads, style, styles }: ColumnPlan): Finding[] {
  const [few, called] = style === 'dot' ? [styles.comma, 'comma'] : [styles.dot, 'point'];
  if (reads !== 'number' || few === 0 || styles.dot === 0 || styles.comma === 0) return [];
  return [
    {
      kind: 'mixed_styles',
      text: `${name} mixes decimal points and decimal commas: ${countOf(few, 'value')} with a decimal ${called} can be read in one way only and ${few === 1 ? 'is' : 'are'} read so.`,
    },
  ];
}

/** North, north and "NORTH " are most likely the same; Nroth may be. */
function spellings(plan: ColumnPlan, table: ColumnsInMemory): Finding[] {
  if (plan.reads !== 'text' || plan.type !== 'text' || !plan.values.exact || plan.values.distinct > 400 || plan.meanChars > 40) return [];
  if (plan.role === 'identifier' && plan.values.distinct > plan.filled * 0.5) return [];
  const findings: Finding[] = [];
  const padded = table.rows.cells.filter(
    (cells) => typeof cells[plan.index] === 'string' && (cells[plan.index] as string) !== (cells[plan.index] as string).trim(),
  ).length;
  const isFolded = foldsSpellings(plan);
  const families = isFolded
    ? valuesOf(plan).map(({ spellings: own }) => own)
    : [...Map.groupBy(plan.values.top(400), ({ key }) => fold(key)).values()];
  const variants = families.filter((family) => family.length > 1);
  if (variants.length > 0) {
    const each = variants.slice(0, shown).map((family) => {
      const count = family.reduce((sum, { count: own }) => sum + own, 0);
      return `${family.map(({ key, count: own }) => `'${key}' ×${own}`).join(', ')} (${countOf(count, 'row')} together${sumsOf(plan, table, new Set(family.map(({ key }) => key)))})`;
    });
    findings.push({
      kind: 'spelling',
      text: `${plan.name} writes the same value in several ways: ${each.join('; ')}${variants.length > shown ? ' and more' : ''}.${isFolded ? ` The figures by ${plan.name} take these spellings together; then there are ${families.length} different values.` : ''}`,
    });
  }
  const close = misspelt(families.map((family) => family.toSorted((a, b) => b.count - a.count)[0]!));
  if (close.length > 0 && plan.values.distinct <= plan.filled * 0.6)
    findings.push({
      kind: 'misspelt',
      text: `${plan.name} may hold misspellings: ${close
        .slice(0, shown)
        .map(([rare, common]) => `'${rare.key}' ×${rare.count} is close to '${common.key}' ×${common.count}`)
        .join('; ')}.`,
    });
  if (padded > 0)
    findings.push({
      kind: 'blanks',
      text: `${plan.name} has ${countOf(padded, 'cell')} with blanks before or after the value; they are ignored.`,
    });
  return findings;
}

/** Sums of the first measure over the rows of some values. */
function sumsOf(plan: ColumnPlan, table: ColumnsInMemory, values: ReadonlySet<string>): string {
  const measure = table.quantities().find(({ role, units }) => role === 'measure' && units.size < 2);
  if (measure === undefined) return '';
  const numbers = table.numbers(measure);
  const sum = table
    .written(plan)
    .reduce((total, text, at) => (values.has(text) && !Number.isNaN(numbers[at]!) ? total + numbers[at]! : total), 0);
  return `, ${measure.name} ${exact(clean(sum))}`;
}

function misspelt(values: { key: string; count: number }[]): [{ key: string; count: number }, { key: string; count: number }][] {
  if (values.length > 120) return [];
  const found: ReturnType<typeof misspelt> = [];
  for (const rare of values) {
    if (rare.key.length < 4 || rare.key.length > 30 || /\d/.test(rare.key)) continue;
    const [own, short] = [fold(rare.key), rare.key.length < 5];
    const common = values.find(
      (each) =>
        each.count >= Math.max(3, rare.count * (short ? 3 : 4)) &&
        !/\d/.test(each.key) &&
        // Short words that differ in a letter are different words; two swapped letters are a slip.
        (short ? swapped(own, fold(each.key)) : isOneApart(own, fold(each.key))),
    );
    if (common !== undefined) found.push([rare, common]);
  }
  return found;
}

function swapped(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  const at = [...a].findIndex((letter, i) => letter !== b[i]);
  return at >= 0 && a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}

function fold(text: string): string {
  return text
    .toLowerCase()
    .replace(/[\s._-]+/g, ' ')
    .trim();
}

function codesKept({ name, codes, type, filled }: ColumnPlan, table: ColumnsInMemory): Finding[] {
  if (!codes || type !== 'text') return [];
  const texts = table.texts(table.plans.find((plan) => plan.name === name)!);
  const zeros = texts.filter((text) => text[0] === '0' && text.length > 1).length;
  const counts = [...Map.groupBy(texts, (text) => text)].filter(([text]) => text !== '').toSorted((a, b) => b[1].length - a[1].length);
  const each =
    counts.length > 1 && counts.length <= maxCodesCounted && counts.length * 2 <= filled
      ? ` All rows by ${name}: ${counts.map(([text, rows]) => `${cellText(text, 40)} ${exact(rows.length)}`).join(', ')}.`
      : '';
  if (zeros === 0 || zeros < filled * 0.02) return [];
  return [
    {
      kind: 'codes',
      text: `${name} holds codes, not quantities (${countOf(zeros, 'value')} with a leading zero); they are kept as text and never added up.${each}`,
    },
  ];
}

function formulas(plan: ColumnPlan, table: ColumnsInMemory): Finding[] {
  if (plan.formulas === 0) return [];
  const found = [...table.rows.cells.keys()].filter((at) => isFormula(table.rows.cells[at]![plan.index] ?? null));
  const named = found.slice(0, 3).map((at) => `row ${table.row(at)}: ${String(table.rows.cells[at]![plan.index]).trim().slice(0, 60)}`);
  const risky = found.some((at) =>
    /cmd|dde|hyperlink|webservice|import|powershell|\|/i.test(String(table.rows.cells[at]![plan.index]).slice(0, 200)),
  );
  const warning = risky ? ' A formula like this can run or call out when the file is opened in a spreadsheet (formula injection).' : '';
  return [
    {
      kind: 'formulas',
      text: `${plan.name} holds ${countOf(plan.formulas, 'formula')} as text (${named.join('; ')}); formulas are not computed and are left out of sums.${warning}`,
    },
  ];
}

/** Negative values among positive ones, and zeros where a value is expected. */
function signs(plan: ColumnPlan, table: ColumnsInMemory): Finding[] {
  if (plan.reads !== 'number' || plan.role === 'level') return [];
  const numbers = table.numbers(plan);
  const negative: number[] = [];
  let positive = 0;
  let known = 0;
  let sum = 0;
  for (const [at, value] of numbers.entries()) {
    if (!Number.isNaN(value)) known++;
    if (value < 0) {
      negative.push(at);
      sum += value;
    } else if (value > 0) positive++;
  }
  const strict = has(nameTokens(plan.name), neverNegative);
  if (plan.role !== 'measure' && !strict && positive >= 3 && negative.length > (positive + negative.length) * 0.2)
    return [
      {
        kind: 'negative',
        text: `${plan.name} is negative in ${countOf(negative.length, 'row')} of ${exact(known)} and positive in ${exact(positive)}.`,
      },
    ];
  if (negative.length === 0 || (negative.length > (positive + negative.length) * 0.2 && !strict) || positive < 3) return [];
  const named = negative.slice(0, shown).map((at) => `${exact(numbers[at]!)} in ${table.rowInWords(at)}`);
  const total = plan.role === 'measure' && plan.units.size < 2 && negative.length > 1 ? `, together ${exact(clean(sum))}` : '';
  return [
    {
      kind: 'negative',
      text: `${plan.name} is negative in ${countOf(negative.length, 'row')} of ${exact(known)}: ${listed(named, shown)}${total}.`,
    },
  ];
}

/** Values outside the scale of nearly all others; impossible ages; shares beyond 100 %. */
function scale(plan: ColumnPlan, table: ColumnsInMemory, scales: readonly Scale[]): Finding[] {
  const odd = oddValues(plan, table, scales);
  if (odd === null) return [];
  const numbers = table.numbers(plan);
  const { rows, what } = odd;
  return [
    {
      kind: 'out_of_range',
      text: `${plan.name} has ${countOf(rows.length, 'value')} ${what}: ${listed(rows.slice(0, shown).map((at) => `${exact(numbers[at]!)} in ${table.rowName(at)}`))}${rows.length > shown ? ' and more' : ''}.`,
    },
  ];
}

/** Invalid mail addresses. */
function addresses(plan: ColumnPlan, table: ColumnsInMemory): Finding[] {
  if (plan.reads !== 'text' || !/mail/i.test(plan.name)) return [];
  const texts = table.texts(plan);
  const wrong = [...texts.keys()].filter((at) => texts[at] !== '' && !isAddress(texts[at]!));
  if (wrong.length === 0 || wrong.length > plan.filled * 0.5) return [];
  return [
    {
      kind: 'addresses',
      text: `${plan.name} has ${countOf(wrong.length, 'value')} that ${wrong.length === 1 ? 'is' : 'are'} no mail address: ${listed(wrong.slice(0, shown).map((at) => `'${texts[at]!.slice(0, 40)}' in row ${table.row(at)}`))}.`,
    },
  ];
}

function isAddress(text: string): boolean {
  const at = text.indexOf('@');
  return at > 0 && at === text.lastIndexOf('@') && text.indexOf('.', at + 2) > 0 && !text.includes(' ') && !text.endsWith('.');
}
