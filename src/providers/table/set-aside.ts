/** Rows of a file that are not records: totals, repeated headers, comments, rows without a value. They are left out of all figures, and named. */
import { type Cell, cellText, isMissing } from './cell.ts';
import { type ColumnPlan, readNumber } from './column-evidence.ts';
import { exact, rowList } from './figure-text.ts';
import type { Rows } from './rows.ts';
import { combinedSums, type GroupSums, groupSums, near } from './summed-rows.ts';
import { describeTotals, type FoundTotal, type TotalRow } from './total-row-texts.ts';

export type ExcludedRowKind = 'empty' | 'header' | 'comment' | 'total' | 'units';

const totalWords = new Set(
  'total|totals|grand total|sum|sums|summe|gesamt|gesamtsumme|gesamtbetrag|insgesamt|endsumme|subtotal|sub-total|sub total|zwischensumme|total amount|sum total|total general|all in all|Σ|σ|totale|totaal|suma|totaux|soma|razem|totalt'.split(
    '|',
  ),
);
const otherAggregates = new Set('average|avg|mean|durchschnitt|mittelwert|median|minimum|maximum|min|max|overall|all'.split('|'));
const phraseWords = new Set('total|totals|subtotal|summe|gesamt|zwischensumme|sum|totale|totaal|totaux|suma|soma|razem|totalt'.split('|'));
const otherTotals = new Set(['all', 'overall']);
const minAgreeing = 2;
const maxLabelChars = 60;
const maxPhraseWords = 5;
const maxLabelColumns = 6;
const rowsNamed = 6;

/** The kind of a row that is not a record, from the row alone; null for a record. */
export function excludedRowKind(cells: readonly Cell[], names: readonly string[]): ExcludedRowKind | null {
  let filled = 0;
  let same = 0;
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i]!;
    if (typeof cell === 'string' ? cell.trim() === '' : cell === null) continue;
    filled++;
    if (typeof cell === 'string' && names[i] !== undefined && cell.trim() === names[i]) same++;
  }
  if (filled === 0) return 'empty';
  if (same === filled && same >= Math.max(1, Math.ceil(names.length * 0.6))) return 'header';
  const first = cells[0];
  if (typeof first === 'string' && names.length > 1 && filled < names.length && (first.startsWith('#') || first.startsWith('//')))
    return filled === 1 || cells.length < names.length ? 'comment' : null;
  return null;
}

/** Whether the row's label alone shows that it is a total; for tables too long to check it against the rows. */
export function isPlainTotal(cells: readonly Cell[]): boolean {
  return totalWords.has(normal(labelOf(cells)));
}

/** The total rows of a table in memory, each checked against the rows that it sums up. */
export function findTotals(rows: Rows, plans: readonly ColumnPlan[]): TotalRow[] {
  const numeric = plans.filter(({ reads }) => reads === 'number');
  if (rows.cells.length < 3 || numeric.length === 0) return [];
  const texts = plans.filter(({ reads, type }) => reads !== 'number' && type !== 'empty');
  const candidates = rows.cells.map((cells) => labelKind(cells) ?? kindElsewhere(cells, texts));
  // A last row with the sum of the others in every column is a total, whatever its name: "Result" below income and costs.
  if (addsUpUnnamed(rows, numeric, texts, candidates) || addsUpAll(rows, numeric, candidates)) candidates[rows.cells.length - 1] = 'total';
  // Totals are few; if most rows have such a name it is the subject of the table.
  const called = candidates.filter((kind) => kind !== null).length;
  if (called === 0 || called > rows.cells.length / 2 + 1) return [];
  const filledTexts = (cells: readonly Cell[]) => texts.reduce((count, { index }) => count + (isMissing(cells[index] ?? null) ? 0 : 1), 0);
  const usual = usualOf(rows.cells.filter((_, i) => candidates[i] === null).map(filledTexts));
  const whole = numeric.map((plan) =>
    rows.cells.reduce(
      (sum, cells, i) => (candidates[i] === null ? sum + (readNumber(plan, cells[plan.index] ?? null)?.value ?? 0) : sum),
      0,
    ),
  );
  const isRecord = (at: number) => candidates[at] === null;
  const ofGroup = groupSums(rows, texts, numeric, isRecord);
  const ofSome = combinedSums(rows, numeric, isRecord);
  const ofLabel = groupsOfLabels(rows, texts, candidates, ofGroup);
  const above = numeric.map(() => 0);
  const block = numeric.map(() => 0);
  let inBlock = 0;
  const found: FoundTotal[] = [];
  for (const [at, cells] of rows.cells.entries()) {
    const kind = candidates[at]!;
    const values = numeric.map((plan) => readNumber(plan, cells[plan.index] ?? null)?.value ?? Number.NaN);
    const agreeing = numeric.flatMap((plan, i) =>
      at > 0 && inBlock > 0 && (near(values[i]!, above[i]!) || near(values[i]!, block[i]!))
        ? [plan]
        : near(values[i]!, whole[i]!)
          ? [plan]
          : [],
    );
    const sparse = filledTexts(cells) < usual;
    // Of which rows, where the rows above do not tell.
    const known = kind === null || (agreeing.length > 0 && (kind === 'total' || kind === 'phrase'));
    const group = known ? null : (ofGroup(at) ?? ofLabel(at));
    const summed = known ? null : (group?.sums ?? (kind === 'phrase' ? ofSome(at) : null));
    const isTotal =
      summed !== null ||
      (kind === 'elsewhere' && (isWhole(values, whole) || (inBlock > 1 && isHalf(values, block)))) ||
      (kind !== null && sparse && isComputed(cells, numeric)) ||
      (kind === 'aggregate'
        ? sparse || (usual <= 1 && at >= rows.cells.length - 5)
        : kind === 'total'
          ? sparse || usual <= 1 || agreeing.length > 0
          : kind === 'phrase' && (agreeing.some((_, i) => values[i] !== 0) || (sparse && usual > 1)));
    if (!isTotal) {
      for (let i = 0; i < numeric.length; i++) {
        if (Number.isNaN(values[i]!)) continue;
        above[i]! += values[i]!;
        block[i]! += values[i]!;
      }
      inBlock++;
      continue;
    }
    const label =
      kind === 'elsewhere' ? elsewhereLabel(cells, texts) : labelKind(cells) === null && filledTexts(cells) === 0 ? '' : labelOf(cells);
    found.push({
      at,
      number: rows.numbers[at]!,
      label,
      cells,
      rows: inBlock,
      group: kind === 'elsewhere' ? (group?.name ?? '') : '',
      adds:
        summed !== null
          ? numeric.filter((_, i) => near(values[i]!, summed[i]!)).map(({ name }) => name)
          : kind === 'aggregate'
            ? []
            : agreeing.map(({ name }) => name),
      kind: kind === 'aggregate' || kind === 'phrase' ? (summed === null ? kind : 'total') : 'total',
      values,
      // Of a total of totals, the rows since the last total are none.
      block: [...(summed ?? (inBlock > 0 ? block : above))],
      above: [...(summed ?? (at === 0 ? whole : above))],
    });
    block.fill(0);
    inBlock = 0;
  }
  return describeTotals(found, numeric);
}

