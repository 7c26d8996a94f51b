/**
 * Which files of the workspace a text means: by name in any case, quotes, brackets or list, by name without extension, or by description
 * ("the CSV", "both files"). A missing name is reported with the closest ones. Linear in the text for a bounded list of files.
 */
import { isWordChar, readTokens, sentenceStart, type Token } from './prompt-tokens.ts';

export type Missing = {
  mention: string;
  closest: string[];
  /** The one file that is certainly meant despite another spelling; null if there is none. */
  instead: string | null;
};

export type Mentions = {
  /** Names as the workspace has them, in the order of the text. */
  named: string[];
  missing: Missing[];
};

const maxListed = 2000;
const maxPlaces = 50;
const maxMissing = 10;
const maxClosest = 3;
const maxNameChars = 255;
const minWordChars = 4;
const extensions = new Set(
  'csv tsv tab psv json jsonl ndjson geojson xlsx xls ods docx doc odt pdf md markdown txt text log html htm xml yaml yml parquet sqlite zip png jpg jpeg svg gif eml rtf pptx'.split(
    ' ',
  ),
);
const genericStems = new Set('report summary analysis data file table list text document output chart result results task'.split(' '));
const fileNouns = new Set(
  'file files table tables document documents sheet spreadsheet csv json tsv log text datei dateien tabelle dokument'.split(' '),
);
const stemLeads = new Set(
  'summarise summarize summarising read analyse analyze profile review compare open in of from between use with and vs versus fasse lies analysiere vergleiche explain describe'.split(
    ' ',
  ),
);
const determiners = new Set('the our my this these that attached uploaded die der das den unsere meine'.split(' '));
const kindWords: Readonly<Record<string, readonly string[]>> = {
  csv: ['csv'],
  csvs: ['csv'],
  tsv: ['tsv'],
  json: ['json', 'jsonl', 'ndjson'],
  jsonl: ['jsonl', 'ndjson'],
  ndjson: ['jsonl', 'ndjson'],
  pdf: ['pdf'],
  pdfs: ['pdf'],
  markdown: ['md', 'markdown'],
  docx: ['docx'],
  xlsx: ['xlsx'],
  excel: ['xlsx', 'xls'],
  spreadsheet: ['xlsx', 'csv', 'tsv'],
  spreadsheets: ['xlsx', 'csv', 'tsv'],
  log: ['log'],
  logs: ['log'],
};
const kindLeads = new Set(
  'the both all these this that my our attached uploaded two three every each die der das den beide beiden alle'.split(' '),
);
const outputVerbs = new Set(
  'write create produce generate make save export output draw build put store deliver convert turn schreibe erstelle speichere'.split(' '),
);
const outputFillers = new Set(
  'a an the new file called named as to into in one single report summary analysis results findings markdown it me them everything your eine einen neue datei'.split(
    ' ',
  ),
);
const outputLeads = new Set('as into called named als namens'.split(' '));

export function findMentions(written: string, listedNames: readonly string[]): Mentions {
  const text = written.normalize('NFC');
  const listed = listedNames.slice(0, maxListed);
  const tokens = readTokens(text);
  const places = namedPlaces(text, tokens, listed);
  const missing = missingNames(text, tokens, listed, places);
  const stems = stemPlaces(text, tokens, listed, places);
  const named = [...places, ...stems].sort((a, b) => a.start - b.start).map(({ name }) => name);
  if (named.length === 0) named.push(...describedFiles(tokens, listed));
  if (named.length > 0) named.push(...filesWithWord(tokens, listed));
  return { named: [...new Set(named)], missing };
}

/** One sentence per missing file, with the similar existing ones. */
export function describeMissing({ mention, closest, instead }: Missing, listed: readonly string[]): string {
  const there =
    listed.length === 0
      ? 'The workspace is empty.'
      : `The workspace holds ${listed.slice(0, 10).join(', ')}${listed.length > 10 ? ` and ${listed.length - 10} more` : ''}.`;
  const near = closest.length === 0 ? '' : ` The closest ${closest.length === 1 ? 'name is' : 'names are'} ${closest.join(', ')}.`;
  return `There is no ${mention} in the workspace.${near} ${instead === null ? there : `${instead} was read instead.`}`;
}

/** Names with a known extension in a text, whether the files exist or not; not those of files to be written. */
export function fileNamesIn(text: string): string[] {
  const tokens = readTokens(text);
  return [...new Set(tokens.flatMap((token, i) => (isFileToken(token) && !isOutput(tokens, i) ? [token.text] : [])))];
}

type Place = { name: string; start: number; end: number };

