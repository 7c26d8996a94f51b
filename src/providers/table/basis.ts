/**
 * The rows that figures rest on: without exact repetitions of a row, without rows whose status says that they do not count (cancelled,
 * refunded, returned, test), and without values off the scale of their column or written for a failed reading.
 */
import { type Period, periodText, rowsOutside } from './asked-period.ts';
import type { Cell } from './cell.ts';
import type { ColumnPlan } from './column-evidence.ts';
import { has, nameTokens } from './column-role.ts';
import { ColumnsInMemory } from './columns-in-memory.ts';
import { failedReadings } from './failed-readings.ts';
import type { Bounds } from './findings/missing.ts';
import { duplicateRows } from './findings/rows.ts';
import { loneSpikes } from './lone-spikes.ts';
import { isMoney, isQuantity } from './plan-figures.ts';
import { productPlans } from './product-plans.ts';
import type { TableInMemory } from './profile.ts';
import type { Rows } from './rows.ts';
import { impossibleValues, type Scale } from './scales.ts';
import { keepSpellings } from './spellings.ts';
import type { Survey } from './survey.ts';
import type { LeftOut } from './table-profile.ts';
import { testRows } from './test-rows.ts';
import { wordSet } from './word-set.ts';

export type Basis = {
  /** Without anything that is left out. */
  counted: TableInMemory;
  /** Without repeated rows only: for figures by the status itself. */
  distinct: TableInMemory;
  leftOut: LeftOut[];
  /** The column that says which rows do not count. */
  status: string | null;
};

const statusWords = wordSet('status statut statuscode state zustand etat état estado stato stav toestand');
/** Statuses in the words of several languages; each is compared with the whole cell. */
const voidWords = wordSet(
  'cancelled canceled cancel cancelado cancelada anulado anulada annulé annulée annullato annullata annulliert storniert storno gestorniert geannuleerd void voided refunded refund erstattet rückerstattet remboursé remboursée reembolsado reembolsada devuelto devuelta rimborsato rimborsata terugbetaald test testing duplicate duplikat',
);
/** A returned loan is a good one: these count only beside a status of a sale. */
const returnWords = wordSet('returned return retourniert retoure retour retourné retournée reso');
const saleWords = wordSet(
  'paid shipped delivered completed complete sold fulfilled invoiced bezahlt versendet versandt geliefert verkauft payé payée livré livrée vendu expédié pagado pagada entregado entregada enviado vendido pagato consegnato spedito betaald verzonden geleverd',
);
const cancelStems = ['cancel', 'storn', 'annul', 'abgesagt'];
const mostStatusWords = 3;
const mostStatuses = 15;
const maxVoidShare = 0.5;
const minCounted = 3;
const maxRepeatedShare = 0.2;
/** With more rows outside, a period is a part of the table that the task asks about, and not all figures are of it. */
const maxOutsideShare = 0.2;
const minOfGrid = 20;
/** Rows for each combination of the values of the key columns. */
const minGridShare = 0.5;

/**
 * Null if all rows and values count. `survey` surveys some of the rows again.
 *
 * @param ofRepeated positions of entries whose record is left out as a duplicate; null for a table that is no list of a record
 */
