/** The lines of a text file, one after another. */
import type { Readable } from 'node:stream';
import type { Encoding } from './encoding.ts';
import { paced } from './paced.ts';

export const maxLineChars = 64 * 1024;

/** Calls `take` with each line, without its line feed. A line longer than `maxLineChars` may be cut, but stays longer than this limit. */
export async function eachLine(source: Readable, encoding: Encoding, take: (line: string) => void, signal?: AbortSignal): Promise<void> {
  const decoder = new TextDecoder(encoding);
  let kept = '';
  const add = (text: string) => {
    const lines = text.split('\n');
    lines[0] = kept + lines[0]!;
    kept = lines.pop()!;
    // Of a line without an end only the length is needed.
    if (kept.length > maxLineChars) kept = kept.slice(0, maxLineChars + 1);
    for (const line of lines) take(line);
  };
  for await (const chunk of paced(source, signal)) add(decoder.decode(chunk, { stream: true }));
  add(decoder.decode());
  take(kept);
}