/** Most rows with this label add up their group, so that the others do too: one of twelve totals of months may be wrong. */
function groupsOfLabels(
  rows: Rows,
  texts: readonly ColumnPlan[],
  candidates: readonly (string | null)[],
  ofGroup: (at: number, index?: number) => GroupSums | null,
): (at: number) => GroupSums | null {
  const labels = new Map<string, { rows: number; agreeing: number; index: number }>();
  for (const [at, cells] of rows.cells.entries()) {
    if (candidates[at] !== 'elsewhere') continue;
    const label = elsewhereLabel(cells, texts);
    const known = labels.get(label) ?? { rows: 0, agreeing: 0, index: -1 };
    const group = ofGroup(at);
    labels.set(label, { rows: known.rows + 1, agreeing: known.agreeing + (group === null ? 0 : 1), index: group?.index ?? known.index });
  }
  return (at) => {
    if (candidates[at] !== 'elsewhere') return null;
    const known = labels.get(elsewhereLabel(rows.cells[at]!, texts))!;
    return known.agreeing >= minAgreeing && known.agreeing * 2 > known.rows ? ofGroup(at, known.index) : null;
  };
}

/** The sum of the rows since the last total in half of the columns or more: "North, Subtotal North" after the rows of a month. */
function isHalf(values: readonly number[], block: readonly number[]): boolean {
  const known = [...values.keys()].filter((i) => !Number.isNaN(values[i]!));
  const agreeing = known.filter((i) => values[i] !== 0 && near(values[i]!, block[i]!));
  return agreeing.length > 0 && agreeing.length * 2 >= known.length;
}

/** The sum of all records in most columns. */
function isWhole(values: readonly number[], whole: readonly number[]): boolean {
  const known = [...values.keys()].filter((i) => !Number.isNaN(values[i]!));
  const agreeing = known.filter((i) => values[i] !== 0 && near(values[i]!, whole[i]!));
  return agreeing.length > 0 && agreeing.length * 2 > known.length;
}

/** A last row with figures only, the largest of which is nearly the sum of all rows above. */
function addsUpUnnamed(
  rows: Rows,
  numeric: readonly ColumnPlan[],
  texts: readonly ColumnPlan[],
  candidates: readonly (string | null)[],
): boolean {
  const last = rows.cells.length - 1;
  if (last < 3 || texts.length < 2 || candidates.some((kind) => kind !== null)) return false;
  if (texts.some(({ index }) => !isMissing(rows.cells[last]![index] ?? null))) return false;
  if (rows.cells.slice(0, last).some((cells) => texts.every(({ index }) => isMissing(cells[index] ?? null)))) return false;
  const sumTexts = numeric.flatMap((plan) => {
    const values = rows.cells.map((cells) => readNumber(plan, cells[plan.index] ?? null)?.value ?? Number.NaN);
    if (Number.isNaN(values[last]!)) return [];
    const sum = values.slice(0, last).reduce((total, value) => total + (Number.isNaN(value) ? 0 : value), 0);
    return [Math.abs(values[last]! - sum) <= Math.abs(sum) * 0.02];
  });
  return sumTexts.length > 0 && sumTexts.some((near) => near);
}