function namedPlaces(text: string, tokens: readonly Token[], listed: readonly string[]): Place[] {
  const hay = text.toLowerCase();
  // Some letters get longer in lower case; positions would then be wrong.
  const search = hay.length === text.length ? hay : text;
  const outputs = new Set(
    tokens.flatMap((token, i) => (isFileToken(token) && isOutput(tokens, i) && !isTaken(tokens, i, listed) ? [token.start] : [])),
  );
  const places: Place[] = [];
  const used = new Uint8Array(search.length);
  // The longest name first: "old sales.csv" is not sales.csv.
  for (const name of listed.toSorted((a, b) => b.length - a.length)) {
    const needle = name.normalize('NFC').toLowerCase();
    let at = search.indexOf(needle);
    for (let tries = 0; at !== -1 && tries < maxPlaces; tries++, at = search.indexOf(needle, at + 1)) {
      const end = at + needle.length;
      if (used[at] === 1 || !isWhole(text, at, end)) continue;
      used.fill(1, at, end);
      if (!outputs.has(at) && !outputs.has(at - 1)) places.push({ name, start: at, end });
    }
  }
  // Of names that differ only in case, the exact spelling is meant.
  return places.filter(({ name, start, end }) => {
    const exact = text.slice(start, end);
    return name.normalize('NFC') === exact || !listed.some((other) => other.normalize('NFC') === exact);
  });
}

/** Whether a name is a whole word here, not a part of a longer word or name. */
function isWhole(text: string, start: number, end: number): boolean {
  const before = text[start - 1];
  const after = text[end];
  if (before !== undefined && (isJoined(before, text[start]!) || '-.@/'.includes(before)) && !(before === '-' && isBlank(text[start - 2])))
    return false;
  if (after === undefined) return true;
  if (after === '.' || after === '-') return !isWordChar(text[end + 1] ?? ' ') || after === '-';
  return !isJoined(text[end - 1]!, after) && after !== '@';
}

/** Scripts without spaces between words have no word boundaries. */
function isJoined(first: string, second: string): boolean {
  const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u;
  return isWordChar(first) && isWordChar(second) && !unspaced.test(first) && !unspaced.test(second);
}

function isBlank(char: string | undefined): boolean {
  return char === undefined || char === ' ' || char === '\n';
}

function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot < 1 ? '' : name.slice(dot + 1).toLowerCase();
}

function stemOf(name: string): string {
  const extension = extensionOf(name);
  return extensions.has(extension) ? name.slice(0, name.length - extension.length - 1) : name;
}

/** "board minutes 2024-03" for board_minutes_2024-03.md: case and separators do not matter. */
function plain(name: string): string {
  return name
    .normalize('NFC')
    .toLowerCase()
    .slice(0, maxNameChars)
    .split(/[\s_.-]+/)
    .filter((part) => part !== '')
    .join(' ');
}

function stemPlaces(text: string, tokens: readonly Token[], listed: readonly string[], places: readonly Place[]): Place[] {
  const stems = new Map<string, string[]>();
  for (const name of listed) {
    const stem = plain(stemOf(name));
    if (stem.length >= 3 && !genericStems.has(stem)) stems.set(stem, [...(stems.get(stem) ?? []), name]);
  }
  const found: Place[] = [];
  const isUsed = (at: number) => places.some(({ start, end }) => at >= start && at < end);
  const longest = 6;
  for (let i = 0; i < tokens.length && found.length < maxPlaces; i++) {
    const token = tokens[i]!;
    if (token.kind === 'break' || token.kind === 'mark' || isUsed(token.start)) continue;
    for (let to = Math.min(tokens.length, i + longest); to > i; to--) {
      const last = tokens[to - 1]!;
      if (last.end - token.start > maxNameChars || last.kind === 'break') continue;
      const written = to === i + 1 ? token.text : text.slice(token.start, last.end);
      const names = stems.get(plain(written));
      if (names === undefined) continue;
      const isSpecific = token.kind === 'quoted' || /[\d_-]/.test(written) || to > i + 1;
      if (!isSpecific && !isStemMarked(tokens, i, to, places)) continue;
      for (const name of names) found.push({ name, start: token.start, end: last.end });
      i = to - 1;
      break;
    }
  }
  return found;
}

/** "the sales file", "summarise the minutes", "a.csv and b": a plain word counts as a file's name only with such a marker. */
function isStemMarked(tokens: readonly Token[], i: number, to: number, places: readonly Place[]): boolean {
  if (fileNouns.has(tokens[to]?.lower ?? '')) return true;
  let before = i - 1;
  if (determiners.has(tokens[before]?.lower ?? '')) before--;
  const lead = tokens[before];
  if (lead === undefined || (lead.lower !== ',' && !stemLeads.has(lead.lower))) return false;
  const joint =
    lead.lower === ',' ||
    lead.lower === 'and' ||
    lead.lower === 'with' ||
    lead.lower === 'of' ||
    lead.lower === 'from' ||
    lead.lower === 'in';
  // Within a list another file must be next to it.
  return !joint || places.length > 0 || determiners.has(tokens[i - 1]?.lower ?? '');
}

