/** Computes parsed formulas as a spreadsheet does: SUM and its like skip texts and empty cells, + − * / read texts that are numbers. */
import type { Cell } from '../cell.ts';
import { parseNumber } from '../number-format.ts';
import type { Area } from './address.ts';
import { type Expression, resolve } from './formula.ts';

export type At = { row: number; column: number };
/** `isError`: the value of a cell is an error. */
export type CellLookup = {
  value(at: At): Cell;
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

/** The cells that a formula reads, each once for each time it is named; areas as areas. */
export function areasOf(expression: Expression, at: At): Area[] {
  switch (expression.kind) {
    case 'number':
      return [];
    case 'cell': {
      const { row, column } = placeOf(expression.cell, at);
      return [{ top: row, bottom: row, left: column, right: column }];
    }
    case 'area':
      return [areaOf(expression, at)];
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
  const isSubtotal = name === 'SUBTOTAL';
  if (isSubtotal && (of[0]?.kind !== 'number' || !sumCode.has(of[0].value))) throw new NotComputed();
  const values = (isSubtotal ? of.slice(1) : of).flatMap((part) => numbersIn(part, at, lookup, steps, isSubtotal));
  if (name === 'COUNT') return values.length;
  if (name === 'SUM' || isSubtotal) return sumOf(values);
  if (values.length === 0) {
    if (name === 'AVERAGE') throw new NotComputed();
    return 0;
  }
  if (name === 'AVERAGE') return sumOf(values) / values.length;
  return values.reduce((best, value) => (name === 'MIN' ? Math.min(best, value) : Math.max(best, value)));
}

function numbersIn(part: Expression, at: At, lookup: CellLookup, steps: Steps, isSubtotal: boolean): number[] {
  if (part.kind !== 'area' && part.kind !== 'cell') return [evaluate(part, at, lookup, steps)];
  const { top, bottom, left, right } = part.kind === 'area' ? areaOf(part, at) : areasOf(part, at)[0]!;
  spend(steps, (bottom - top + 1) * (right - left + 1));
  const numbers: number[] = [];
  for (let row = top; row <= bottom; row++)
    for (let column = left; column <= right; column++) {
      const place = { row, column };
      if (lookup.isError(place)) throw new NotComputed();
      if (isSubtotal && lookup.isSubtotal(place)) continue;
      const value = lookup.value(place);
      const number = typeof value === 'number' ? value : lookup.countsTexts ? numberInText(value) : null;
      if (number !== null) numbers.push(number);
    }
  return numbers;
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

function placeOf(reference: Parameters<typeof resolve>[0], at: At): At {
  const place = resolve(reference, at);
  if (place === null) throw new NotComputed();
  return place;
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