export function basisOf(
  memory: TableInMemory,
  ofRepeated: readonly number[] | null,
  { scales = [], period }: Pick<Bounds, 'scales' | 'period'>,
  survey: (rows: Rows) => Survey,
): Basis | null {
  const table = new ColumnsInMemory(memory.rows, memory.survey.columns);
  const repeated = ofRepeated ?? repeatedRows(table);
  const isRepeated = new Set(repeated);
  const status = voidRows(table, isRepeated);
  const values = impossible(table, scales);
  const tests = testRows(table).filter((at) => !isRepeated.has(at));
  const void_ = new Set([...repeated, ...(status?.rows ?? []), ...tests]);
  const outside = period === undefined ? null : fewOutside(table, period, void_);
  const out = new Set([...void_, ...(outside?.rows ?? [])]);
  if ((out.size === 0 && values.length === 0) || table.count - out.size < minCounted) return null;
  const rowNumbers = (rows: readonly number[]) => rows.map((at) => table.row(at));
  const without = (left: ReadonlySet<number>, off: typeof values) =>
    left.size + off.length === 0 ? memory : withRows(memory, left, off, survey);
  const counted = without(out, values);
  return {
    counted,
    distinct: status === null && values.length === 0 ? counted : without(new Set([...repeated, ...tests, ...(outside?.rows ?? [])]), []),
    status: status?.column ?? null,
    leftOut: [
      ...(repeated.length === 0
        ? []
        : [
            {
              kind: 'duplicates' as const,
              what:
                ofRepeated === null
                  ? `exact ${repeated.length === 1 ? 'duplicate' : 'duplicates'}`
                  : `${repeated.length === 1 ? 'entry' : 'entries'} of exact duplicates of records`,
              count: repeated.length,
              rows: rowNumbers(repeated),
            },
          ]),
      ...(status?.each ?? []).map(({ value, rows }) => ({
        kind: 'status' as const,
        what: `${rows.length === 1 ? 'row' : 'rows'} with ${status!.column} ${value}`,
        count: rows.length,
        rows: rowNumbers(rows),
      })),
      ...(tests.length === 0
        ? []
        : [
            {
              kind: 'tests' as const,
              what: `${tests.length === 1 ? 'row that its own text calls a test' : 'rows that their own text calls a test'}`,
              count: tests.length,
              rows: rowNumbers(tests),
            },
          ]),
      ...(outside === null
        ? []
        : [
            {
              kind: 'period' as const,
              what: `${outside.rows.length === 1 ? 'row' : 'rows'} with ${outside.plan.name} outside of ${periodText(period!)}`,
              count: outside.rows.length,
              rows: rowNumbers(outside.rows),
            },
          ]),
      ...values.map(({ plan, what, rows }) => ({
        kind: 'values' as const,
        what: `${rows.length === 1 ? 'value' : 'values'} of ${plan.name} ${what}`,
        count: rows.length,
        rows: rowNumbers(rows),
      })),
    ],
  };
}

/** Equal sales may be two sales. If all other rows have different keys or days, or a quantity is of a time of day, equal rows are one row written twice. */
function repeatedRows(table: ColumnsInMemory): number[] {
  const repeated = duplicateRows(table).map(([again]) => again);
  const left = table.count - repeated.length;
  if (repeated.length > table.count * maxRepeatedShare) return [];
  const isKeyed = table.plans.some(
    ({ reads, timed, values, filled, role }) =>
      (reads === 'date' && timed && table.quantities().length > 0) ||
      ((reads === 'text' || reads === 'date' || role === 'identifier') &&
        values.exact &&
        filled === table.count &&
        values.distinct === left),
  );
  return isKeyed || isGrid(table, left) ? repeated : [];
}

/** A row for nearly each date, shop and product: a second one of the same names is no second sale. */
function isGrid(table: ColumnsInMemory, left: number): boolean {
  const keys = table.plans.filter(({ reads, type }) => (reads === 'date' || reads === 'text') && type !== 'empty');
  if (left < minOfGrid || keys.length < 2 || !keys.some(({ reads }) => reads === 'date')) return false;
  if (keys.some(({ filled, values }) => filled < table.count || !values.exact)) return false;
  const columns = keys.map((plan) => (plan.reads === 'date' ? [...table.dates(plan)].map(String) : table.texts(plan)));
  const combined = new Set(columns[0]!.map((_, at) => columns.map((texts) => texts[at]!).join('\u0000')));
  const possible = columns.reduce((product, texts) => product * new Set(texts).size, 1);
  return combined.size === left && left >= possible * minGridShare;
}

function fewOutside(table: ColumnsInMemory, period: Period, left: ReadonlySet<number>): ReturnType<typeof rowsOutside> {
  const found = rowsOutside(table, period);
  const rows = found?.rows.filter((at) => !left.has(at)) ?? [];
  return found === null || rows.length === 0 || rows.length > (table.count - left.size) * maxOutsideShare ? null : { ...found, rows };
}

