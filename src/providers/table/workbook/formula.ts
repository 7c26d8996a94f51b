/**
 * The formulas that are computed again: + − * /, numbers, cells, areas and whole columns of any sheet, and the functions below. References are
 * kept relative to the formula's cell, so that equal formulas of different rows are equal.
 */
import { addressOf, maxColumn, maxRow, parseAddress } from './address.ts';

/** A row or column: an offset from the formula's cell, or fixed ($). */
type Place = { at: number; isFixed: boolean };
/** `sheet` is null for the formula's own. */
type Reference = { sheet: string | null; row: Place; column: Place };
export type Expression =
  | { kind: 'number'; value: number }
  /** In quotes, for the criterion of SUMIF. */
  | { kind: 'text'; value: string }
  | { kind: 'cell'; cell: Reference }
  | { kind: 'area'; from: Reference; to: Reference }
  | { kind: 'call'; name: string; of: Expression[] }
  | { kind: 'binary'; sign: '+' | '-' | '*' | '/'; left: Expression; right: Expression }
  | { kind: 'negative'; of: Expression };

const functions = new Set('SUM AVERAGE MIN MAX COUNT SUBTOTAL ROUND ABS PRODUCT SUMPRODUCT SUMIF COUNTIF VLOOKUP'.split(' '));
const maxDepth = 24;
const maxTokens = 400;
const token =
  /\s*(?:(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|((?:(?:'(?:[^']|''){1,64}'|[\p{L}_][\p{L}\p{N}_.]{0,63})!)?\$?[A-Z]{1,3}(?:\$?\d{1,7}|:\$?[A-Z]{1,3})(?![\w(!$]))|((?:TRUE|FALSE)(?![\w(!]))|([A-Z]{2,10})(?=\()|([-+*/(),:])|("(?:[^"]|""){0,255}"))/uy;

/** Null for a formula that is not computed. */
export function parseFormula(text: string, row: number, column: number, sheet: string): Expression | null {
  const tokens = tokensOf(text);
  if (tokens === null) return null;
  const parser = new Parser(tokens, row, column, sheet.toLowerCase());
  try {
    const found = parser.sum(0);
    return parser.isAtEnd() ? found : null;
  } catch (error) {
    if (error instanceof NotSimple) return null;
    throw error;
  }
}

/** Equal for formulas that a person gets by copying one to the place of the other. */
export function formulaKey(expression: Expression): string {
  switch (expression.kind) {
    case 'number':
      return String(expression.value);
    case 'text':
      return JSON.stringify(expression.value);
    case 'cell':
      return referenceKey(expression.cell);
    case 'area':
      return `${referenceKey(expression.from)}:${referenceKey(expression.to)}`;
    case 'call':
      return `${expression.name}(${expression.of.map(formulaKey).join(',')})`;
    case 'binary':
      return `(${formulaKey(expression.left)}${expression.sign}${formulaKey(expression.right)})`;
    case 'negative':
      return `-${formulaKey(expression.of)}`;
  }
}

/** The formula as it is written in this cell, without the signs of fixed rows and columns. */
export function formulaText(expression: Expression, at: { row: number; column: number }): string {
  const cell = (reference: Reference) => {
    const place = resolve(reference, at);
    return place === null ? '#REF!' : addressOf(place.row, place.column);
  };
  const area = (from: Reference, to: Reference) => {
    const text = `${cell(from)}:${cell(to)}`;
    return from.row.isFixed && from.row.at === 1 && to.row.at === maxRow ? text.replace(/\d+/g, '') : text;
  };
  const text = (part: Expression): string => {
    switch (part.kind) {
      case 'number':
        return String(part.value);
      case 'text':
        return JSON.stringify(part.value);
      case 'cell':
        return sheetText(part.cell) + cell(part.cell);
      case 'area':
        return sheetText(part.from) + area(part.from, part.to);
      case 'call':
        return `${part.name}(${part.of.map(text).join(',')})`;
      case 'binary':
        return `${inner(part.left, part.sign)}${part.sign}${inner(part.right, part.sign)}`;
      case 'negative':
        return `-${inner(part.of, '*')}`;
    }
  };
  const inner = (part: Expression, sign: string) =>
    part.kind === 'binary' && !(sign === '+' && part.sign === '+') ? `(${text(part)})` : text(part);
  return text(expression);
}

/** The cell that a reference means in the formula of this cell; null if it is outside the sheet. */
export function resolve(
  { row, column }: Pick<Reference, 'row' | 'column'>,
  at: { row: number; column: number },
): { row: number; column: number } | null {
  const found = { row: row.isFixed ? row.at : at.row + row.at, column: column.isFixed ? column.at : at.column + column.at };
  return found.row < 1 || found.column < 1 || found.row > maxRow || found.column > maxColumn ? null : found;
}

class NotSimple extends Error {}

function tokensOf(text: string): string[] | null {
  const formula = text.trim().replace(/^=/, '');
  const tokens: string[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < formula.length) {
    const found = token.exec(formula);
    if (found === null || tokens.length === maxTokens) return null;
    tokens.push(found[0].trim());
  }
  return tokens;
}

class Parser {
  private readonly tokens: readonly string[];
  private readonly row: number;
  private readonly column: number;
  private readonly sheet: string;
  private at = 0;

  constructor(tokens: readonly string[], row: number, column: number, sheet: string) {
    this.tokens = tokens;
    this.row = row;
    this.column = column;
    this.sheet = sheet;
  }

  isAtEnd(): boolean {
    return this.at === this.tokens.length;
  }

  sum(depth: number): Expression {
    if (depth > maxDepth) throw new NotSimple();
    let left = this.product(depth);
    for (let sign = this.tokens[this.at]; sign === '+' || sign === '-'; sign = this.tokens[this.at]) {
      this.at++;
      left = { kind: 'binary', sign, left, right: this.product(depth) };
    }
    return left;
  }

  private product(depth: number): Expression {
    let left = this.value(depth);
    for (let sign = this.tokens[this.at]; sign === '*' || sign === '/'; sign = this.tokens[this.at]) {
      this.at++;
      left = { kind: 'binary', sign, left, right: this.value(depth) };
    }
    return left;
  }

  private value(depth: number): Expression {
    const next = this.tokens[this.at++];
    if (next === undefined) throw new NotSimple();
    if (next === '-' || next === '+') {
      if (depth > maxDepth) throw new NotSimple();
      const of = this.value(depth + 1);
      return next === '-' ? { kind: 'negative', of } : of;
    }
    if (next === '(') {
      const inner = this.sum(depth + 1);
      this.take(')');
      return inner;
    }
    if (functions.has(next)) return { kind: 'call', name: next, of: this.list(depth) };
    if (/^\d/.test(next)) return { kind: 'number', value: Number(next) };
    if (next === 'TRUE' || next === 'FALSE') return { kind: 'number', value: next === 'TRUE' ? 1 : 0 };
    if (next.startsWith('"')) return { kind: 'text', value: next.slice(1, -1).replaceAll('""', '"') };
    const columns = /^(.{0,130}!)?(\$?[A-Z]{1,3}):(\$?[A-Z]{1,3})$/u.exec(next);
    if (columns !== null) {
      const [, sheet = '', first, last] = columns;
      return { kind: 'area', from: this.reference(`${sheet}${first}$1`), to: this.reference(`${last}$${maxRow}`) };
    }
    const from = this.reference(next);
    if (this.tokens[this.at] !== ':') return { kind: 'cell', cell: from };
    this.at++;
    const to = this.reference(this.tokens[this.at++] ?? '');
    // An area over several sheets.
    if (to.sheet !== null) throw new NotSimple();
    return { kind: 'area', from, to };
  }

  private list(depth: number): Expression[] {
    this.take('(');
    const found = [this.sum(depth + 1)];
    while (this.tokens[this.at] === ',') {
      this.at++;
      found.push(this.sum(depth + 1));
    }
    this.take(')');
    return found;
  }

  private take(mark: string): void {
    if (this.tokens[this.at++] !== mark) throw new NotSimple();
  }

  private reference(text: string): Reference {
    const mark = text.lastIndexOf('!');
    const address = text.slice(mark + 1);
    const sheet = text.slice(0, Math.max(0, mark)).replace(/^'|'$/g, '').replaceAll("''", "'");
    const place = parseAddress(address);
    if (place === null) throw new NotSimple();
    const isColumnFixed = address.startsWith('$');
    const isRowFixed = address.includes('$', 1);
    return {
      sheet: sheet === '' || sheet.toLowerCase() === this.sheet ? null : sheet,
      row: { at: isRowFixed ? place.row : place.row - this.row, isFixed: isRowFixed },
      column: { at: isColumnFixed ? place.column : place.column - this.column, isFixed: isColumnFixed },
    };
  }
}

function sheetText({ sheet }: Reference): string {
  return sheet === null ? '' : `${/^[\p{L}_][\p{L}\p{N}_.]*$/u.test(sheet) ? sheet : `'${sheet.replaceAll("'", "''")}'`}!`;
}

function referenceKey({ sheet, row, column }: Reference): string {
  return `${sheet === null ? '' : `${sheet.toLowerCase()}!`}${placeKey('R', row)}${placeKey('C', column)}`;
}

function placeKey(letter: string, { at, isFixed }: Place): string {
  return isFixed ? `${letter}${at}` : `${letter}[${at}]`;
}
