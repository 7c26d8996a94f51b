/** Computes parsed formulas as a spreadsheet does: SUM and its like skip texts and empty cells, + − * / read texts that are numbers. */
import type { Cell } from '../cell.ts';
import { parseNumber } from '../number-format.ts';
import type { Area } from './address.ts';
import { type Expression, resolve } from './formula.ts';

/** `sheet`: its name, if it is another than the formula's. */
export type At = { row: number; column: number; sheet?: string | null };
/** `isError`: the value of a cell is an error. */
export type CellLookup = {
  value(at: At): Cell;
  /** The last row with a cell; whole columns end there. */
  lastRow(sheet: string | null): number;
  isError(at: At): boolean;
  /** Whether SUM counts a text that is a number; a spreadsheet does not. */
  countsTexts: boolean;
  /** Whether the cell has a SUBTOTAL formula, which other SUBTOTALs leave out. */
  isSubtotal(at: At): boolean;
};
/** Cells that all formulas of a workbook together may read: SUM over one long column in each of its rows would be quadratic. */
export type Steps = { left: number };

export class NotComputed extends Error {}

const sumCode = new Set([9, 109]);
const maxDecimals = 12;

/** Throws `NotComputed` if an error, a text or a missing cell stands where a number is needed, or the steps are used up. */
export function evaluate(expression: Expression, at: At, lookup: CellLookup, steps: Steps): number {
  const compute = (part: Expression): number => evaluate(part, at, lookup, steps);
  switch (expression.kind) {
    case 'number':
      return expression.value;
    case 'text':
      throw new NotComputed();
    case 'cell':
      return operand(placeOf(expression.cell, at), lookup, steps);
    case 'negative':
      return -compute(expression.of);
    case 'binary': {
      const [left, right] = [compute(expression.left), compute(expression.right)];
      if (expression.sign === '+') return left + right;
      if (expression.sign === '-') return left - right;
      if (expression.sign === '*') return left * right;
      if (right === 0) throw new NotComputed();
      return left / right;
    }
    case 'call':
      return call(expression.name, expression.of, at, lookup, steps);
    case 'area':
      throw new NotComputed();
  }
}

/** The cells of its own sheet that a formula reads, each once for each time it is named; areas as areas. */
export function areasOf(expression: Expression, at: At): Area[] {
  switch (expression.kind) {
    case 'number':
    case 'text':
      return [];
    case 'cell': {
      const { row, column, sheet } = placeOf(expression.cell, at);
      return sheet === null ? [{ top: row, bottom: row, left: column, right: column }] : [];
    }
    case 'area':
      return expression.from.sheet === null ? [areaOf(expression, at)] : [];
    case 'call':
      return expression.of.flatMap((part) => areasOf(part, at));
    case 'binary':
      return [...areasOf(expression.left, at), ...areasOf(expression.right, at)];
    case 'negative':
      return areasOf(expression.of, at);
  }
}

/** The number in a text cell such as '184; null for other texts, for numbers with a unit, and where the notation leaves a doubt (1.234). */
export function numberInText(cell: Cell): number | null {
  if (typeof cell !== 'string') return null;
  const [dot, comma] = [parseNumber(cell, 'dot'), parseNumber(cell, 'comma')];
  const number = dot ?? comma;
  if (number === null || number.unit !== '' || (dot !== null && comma !== null && dot.value !== comma.value)) return null;
  return number.value;
}

function call(name: string, of: readonly Expression[], at: At, lookup: CellLookup, steps: Steps): number {
  if (name === 'ROUND' || name === 'ABS') {
    const [first, second] = of;
    const value = evaluate(first!, at, lookup, steps);
    if (name === 'ABS') return Math.abs(value);
    const decimals = second === undefined ? 0 : evaluate(second, at, lookup, steps);
    if (decimals < 0 || decimals > maxDecimals) throw new NotComputed();
    return Math.sign(value) * Number(`${Math.round(Number(`${Math.abs(value).toPrecision(15)}e${decimals}`))}e-${decimals}`);
  }
  if (name === 'SUMPRODUCT') return sumOfProducts(of, at, lookup, steps);
  if (name === 'SUMIF' || name === 'COUNTIF') return ofMatching(name, of, at, lookup, steps);
  if (name === 'VLOOKUP') return lookedUp(of, at, lookup, steps);
  const isSubtotal = name === 'SUBTOTAL';
  if (isSubtotal && (of[0]?.kind !== 'number' || !sumCode.has(of[0].value))) throw new NotComputed();
  const values = (isSubtotal ? of.slice(1) : of).flatMap((part) => numbersIn(part, at, lookup, steps, isSubtotal));
  if (name === 'COUNT') return values.length;
  if (name === 'SUM' || isSubtotal) return sumOf(values);
  if (name === 'PRODUCT') return values.length === 0 ? 0 : values.reduce((product, value) => product * value, 1);
  if (values.length === 0) {
    if (name === 'AVERAGE') throw new NotComputed();
    return 0;
  }
  if (name === 'AVERAGE') return sumOf(values) / values.length;
  return values.reduce((best, value) => (name === 'MIN' ? Math.min(best, value) : Math.max(best, value)));
}

function numbersIn(part: Expression, at: At, lookup: CellLookup, steps: Steps, isSubtotal: boolean): number[] {
  if (part.kind !== 'area' && part.kind !== 'cell') return [evaluate(part, at, lookup, steps)];
  const { sheet, top, bottom, left, right } = areaIn(part, at, lookup, steps);
  const numbers: number[] = [];
  for (let row = top; row <= bottom; row++)
    for (let column = left; column <= right; column++) {
      const place = { row, column, sheet };
      if (isSubtotal && lookup.isSubtotal(place)) continue;
      const number = numberAt(place, lookup);
      if (number !== null) numbers.push(number);
    }
  return numbers;
}