/** Rows that do not count by their status, if the table has amounts and other rows do count. */
function voidRows(table: ColumnsInMemory, repeated: ReadonlySet<number>) {
  const { product } = productPlans(table.plans, ({ units }) => units.size > 1);
  const amounts = table
    .quantities()
    .filter((each) => (each.role === 'measure' || each.role === 'unclear') && (isMoney(each) || isQuantity(each.name)));
  if (product === null && amounts.length === 0) return null;
  const plan = table.plans.find(
    ({ name, reads, values, filled }) =>
      reads === 'text' &&
      values.exact &&
      values.distinct <= mostStatuses &&
      filled >= table.count / 2 &&
      has(nameTokens(name), statusWords),
  );
  if (plan === undefined) return null;
  const texts = table.texts(plan);
  const isSale = texts.some((text) => saleWords.has(text.toLowerCase()));
  const isVoid = (text: string) =>
    isCancelled(text) || voidWords.has(text.toLowerCase()) || (isSale && returnWords.has(text.toLowerCase()));
  const rows = [...texts.keys()].filter((at) => !repeated.has(at) && isVoid(texts[at]!));
  // Negative amounts undo other rows, so they count.
  const undoes = amounts.some((amount) => rows.some((at) => table.numbers(amount)[at]! < 0));
  if (rows.length === 0 || undoes || rows.length > (table.count - repeated.size) * maxVoidShare) return null;
  const each = [...new Set(rows.map((at) => texts[at]!))].map((value) => ({ value, rows: rows.filter((at) => texts[at] === value) }));
  return { column: plan.name, rows, each };
}

/** "Late cancellation", "cancelled by us"; not "cancellation fee paid". */
export function isCancelled(text: string): boolean {
  const tokens = nameTokens(text);
  return tokens.length <= mostStatusWords && (isCancelWord(tokens[0]) || isCancelWord(tokens.at(-1)));
}

function isCancelWord(token: string | undefined): boolean {
  return token !== undefined && cancelStems.some((stem) => token.startsWith(stem));
}

type ImpossibleValues = { plan: ColumnPlan; what: string; rows: number[] };

function impossible(table: ColumnsInMemory, scales: readonly Scale[]): ImpossibleValues[] {
  return table.quantities().flatMap((plan) => {
    const failed = failedReadings(plan, table);
    const off = impossibleValues(plan, table, scales);
    const rest = off === null ? [] : off.rows.filter((at) => !failed.includes(at));
    const spikes = loneSpikes(plan, table).filter((at) => !failed.includes(at) && !rest.includes(at));
    return [
      ...(failed.length === 0 ? [] : [{ plan, what: 'that devices write for a failed reading', rows: failed }]),
      ...(off === null || rest.length === 0 ? [] : [{ plan, what: off.what, rows: rest }]),
      ...(spikes.length === 0 ? [] : [{ plan, what: 'many times larger than all others of the series', rows: spikes }]),
    ];
  });
}

/** The remaining rows, read as in the whole table; counts of values are those of the remaining rows. */
function withRows(
  { rows, survey, aside, totals }: TableInMemory,
  left: ReadonlySet<number>,
  off: readonly ImpossibleValues[],
  surveyAgain: (rows: Rows) => Survey,
): TableInMemory {
  const cells: (readonly Cell[])[] = [...rows.cells];
  for (const { plan, rows: at } of off) for (const row of at) cells[row] = cells[row]!.with(plan.index, null);
  const kept = [...cells.keys()].filter((at) => !left.has(at));
  const remaining: Rows = { cells: kept.map((at) => cells[at]!), numbers: kept.map((at) => rows.numbers[at]!) };
  const again = surveyAgain(remaining);
  const columns = again.columns.map((plan, i): ColumnPlan => {
    const { type, role, reads, style, unit, readDate, dateDoubt, timed, inUtc } = survey.columns[i]!;
    keepSpellings(survey.columns[i]!, plan);
    return plan.type === 'empty' ? plan : { ...plan, type, role, reads, style, unit, readDate, dateDoubt, timed, inUtc };
  });
  return { rows: remaining, survey: { ...again, columns }, aside, totals };
}
