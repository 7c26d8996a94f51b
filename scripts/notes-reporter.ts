/**
 * A reporter of node:test that prints each failed test at once, so that a run that is cut off has told them, and at the end what
 * tests say besides their result: their diagnostics, and the reason of each skipped test. In CI it is used beside `dot`, which prints only the
 * errors, at the end.
 */
import { inspect } from 'node:util';

type Reported = {
  type: string;
  data: { name?: string; file?: string; message?: string; skip?: string | boolean; details?: { type?: string; error?: Error } };
};

/** A test that repeats itself must not fill the log. */
const maxNotes = 500;
/** Characters of an error. The other reporter prints it whole at the end. */
const maxError = 1_500;

export default async function* notes(reported: AsyncIterable<Reported>): AsyncGenerator<string> {
  const found = new Set<string>();
  for await (const event of reported) {
    if (event.type === 'test:fail' && event.data.details?.type !== 'suite') yield failureOf(event);
    const note = noteOf(event);
    if (note !== null && found.size < maxNotes) found.add(note);
  }
  if (found.size > 0) yield `\n\nNotes:\n\n${[...found].map((note) => `${note}\n`).join('')}`;
}

function failureOf({ data: { name, details } }: Reported): string {
  const error = details?.error?.cause ?? details?.error;
  return `\nfailed: ${name}\n${inspect(error).slice(0, maxError)}\n`;
}

/** The totals of a run are diagnostics without a file. */
function noteOf({ type, data: { name, file, message, skip } }: Reported): string | null {
  if (type === 'test:diagnostic' && file !== undefined) return message ?? null;
  return type === 'test:pass' && typeof skip === 'string' ? `skipped: ${name} (${skip})` : null;
}
