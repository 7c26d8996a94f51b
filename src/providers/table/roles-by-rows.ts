/** Roles that only the rows show: repeated sizes are not additive, parts of a sum are. */
import type { ColumnPlan } from './column-evidence.ts';
import { has, isPeriodName, nameTokens } from './column-role.ts';
import { ColumnsInMemory } from './columns-in-memory.ts';
import { counterOf } from './counters.ts';
import { rowAmounts } from './row-amounts.ts';
import type { Rows } from './rows.ts';

export const sizeWords = new Set(
  'capacity kapazität seats plätze population einwohner area fläche wohnfläche headcount households haushalte size sqm beds betten slots'.split(
    ' ',
  ),
);
/** The balance after each entry of a ledger. */
const holdings = new Set('bestand kassenbestand guthaben stock remaining rest balance saldo'.split(' '));
const incoming = new Set('einnahme einnahmen eingang zugang zugänge in income received deposit deposits credit haben'.split(' '));
const outgoing = new Set(
  'ausgabe ausgaben ausgang abgang abgänge out expense expenses issued withdrawal withdrawals debit soll'.split(' '),
);
const minRepeats = 3;
/** Names of a reading that say nothing of what was read. */
const readings = new Set('value reading wert messwert measurement measured result val'.split(' '));
const instruments = new Set('sensor probe station thermometer gauge sonde fühler messstelle messstation logger'.split(' '));
const unitNames = new Set('unit units einheit uom'.split(' '));
/** Units of quantities whose sum has no meaning. */
const levelUnits = new Set(
  'c °c celsius f °f fahrenheit k % %rh hpa mbar bar pa kpa mpa psi v mv a ma ppm ppb db dba ph rpm m/s km/h mph lux lx µg/m3 ug/m3 µg/m³ µs/cm ntu °'.split(
    ' ',
  ),
);

/** Tests of persons: their points are marks, whose mean has a meaning. */
const tested = new Set('student students pupil pupils exam subject candidate matrikelnr schüler fach klausur prüfling examinee'.split(' '));
const pointWords = new Set('points punkte'.split(' '));
const mostWords = new Set('max maximum possible full'.split(' '));
/** People and things that are counted again in each period. */
const recountedEachPeriod = new Set(
  'customers subscribers members users employees accounts tenants kunden mitglieder nutzer mitarbeiter abonnenten subscriptions installations'.split(
    ' ',
  ),
);
/** The changes of a stock from one period to the next, as a share of it; larger changes may be those of a flow. */
const maxChangedShare = 0.1;
const minPeriods = 5;
/** Sizes that a thing comes in: few values in many rows are kinds, such as the distances of a race. */
export const kindWords = new Set(
  'distance distanz strecke parcours distancia distanza afstand course size größe groesse taille talla'.split(' '),
);
const mostKinds = 8;
const minRowsOfKind = 4;
const minNumbered = 12;
const minRunning = 0.85;
const monthMs = 27 * 86_400_000;

