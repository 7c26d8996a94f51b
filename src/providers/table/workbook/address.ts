/** Addresses of cells, such as H7. Rows and columns count from 1. */

export type Area = { top: number; left: number; bottom: number; right: number };

export const maxRow = 1_048_576;
export const maxColumn = 16_384;

/** Null for what is no address within a sheet. */
export function parseAddress(text: string): { row: number; column: number } | null {
  const found = /^\$?([A-Z]{1,3})\$?(\d{1,7})$/.exec(text);
  if (found === null) return null;
  const row = Number(found[2]);
  const column = columnNumber(found[1]!);
  return row >= 1 && row <= maxRow && column <= maxColumn ? { row, column } : null;
}

export function parseArea(text: string): Area | null {
  const [from, to = from] = text.split(':', 2).map(parseAddress);
  if (from == null || to == null) return null;
  return {
    top: Math.min(from.row, to.row),
    left: Math.min(from.column, to.column),
    bottom: Math.max(from.row, to.row),
    right: Math.max(from.column, to.column),
  };
}

export function columnNumber(letters: string): number {
  let number = 0;
  for (const letter of letters) number = number * 26 + letter.charCodeAt(0) - 64;
  return number;
}

export function columnLetters(column: number): string {
  let letters = '';
  for (let rest = column; rest > 0; rest = Math.floor((rest - 1) / 26)) letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  return letters;
}

export function addressOf(row: number, column: number): string {
  return `${columnLetters(column)}${row}`;
}
