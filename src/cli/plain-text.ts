/**
 * External text in a form that is safe for a terminal: agents, files and models choose it, so it must not move the cursor, change colours,
 * or reverse the text direction.
 */
import { stripVTControlCharacters } from 'node:util';

const controls = /[\p{Cc}\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/gu;

/** On one line, of at most `maxChars` characters. */
export function oneLine(text: string, maxChars = 200): string {
  // Long texts are truncated before cleaning, with reserve for removed characters.
  const line = plainText(text.slice(0, maxChars * 20))
    .replace(/\s+/g, ' ')
    .trim();
  return line.length <= maxChars
    ? line
    : `${line
        .slice(0, maxChars - 1)
        .toWellFormed()
        .replace(/\ufffd$/, '')}…`;
}

/** With its line breaks. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text.toWellFormed())
    .replace(/\r\n?/g, '\n')
    .replace(/\t/g, '  ')
    .replace(controls, (char) => (char === '\n' ? '\n' : ''));
}

export function fileSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
