/** The differences between two texts, sentence by sentence. Every line shown is from one of them. */
import { countOf, exact, markdownTable, safe } from '../figure.ts';
import type { Answer } from '../report.ts';
import { readUnits } from './units.ts';

export type Difference = { changed: { before: Line; after: Line }[]; removed: Line[]; added: Line[]; same: number; cut: boolean };
export type Line = { text: string; line: number };

/** Most lines of only one text that are paired with lines of the other. */
const maxPaired = 300;
const maxShown = 60;
/** Share of common words from which two lines count as two versions of one. */
const alike = 0.5;

export function compareTexts(before: string, after: string): Difference {
  const [old, now] = [linesOf(before), linesOf(after)];
  const left = unmatched(old, now);
  const right = unmatched(now, old);
  const changed: Difference['changed'] = [];
  const taken = new Set<number>();
  const wordSets = right.slice(0, maxPaired).map(({ text }) => wordSetOf(text));
  const removed: Line[] = [];
  for (const [i, line] of left.entries()) {
    const wordSet = i < maxPaired ? wordSetOf(line.text) : null;
    let best = -1;
    let most = alike;
    for (let j = 0; wordSet !== null && j < wordSets.length; j++) {
      if (taken.has(j)) continue;
      const common = shared(wordSet, wordSets[j]!);
      if (common > most || (common === most && best === -1)) {
        most = common;
        best = j;
      }
    }
    if (best === -1) removed.push(line);
    else {
      taken.add(best);
      changed.push({ before: line, after: right[best]! });
    }
  }
  const added = right.filter((_, j) => !taken.has(j));
  return { changed, removed, added, same: old.length - left.length, cut: left.length > maxPaired || right.length > maxPaired };
}

/** The difference as an answer of the report; `first` and `second` are the names of the texts. */
export function describeDifference(first: string, second: string, { changed, removed, added, same, cut }: Difference): Answer {
  const lines: string[] = [];
  const rest = (count: number) => (count > maxShown ? [`${countOf(count - maxShown, 'more row')} left out.`] : []);
  const table = (head: string[], rows: string[][]) =>
    lines.push('', markdownTable(head, rows.slice(0, maxShown)), ...rest(rows.length), '');
  lines.push(
    `${countOf(same, 'line')} or ${same === 1 ? 'sentence is' : 'sentences are'} the same in both; ${exact(changed.length)} changed, ${exact(removed.length)} only in ${safe(first)}, ${exact(added.length)} only in ${safe(second)}.`,
  );
  if (changed.length > 0)
    table(
      [`In ${safe(first)}`, 'Line', `In ${safe(second)}`, 'Line', 'Words that differ'],
      changed.map(({ before, after }) => [
        safe(before.text),
        exact(before.line),
        safe(after.text),
        exact(after.line),
        safe(wordChange(before.text, after.text)),
      ]),
    );
  if (removed.length > 0)
    table(
      [`Only in ${safe(first)}`, 'Line'],
      removed.map(({ text, line }) => [safe(text), exact(line)]),
    );
  if (added.length > 0)
    table(
      [`Only in ${safe(second)}`, 'Line'],
      added.map(({ text, line }) => [safe(text), exact(line)]),
    );
  if (cut)
    lines.push(
      `Of more than ${maxPaired} differing lines only the first ${maxPaired} were paired, so a changed line may be shown as removed and added.`,
    );
  const described = [
    ...changed.slice(0, 4).map(({ before, after }) => `changed: ${wordChange(before.text, after.text)}`),
    ...removed.slice(0, 3).map(({ text }) => `only in ${first}: "${text.slice(0, 120)}"`),
    ...added.slice(0, 3).map(({ text }) => `only in ${second}: "${text.slice(0, 120)}"`),
  ];
  const short =
    changed.length + removed.length + added.length === 0
      ? 'no difference in words'
      : `${changed.length} changed, ${removed.length} removed, ${added.length} added; ${described.join('; ')}`;
  return { question: `What differs between ${first} and ${second}`, short, lines };
}

function linesOf(text: string): Line[] {
  return readUnits(text).map(({ kind, key, text: words, line }) => ({
    text: kind === 'field' || kind === 'speech' ? `${key}: ${words}` : words,
    line,
  }));
}

/** Lines that `own` contains more often than `other`. */
function unmatched(own: readonly Line[], other: readonly Line[]): Line[] {
  const counts = new Map<string, number>();
  for (const { text } of other) counts.set(text, (counts.get(text) ?? 0) + 1);
  return own.filter(({ text }) => {
    const left = counts.get(text) ?? 0;
    counts.set(text, left - 1);
    return left <= 0;
  });
}

function wordsOf(text: string): string[] {
  return text.slice(0, 4000).split(' ');
}

function wordSetOf(text: string): ReadonlySet<string> {
  return new Set(wordsOf(text.toLowerCase()).map((word) => word.replace(/^[^\p{L}\p{N}]{1,5}|[^\p{L}\p{N}%]{1,5}$/gu, '')));
}

function shared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let common = 0;
  for (const word of a) if (b.has(word)) common++;
  return (2 * common) / Math.max(1, a.size + b.size);
}

/** The words between the common beginning and the common end of both lines. */
export function wordChange(before: string, after: string): string {
  const [a, b] = [wordsOf(before), wordsOf(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [old, now] = [a.slice(start, a.length - end).join(' '), b.slice(start, b.length - end).join(' ')];
  const cut = (words: string) => (words.length > 120 ? `${words.slice(0, 120)} …` : words);
  if (old === '') return `added "${cut(now)}"`;
  return now === '' ? `removed "${cut(old)}"` : `"${cut(old)}" became "${cut(now)}"`;
}