function addsUpAll(rows: Rows, numeric: readonly ColumnPlan[], candidates: readonly (string | null)[]): boolean {
  const last = rows.cells.length - 1;
  if (numeric.length < 3 || last < 2 || candidates.some((kind) => kind !== null)) return false;
  return numeric.every((plan) => {
    const values = rows.cells.map((cells) => readNumber(plan, cells[plan.index] ?? null)?.value ?? Number.NaN);
    const others = values.slice(0, last).filter((value) => !Number.isNaN(value) && value !== 0);
    return others.length >= 2 && near(values[last]!, clean(others.reduce((sum, value) => sum + value, 0)));
  });
}

/** The finding on the rows that were set aside. */
export function describeExcluded(aside: ReadonlyMap<ExcludedRowKind, readonly number[]>): string[] {
  const say = (kind: ExcludedRowKind, what: (rows: readonly number[]) => string) => {
    const rows = aside.get(kind) ?? [];
    return rows.length === 0 ? [] : [what(rows)];
  };
  return [
    ...say(
      'empty',
      (rows) => `${exact(rows.length)} empty ${rows.length === 1 ? 'row is' : 'rows are'} left out (${rowList(rows, rowsNamed)}).`,
    ),
    ...say(
      'header',
      (rows) =>
        `The header is repeated ${rows.length === 1 ? 'once' : `${exact(rows.length)} times`} among the rows (${rowList(rows, rowsNamed)}); left out.`,
    ),
    ...say(
      'comment',
      (rows) => `${exact(rows.length)} comment ${rows.length === 1 ? 'line is' : 'lines are'} left out (${rowList(rows, rowsNamed)}).`,
    ),
    ...say('units', () => 'The row below the header holds units and is left out.'),
    ...say(
      'total',
      (rows) =>
        `${exact(rows.length)} total ${rows.length === 1 ? 'row is' : 'rows are'} left out of all figures (${rowList(rows, rowsNamed)}).`,
    ),
  ];
}

/** Whether a cell names its row a total: "Total", "North total". */
export function isTotalLabel(cell: Cell): boolean {
  const kind = labelKind([cell]);
  return kind === 'total' || kind === 'phrase';
}

function labelKind(cells: readonly Cell[]): 'total' | 'phrase' | 'aggregate' | null {
  const label = normal(labelOf(cells));
  if (label === '' || label.length > maxLabelChars) return null;
  if (totalWords.has(label)) return 'total';
  if (otherAggregates.has(label)) return 'aggregate';
  const tokens = label.split(' ');
  if (tokens.length > maxPhraseWords) return null;
  return phraseWords.has(tokens[0]!) || phraseWords.has(tokens.at(-1)!) ? 'phrase' : null;
}

/** "2024, All, 60": the label of a total may stand beside the name of its group. Such a row counts only if it agrees with its group. */
function kindElsewhere(cells: readonly Cell[], texts: readonly ColumnPlan[]): 'elsewhere' | null {
  return elsewhereLabel(cells, texts) === '' ? null : 'elsewhere';
}

/** The only figures of the row are formulas. */
function isComputed(cells: readonly Cell[], numeric: readonly ColumnPlan[]): boolean {
  const figures = numeric.map(({ index }) => cells[index] ?? null).filter((cell) => !isMissing(cell));
  return figures.length > 0 && figures.every((cell) => typeof cell === 'string' && cell.trim().startsWith('='));
}

function elsewhereLabel(cells: readonly Cell[], texts: readonly ColumnPlan[]): string {
  for (const { index } of texts.slice(0, maxLabelColumns)) {
    const cell = cells[index] ?? null;
    if (typeof cell !== 'string' || cell.length > maxLabelChars) continue;
    const label = labelKind([cell]);
    if (label === 'total' || label === 'phrase' || otherTotals.has(normal(cell))) return cell.trim();
  }
  return '';
}

/** The first non-empty cell, if it is a text. */
function labelOf(cells: readonly Cell[]): string {
  const first = cells.find((cell) => !isMissing(cell)) ?? null;
  return typeof first === 'string' ? cellText(first, maxLabelChars + 2) : '';
}

function normal(label: string): string {
  let end = label.length;
  while (end > 0 && (label[end - 1] === ':' || label[end - 1] === ' ' || label[end - 1] === '*')) end--;
  return label.slice(0, end).toLowerCase().replace(/\s+/g, ' ').replaceAll(':', '').replaceAll('*', '').trim();
}

function clean(value: number): number {
  return Number(value.toPrecision(12));
}

function usualOf(counts: number[]): number {
  const sorted = counts.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
