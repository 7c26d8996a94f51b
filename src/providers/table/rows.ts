/** The rows of a table that fits into memory, so that rows can be compared with one another. */
import type { Cell } from './cell.ts';
import type { TableSource } from './table-source.ts';

/** `numbers` are the rows' numbers in the file. */
export type Rows = { cells: (readonly Cell[])[]; numbers: number[] };

const maxCells = 600_000;
const maxChars = 8_000_000;

/** All rows, or null if the table is too long. Rejects as `TableSource.eachRow` does. */
export async function loadRows(source: TableSource, signal?: AbortSignal): Promise<Rows | null> {
  const rows: Rows = { cells: [], numbers: [] };
  let cells = 0;
  let chars = 0;
  const visit = (row: readonly Cell[], number: number) => {
    cells += row.length + 2;
    for (const cell of row) if (typeof cell === 'string') chars += cell.length;
    if (cells > maxCells || chars > maxChars) throw new TooLong();
    rows.cells.push(row);
    rows.numbers.push(number);
  };
  try {
    await source.eachRow(visit, signal);
    return rows;
  } catch (error) {
    if (error instanceof TooLong) return null;
    throw error;
  }
}

class TooLong extends Error {}