/** The number that SUM sees in a cell; null if it skips the cell. */
function numberAt(place: At, lookup: CellLookup): number | null {
  if (lookup.isError(place)) throw new NotComputed();
  const value = lookup.value(place);
  return typeof value === 'number' ? value : lookup.countsTexts ? numberInText(value) : null;
}

/** The cells of a reference or an area, row by row. */
function placesIn(part: Expression, at: At, lookup: CellLookup, steps: Steps): At[] {
  const { sheet, top, bottom, left, right } = areaIn(part, at, lookup, steps);
  const places: At[] = [];
  for (let row = top; row <= bottom; row++) for (let column = left; column <= right; column++) places.push({ row, column, sheet });
  return places;
}

/** Also spends the steps of reading all its cells. */
function areaIn(part: Expression, at: At, lookup: CellLookup, steps: Steps): Area & { sheet: string | null } {
  if (part.kind !== 'area' && part.kind !== 'cell') throw new NotComputed();
  const { sheet } = part.kind === 'area' ? part.from : part.cell;
  const {
    top,
    bottom: end,
    left,
    right,
  } = part.kind === 'area' ? areaOf(part, at) : areasOf({ ...part, cell: { ...part.cell, sheet: null } }, at)[0]!;
  const bottom = Math.min(end, lookup.lastRow(sheet));
  spend(steps, Math.max(0, bottom - top + 1) * (right - left + 1));
  return { sheet, top, bottom, left, right };
}

/** Texts count as 0, as in a spreadsheet. */
function sumOfProducts(of: readonly Expression[], at: At, lookup: CellLookup, steps: Steps): number {
  const areas = of.map((part) => placesIn(part, at, lookup, steps));
  if (areas.some(({ length }) => length !== areas[0]!.length)) throw new NotComputed();
  return sumOf(areas[0]!.map((_, i) => areas.reduce((product, places) => product * (numberAt(places[i]!, lookup) ?? 0), 1)));
}

/** SUMIF and COUNTIF with a criterion of equality. */
function ofMatching(name: string, of: readonly Expression[], at: At, lookup: CellLookup, steps: Steps): number {
  const [area, criterion, summed = area] = of;
  if (area === undefined || criterion === undefined || of.length > 3) throw new NotComputed();
  const wanted = comparable(criterion, at, lookup, steps);
  if (/^[<>=]|[*?~]/.test(wanted)) throw new NotComputed();
  const [tested, places] = [placesIn(area, at, lookup, steps), placesIn(summed!, at, lookup, steps)];
  if (tested.length !== places.length) throw new NotComputed();
  const found = places.filter((_, i) => keyOf(lookup.value(tested[i]!)) === wanted);
  return name === 'COUNTIF' ? found.length : sumOf(found.map((place) => numberAt(place, lookup) ?? 0));
}

/** VLOOKUP of an exact match. */
function lookedUp(of: readonly Expression[], at: At, lookup: CellLookup, steps: Steps): number {
  const [criterion, table, column, isNear] = of;
  if (criterion === undefined || table === undefined || column === undefined || isNear === undefined) throw new NotComputed();
  if (evaluate(isNear, at, lookup, steps) !== 0) throw new NotComputed();
  const wanted = comparable(criterion, at, lookup, steps);
  const { sheet, top, bottom, left, right } = areaIn(table, at, lookup, steps);
  const target = left + evaluate(column, at, lookup, steps) - 1;
  if (!Number.isInteger(target) || target < left || target > right) throw new NotComputed();
  for (let row = top; row <= bottom; row++)
    if (keyOf(lookup.value({ row, column: left, sheet })) === wanted) return operand({ row, column: target, sheet }, lookup, steps);
  throw new NotComputed();
}

function comparable(part: Expression, at: At, lookup: CellLookup, steps: Steps): string {
  const value =
    part.kind === 'text' ? part.value : part.kind === 'cell' ? lookup.value(placeOf(part.cell, at)) : evaluate(part, at, lookup, steps);
  if (value === null || value === '') throw new NotComputed();
  return keyOf(value);
}

/** Texts are compared in any case. */
function keyOf(value: Cell): string {
  return String(value ?? '').toLowerCase();
}

function operand(place: At, lookup: CellLookup, steps: Steps): number {
  spend(steps, 1);
  if (lookup.isError(place)) throw new NotComputed();
  const value = lookup.value(place);
  if (value === null) return 0;
  if (typeof value === 'number') return value;
  const number = numberInText(value);
  if (number === null) throw new NotComputed();
  return number;
}

function areaOf({ from, to }: Extract<Expression, { kind: 'area' }>, at: At): Area {
  const [first, last] = [resolve(from, at), resolve(to, at)];
  if (first === null || last === null) throw new NotComputed();
  return {
    top: Math.min(first.row, last.row),
    bottom: Math.max(first.row, last.row),
    left: Math.min(first.column, last.column),
    right: Math.max(first.column, last.column),
  };
}

function placeOf(reference: Extract<Expression, { kind: 'cell' }>['cell'], at: At): At & { sheet: string | null } {
  const place = resolve(reference, at);
  if (place === null) throw new NotComputed();
  return { ...place, sheet: reference.sheet };
}

function spend(steps: Steps, amount: number): void {
  steps.left -= amount;
  if (steps.left < 0) throw new NotComputed();
}

/** Without the rounding errors of the last digits. */
function sumOf(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0);
  return Number(sum.toPrecision(14));
}