function describedFiles(tokens: readonly Token[], listed: readonly string[]): string[] {
  const found: string[] = [];
  tokens.slice(0, 4000).forEach(({ lower }, i) => {
    const kinds = Object.hasOwn(kindWords, lower)
      ? kindWords[lower]!
      : lower === 'text' && fileNouns.has(tokens[i + 1]?.lower ?? '')
        ? ['txt', 'md']
        : null;
    if (kinds === null) return;
    const before = tokens[i - 1]?.lower ?? '';
    if (!kindLeads.has(before) && !fileNouns.has(tokens[i + 1]?.lower ?? '') && !lower.endsWith('s')) return;
    if (outputLeads.has(before) || ['as', 'into', 'to', 'a'].includes(before) || isOutput(tokens, i)) return;
    for (const name of listed) if (kinds.includes(extensionOf(name)) && found.length < maxPlaces) found.push(name);
  });
  return found;
}

/** Beside files that are named also "the minutes", if only one name has that word: without named files all are read. */
function filesWithWord(tokens: readonly Token[], listed: readonly string[]): string[] {
  const byWord = new Map<string, string | null>();
  for (const name of listed)
    for (const word of new Set(plain(stemOf(name)).split(' ')))
      if (word.length >= minWordChars && !genericStems.has(word) && !outputFillers.has(word))
        byWord.set(word, byWord.has(word) ? null : name);
  return tokens.slice(0, 4000).flatMap(({ kind, lower }, i) => {
    const isMeant = kind === 'word' && determiners.has(tokens[i - 1]?.lower ?? '') && !isOutput(tokens, i);
    return (isMeant ? byWord.get(lower) : null) ?? [];
  });
}

function isFileToken({ kind, text }: Token): boolean {
  if ((kind !== 'word' && kind !== 'quoted') || text.length > maxNameChars || text.includes('\n')) return false;
  const extension = extensionOf(text);
  return extensions.has(extension) && !text.includes('/');
}

/** "put a.csv and b.csv together", "convert a.csv": an existing file after a verb that takes one. */
function isTaken(tokens: readonly Token[], i: number, listed: readonly string[]): boolean {
  const before = tokens[i - 1]?.lower ?? '';
  const verb = ['the', 'our', 'my', 'file', 'files'].includes(before) ? (tokens[i - 2]?.lower ?? '') : before;
  return ['put', 'turn', 'convert'].includes(verb) && listed.some((name) => name.toLowerCase() === tokens[i]!.lower);
}

/** Whether a name is that of a file to be written. */
function isOutput(tokens: readonly Token[], i: number): boolean {
  const from = sentenceStart(tokens, i, 12);
  if (outputLeads.has(tokens[i - 1]?.lower ?? '')) return true;
  let at = i - 1;
  while (at >= from && at >= i - 8 && outputFillers.has(tokens[at]!.lower)) at--;
  if (at >= from && outputVerbs.has(tokens[at]!.lower)) return true;
  if (tokens[i - 1]?.lower !== 'to' && tokens[i - 1]?.lower !== 'in') return false;
  return tokens
    .slice(from, i)
    .some(({ lower }) => ['write', 'save', 'export', 'convert', 'store', 'schreibe', 'speichere'].includes(lower));
}

function missingNames(text: string, tokens: readonly Token[], listed: readonly string[], places: readonly Place[]): Missing[] {
  const missing = new Map<string, Missing>();
  const known = new Set(listed.map((name) => name.normalize('NFC').toLowerCase()));
  for (let i = 0; i < tokens.length && missing.size < maxMissing; i++) {
    const token = tokens[i]!;
    if (!isFileToken(token) || isOutput(tokens, i)) continue;
    if (known.has(token.lower) || places.some(({ start, end }) => start < token.end && end > token.start)) continue;
    // "in Node.js" and similar names are not files; neither is a bare ".csv".
    const mention = token.kind === 'quoted' ? token.text.trim() : text.slice(token.start, token.end);
    if (!missing.has(mention.toLowerCase())) missing.set(mention.toLowerCase(), closestTo(mention, listed));
  }
  return [...missing.values()];
}

function closestTo(mention: string, listed: readonly string[]): Missing {
  const wanted = plain(stemOf(mention)).slice(0, 64);
  const rated = listed
    .slice(0, 300)
    .map((name) => ({ name, distance: distanceOf(wanted, plain(stemOf(name)).slice(0, 64)) }))
    .filter(
      ({ name, distance }) =>
        distance <= Math.max(2, wanted.length / 3) ||
        plain(name).includes(wanted) ||
        (plain(stemOf(name)).length >= 4 && wanted.includes(plain(stemOf(name)))),
    )
    .toSorted((a, b) => a.distance - b.distance);
  const [first, second] = rated;
  const certain =
    first !== undefined && first.distance <= (wanted.length >= 5 ? 2 : 0) && (second === undefined || second.distance > first.distance);
  return { mention, closest: rated.slice(0, maxClosest).map(({ name }) => name), instead: certain ? first.name : null };
}

/** Edit distance: letters to change, add, drop or swap. Both texts have at most 64 characters. */
function distanceOf(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => [i, ...new Array<number>(b.length).fill(0)]);
  for (let j = 0; j <= b.length; j++) rows[0]![j] = j;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(rows[i - 1]![j]! + 1, rows[i]![j - 1]! + 1, rows[i - 1]![j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, rows[i - 2]![j - 2]! + 1);
      rows[i]![j] = least;
    }
  }
  return rows[a.length]![b.length]!;
}
