/** Streams the rows of a CSV file. Memory is bounded by the longest accepted row, for any file size. */

import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { finished } from 'node:stream/promises';
import { CsvError, parse } from 'csv-parse';
import { ToolError } from '../../errors.ts';
import type { Delimiter } from './dialect.ts';
import { type Encoding, utf8Stream } from './encoding.ts';
import { paced } from './paced.ts';

export type CsvForm = { encoding: Encoding; delimiter: Delimiter /** False reads quotes as ordinary characters. */; quotes: boolean };

const maxRowChars = 4 * 1024 * 1024;

/** A quote that is never closed; read the file again with `quotes: false`. */
export class UnclosedQuote extends ToolError {
  /** Approximate position of the row with the quote: the number of rows read before it. */
  readonly rowsBefore: number;
  constructor(rowsBefore: number) {
    super(`A quote opened after row ${rowsBefore} is never closed.`);
    this.rowsBefore = rowsBefore;
  }
}

/**
 * Calls `onRow` with each non-empty row, in order. Rejects with `UnclosedQuote`, with `ToolError` when a row is longer than 4 MiB, and with
 * errors of the source or of `onRow`.
 */
export async function eachCsvRow(source: Readable, form: CsvForm, onRow: (row: string[]) => void, signal?: AbortSignal): Promise<void> {
  let rows = 0;
  const parser = parse({
    bom: true,
    delimiter: form.delimiter,
    quote: form.quotes ? '"' : null,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    max_record_size: maxRowChars,
    // Rows are passed on here and never queued in the stream.
    on_record: (row: string[]) => {
      rows++;
      onRow(row);
      return null;
    },
  });
  parser.resume();
  const ended = finished(parser, signal === undefined ? {} : { signal });
  const passOn = (error?: Error | null) => {
    if (error) parser.destroy(error);
  };
  if (form.encoding === 'utf-8') pipeline(paced(source, signal), parser, passOn);
  else pipeline(paced(source, signal), utf8Stream(form.encoding), parser, passOn);
  try {
    await ended;
  } catch (error) {
    source.destroy();
    if (error instanceof CsvError) {
      if (form.quotes && (error.code === 'CSV_QUOTE_NOT_CLOSED' || error.code === 'CSV_MAX_RECORD_SIZE')) throw new UnclosedQuote(rows);
      if (error.code === 'CSV_MAX_RECORD_SIZE')
        throw new ToolError(`Row ${rows + 1} is longer than ${maxRowChars} characters; this is no table that can be read.`);
      throw new ToolError(`The file could not be read as CSV after row ${rows}: ${error.message}`);
    }
    throw error;
  }
}