export function rolesByRows(rows: Rows, columns: readonly ColumnPlan[]): ColumnPlan[] {
  const table = new ColumnsInMemory(rows, columns);
  const groups = columns.filter(
    ({ reads, type, values, filled }) =>
      reads === 'text' && type === 'text' && values.distinct >= 2 && values.distinct * minRepeats <= filled && filled === table.count,
  );
  const parts = partsOfSum(table, columns);
  const ofRows = rowAmounts(table);
  const named = (words: ReadonlySet<string>) => columns.some(({ name, reads }) => reads === 'number' && has(nameTokens(name), words));
  const cashBook = named(incoming) && named(outgoing) && columns.some(({ reads }) => reads === 'date');
  const level = readsLevels(table, columns);
  const single = columns.filter(({ name, reads }) => reads === 'number' && isPeriodName(nameTokens(name))).length === 1;
  const ofTests = columns.some(({ name }) => has(nameTokens(name), tested));
  return columns.map((plan) => {
    // A single column "apr" is no month.
    if (single && plan.role === 'measure' && nameTokens(plan.name).length === 1 && isPeriodName(nameTokens(plan.name)))
      if (!/\d/.test(plan.name)) return { ...plan, role: /^apr$/i.test(plan.name.trim()) ? 'rate' : 'unclear' };
    if (isRunningNumber(table, plan)) return { ...plan, role: 'identifier', reads: 'text' };
    if (plan.reads === 'number' && counterOf(table, plan) !== null) return { ...plan, role: 'counter', reads: 'text' };
    if (isKind(table, plan)) return { ...plan, role: 'code', reads: 'text' };
    if (plan.reads === 'number' && plan.role === 'measure' && isMark(plan, columns, ofTests)) return { ...plan, role: 'rate' };
    if (plan.reads === 'number' && plan.role === 'measure' && isCountedAgain(table, plan, groups)) return { ...plan, role: 'level' };
    if (level && plan.reads === 'number' && plan.role !== 'rate' && has(nameTokens(plan.name), readings)) return { ...plan, role: 'level' };
    if (cashBook && plan.reads === 'number' && has(nameTokens(plan.name), holdings)) return { ...plan, role: 'level' };
    if (parts.has(plan) || ofRows.has(plan)) return { ...plan, role: 'measure' };
    const isSize = plan.reads === 'number' && plan.role === 'measure' && has(nameTokens(plan.name), sizeWords);
    return isSize && groups.some((group) => belongsTo(table, plan, group)) ? { ...plan, role: 'rate' } : plan;
  });
}

/** Counts up with the rows, whatever its name: 5001, 5002, 5002, 5003; a few may be missing, repeated or out of order. */
function isRunningNumber(table: ColumnsInMemory, { index, reads, role, type, unit, values, filled, min }: ColumnPlan): boolean {
  if (reads !== 'number' || role !== 'unclear' || type !== 'integer' || unit !== '' || index > 0 || !(min >= 1)) return false;
  if (filled < minNumbered || filled < table.count || values.distinct < filled * minRunning) return false;
  const numbers = table.numbers(table.plans[index]!);
  let steps = 0;
  for (let at = 1; at < numbers.length; at++) {
    const step = numbers[at]! - numbers[at - 1]!;
    if (step === 0 || step === 1) steps++;
  }
  return steps >= (numbers.length - 1) * minRunning;
}

function isKind(table: ColumnsInMemory, plan: ColumnPlan): boolean {
  const { name, reads, type, values, filled, units } = plan;
  if (reads !== 'number' || (type !== 'integer' && type !== 'number') || units.size > 1 || !has(nameTokens(name), kindWords)) return false;
  if (!values.exact || values.distinct < 2 || values.distinct > mostKinds || filled < values.distinct * minRowsOfKind) return false;
  const counts = new Map<string, number>();
  for (const text of table.texts(plan)) if (text !== '') counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts.values()].every((count) => count > 1);
}

/** Readings of instruments: their units show it, or, without units, the name of a column. */
function readsLevels(table: ColumnsInMemory, columns: readonly ColumnPlan[]): boolean {
  const unit = columns.find(({ name, reads, filled }) => reads === 'text' && filled > 0 && has(nameTokens(name), unitNames));
  if (unit === undefined) return columns.some(({ name, reads }) => reads === 'text' && has(nameTokens(name), instruments));
  return table.texts(unit).every((text) => text === '' || levelUnits.has(text.toLowerCase()));
}

/** Columns with unknown names whose sum is a known column in nearly every row, e.g. the votes of the parties and the valid votes. */
function partsOfSum(table: ColumnsInMemory, columns: readonly ColumnPlan[]): Set<ColumnPlan> {
  const parts = columns.filter(({ reads, role, units }) => reads === 'number' && role === 'unclear' && units.size < 2);
  const wholes = columns.filter(({ reads, role }) => reads === 'number' && role === 'measure');
  if (parts.length < 2 || table.count < minRepeats) return new Set();
  if (isMatrix(columns)) return new Set(parts);
  const [low, high] = [parts[0]!.index, parts.at(-1)!.index];
  // Some of the parts may have known names.
  const ranges = [
    [low, high],
    [low - 1, high],
    [low, high + 1],
    [low - 1, high + 1],
  ] as const;
  const isSum = (whole: ColumnPlan) => {
    const numbers = table.numbers(whole);
    return ranges.some(([from, to]) => {
      const summed = columns.filter(
        (plan) => plan !== whole && plan.index >= from && plan.index <= to && (parts.includes(plan) || wholes.includes(plan)),
      );
      const right = table.rows.cells.filter((_, at) => {
        const sum = summed.reduce((total, plan) => total + (table.numbers(plan)[at] || 0), 0);
        return Math.abs(sum - numbers[at]!) < 0.006;
      }).length;
      return right >= table.count * 0.6;
    });
  };
  return wholes.some(isSum) ? new Set(parts) : new Set();
}

