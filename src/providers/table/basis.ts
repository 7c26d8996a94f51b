/**
 * The rows that figures rest on: without exact repetitions of a row, without rows whose status says that they do not count (cancelled,
 * refunded, returned, test), and without values off the scale of their column or written for a failed reading.
 */
import type { Cell } from './cell.ts';
import type { ColumnPlan } from './column-evidence.ts';
import { has, nameTokens } from './column-role.ts';
import { ColumnsInMemory } from './columns-in-memory.ts';
import { failedReadings } from './failed-readings.ts';
import { duplicateRows } from './findings/rows.ts';
import { isMoney, isQuantity } from './plan-figures.ts';
import { productPlans } from './product-plans.ts';
import type { TableInMemory } from './profile.ts';
import type { Rows } from './rows.ts';
import { impossibleValues, type Scale } from './scales.ts';
import type { Survey } from './survey.ts';
import type { LeftOut } from './table-profile.ts';
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

const statusWords = wordSet('status statuscode state zustand etat état estado stato stav toestand');
/** Statuses in the words of several languages; each is compared with the whole cell. */
const voidWords = wordSet(
  'cancelled canceled cancel cancelado cancelada anulado anulada annulé annulée annullato annullata annulliert storniert storno gestorniert geannuleerd void voided refunded refund erstattet rückerstattet remboursé remboursée reembolsado reembolsada devuelto devuelta rimborsato rimborsata terugbetaald test testing duplicate duplikat',
);
/** A returned loan is a good one: these count only beside a status of a sale. */
const returnWords = wordSet('returned return retourniert retoure retour retourné retournée reso');
const saleWords = wordSet(
  'paid shipped delivered completed complete sold fulfilled invoiced bezahlt versendet versandt geliefert verkauft payé payée livré livrée vendu expédié pagado pagada entregado entregada enviado vendido pagato consegnato spedito betaald verzonden geleverd',
);
const mostStatuses = 15;
const maxVoidShare = 0.5;
const minCounted = 3;
const maxRepeatedShare = 0.2;

/**
 * Null if all rows and values count. `survey` surveys some of the rows again.
 *
 * @param ofRepeated positions of entries whose record is left out as a duplicate; null for a table that is no list of a record
 */
export function basisOf(
  memory: TableInMemory,
  ofRepeated: readonly number[] | null,
  scales: readonly Scale[],
  survey: (rows: Rows) => Survey,
): Basis | null {
  const table = new ColumnsInMemory(memory.rows, memory.survey.columns);
  const repeated = ofRepeated ?? repeatedRows(table);
  const isRepeated = new Set(repeated);
  const status = voidRows(table, isRepeated);
  const values = impossible(table, scales);
  const out = new Set([...repeated, ...(status?.rows ?? [])]);
  if ((out.size === 0 && values.length === 0) || table.count - out.size < minCounted) return null;
  const rowNumbers = (rows: readonly number[]) => rows.map((at) => table.row(at));
  const without = (left: ReadonlySet<number>, off: typeof values) =>
    left.size + off.length === 0 ? memory : withRows(memory, left, off, survey);
  const counted = without(out, values);
  return {
    counted,
    distinct: status === null && values.length === 0 ? counted : without(isRepeated, []),
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
      ...values.map(({ plan, what, rows }) => ({
        kind: 'values' as const,
        what: `${rows.length === 1 ? 'value' : 'values'} of ${plan.name} ${what}`,
        count: rows.length,
        rows: rowNumbers(rows),
      })),
    ],
  };
}

/** Equal sales may be two sales. If all other rows have different keys, or a quantity is of a time of day, equal rows are one row written twice. */
function repeatedRows(table: ColumnsInMemory): number[] {
  const repeated = duplicateRows(table).map(([again]) => again);
  const left = table.count - repeated.length;
  if (repeated.length > table.count * maxRepeatedShare) return [];
  const isKeyed = table.plans.some(
    ({ reads, timed, values, filled, role }) =>
      (reads === 'date' && timed && table.quantities().length > 0) ||
      ((reads === 'text' || role === 'identifier') && values.exact && filled === table.count && values.distinct === left),
  );
  return isKeyed ? repeated : [];
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
  const isVoid = (text: string) => voidWords.has(text.toLowerCase()) || (isSale && returnWords.has(text.toLowerCase()));
  const rows = [...texts.keys()].filter((at) => !repeated.has(at) && isVoid(texts[at]!));
  // Negative amounts undo other rows, so they count.
  const undoes = amounts.some((amount) => rows.some((at) => table.numbers(amount)[at]! < 0));
  if (rows.length === 0 || undoes || rows.length > (table.count - repeated.size) * maxVoidShare) return null;
  const each = [...new Set(rows.map((at) => texts[at]!))].map((value) => ({ value, rows: rows.filter((at) => texts[at] === value) }));
  return { column: plan.name, rows, each };
}

type ImpossibleValues = { plan: ColumnPlan; what: string; rows: number[] };

function impossible(table: ColumnsInMemory, scales: readonly Scale[]): ImpossibleValues[] {
  return table.quantities().flatMap((plan) => {
    const failed = failedReadings(plan, table);
    const off = impossibleValues(plan, table, scales);
    const rest = off === null ? [] : off.rows.filter((at) => !failed.includes(at));
    return [
      ...(failed.length === 0 ? [] : [{ plan, what: 'that devices write for a failed reading', rows: failed }]),
      ...(off === null || rest.length === 0 ? [] : [{ plan, what: off.what, rows: rest }]),
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
    return plan.type === 'empty' ? plan : { ...plan, type, role, reads, style, unit, readDate, dateDoubt, timed, inUtc };
  });
  return { rows: remaining, survey: { ...again, columns }, aside, totals };
}