/** Only whole-number columns with unknown names, some of them beyond any scale: one quantity by kinds, e.g. pieces sold of each product. */
export function isMatrix(columns: readonly ColumnPlan[]): boolean {
  const numeric = columns.filter(({ reads }) => reads === 'number');
  return (
    numeric.length >= 3 &&
    numeric.every(({ role, type, min, units }) => role === 'unclear' && type === 'integer' && min >= 0 && units.size === 0) &&
    numeric.some(({ max }) => max > 100)
  );
}

/** Points of tests, and points out of a fixed maximum. */
function isMark({ name, values }: ColumnPlan, columns: readonly ColumnPlan[], ofTests: boolean): boolean {
  const tokens = nameTokens(name);
  if (ofTests && has(tokens, pointWords)) return true;
  if (has(tokens, mostWords)) return values.distinct === 1 && columns.some((plan) => isOutOf(plan, tokens));
  return columns.some((plan) => plan.values.distinct === 1 && isOutOf({ name }, nameTokens(plan.name)));
}

/** "points" is out of "max_points". */
function isOutOf({ name }: { name: string }, most: readonly string[]): boolean {
  const tokens = nameTokens(name);
  const rest = most.filter((token) => !mostWords.has(token));
  return rest.length > 0 && rest.length < most.length && rest.join(' ') === tokens.join(' ');
}

/** The customers at the end of each month: one row per period and group, with small changes between the periods. */
function isCountedAgain(table: ColumnsInMemory, plan: ColumnPlan, groups: readonly ColumnPlan[]): boolean {
  const date = table.plans.find(({ reads, dateDoubt }) => reads === 'date' && !dateDoubt);
  if (date === undefined || !has(nameTokens(plan.name), recountedEachPeriod)) return false;
  const [dates, numbers] = [table.dates(date), table.numbers(plan)];
  return [undefined, ...groups].some((group) => {
    const keys = group === undefined ? null : table.texts(group);
    const series = new Map<string, number[]>();
    for (const at of dates.keys()) {
      const key = keys?.[at] ?? '';
      const rows = series.get(key);
      if (rows === undefined) series.set(key, [at]);
      else rows.push(at);
    }
    return isSteady([...series.values()], dates, numbers);
  });
}

/** Whether every series has a value per month or longer period, and the changes together are small. */
function isSteady(series: readonly number[][], dates: Float64Array, numbers: Float64Array): boolean {
  let [changed, before] = [0, 0];
  for (const rows of series) {
    if (rows.length < minPeriods) return false;
    const ordered = rows.toSorted((a, b) => dates[a]! - dates[b]!);
    for (const [i, at] of ordered.slice(1).entries()) {
      const previous = ordered[i]!;
      if (!(dates[at]! - dates[previous]! >= monthMs)) return false;
      changed += Math.abs(numbers[at]! - numbers[previous]!);
      before += Math.abs(numbers[previous]!);
    }
  }
  return changed <= before * maxChangedShare;
}

/** The capacity of a car park, repeated in each of its rows, is one figure of the car park. */
function belongsTo(table: ColumnsInMemory, plan: ColumnPlan, group: ColumnPlan): boolean {
  const [numbers, texts] = [table.numbers(plan), table.texts(group)];
  const sizes = new Map<string, number>();
  for (const [at, key] of texts.entries()) {
    if (Number.isNaN(numbers[at]!)) continue;
    const known = sizes.get(key);
    if (known === undefined) sizes.set(key, numbers[at]!);
    else if (known !== numbers[at]) return false;
  }
  return true;
}
