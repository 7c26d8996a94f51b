/** Splits a text into its units: headings, list items, fields, spoken lines, table rows and sentences, each with its line. One pass. */
import { collapseWhitespace } from '../prompt-tokens.ts';
import { sentencesOf } from '../sentences.ts';
import { findDates } from './dates.ts';
import { entryLines, stampOf } from './log-stamps.ts';
import { isFirstName } from './names.ts';
import { sectionOf } from './text-kind.ts';

export type UnitKind = 'heading' | 'item' | 'field' | 'speech' | 'row' | 'quote' | 'code' | 'sentence';
export type Unit = {
  kind: UnitKind;
  /** As written, with normalised white space and without list marker, key or speaker. */
  text: string;
  /** 1 is the first line of the text. */
  line: number;
  /** The nearest heading above; empty if there is none. */
  section: string;
  /** The speaker, or the key of a field. */
  key: string;
  /** For a table's row: cells by the names of the header. */
  cells: [string, string][];
  /** A ticked box. */
  checked: boolean;
};

const maxLineChars = 20_000;
const maxHeadingChars = 70;
const maxKeyChars = 40;

/** Keys that are fields although they look like the name of a speaker. */
const fieldKeys = new Set(
  (
    'in attendance|attended by|date|time|place|location|venue|room|present|attendees|attending|participants|apologies|absent|regrets|chair|minutes|minute taker|note taker|notes|note|from|to|cc|bcc|subject|sent|reply-to|' +
    'lieu|heure|présents|présentes|participants|excusés|excusées|absents|président|présidente|secrétaire|ordre du jour|prochaine réunion|décision|fecha|lugar|hora|asistentes|presentes|ausentes|excusados|presidente|presidenta|secretario|secretaria|próxima reunión|decisión|acuerdo|tarea|data|luogo|ora|presenti|partecipanti|assenti|segretario|segretaria|verbalista|prossima riunione|decisione|' +
    'datum|ort|zeit|uhrzeit|teilnehmer|teilnehmende|teilnehmerinnen|anwesend|entschuldigt|abwesend|protokoll|protokollant|leitung|moderation|vorsitz|von|an|betreff|gesendet|' +
    'decision|decisions|beschluss|entscheidung|abstimmung|abstimmungsergebnis|scrutin|votación|votazione|action|actions|action item|aufgabe|todo|to do|task|owner|due|deadline|frist|next meeting|next sync|next call|next session|next review|next check-in|next standup|next retro|next date|next steering|nächster jour fixe|nächstes meeting|nächstes treffen|nächster termin|nächste sitzung|status|version|author|' +
    'severity|duration|impact|root cause|summary|question|q|a|risk|agreed|resolved|motion|vote|result|priority|budget|total|subtotal|url|web|website|tel|phone|fax|email|e-mail|re|ps|p.s|fyi|ai|impact|cause|lesson|yesterday|today|blockers|blocked|gestern|heute|offen|warning|info|error|debug|example|https|http'
  ).split('|'),
);
/** Lines that are headings without a mark. */
const bareHeadings = new Set(
  (
    'decisions|actions|action items|action points|next steps|to do|todo|to-do|tasks|attendees|participants|present|apologies|open questions|open issues|questions|risks|agenda|notes|summary|background|conclusion|' +
    'any other business|aob|beschlüsse|aufgaben|maßnahmen|nächste schritte|teilnehmer|offene fragen|offene punkte|tagesordnung|added|changed|fixed|removed|deprecated|security|timeline|impact|root cause|installation|usage|license'
  ).split('|'),
);

/** What the next line may go on with. `quoted`: the depth of a quotation. */
type Open = { words: string[]; line: number; unit: Unit | null; stamp?: string; indent?: boolean; quoted?: number };

export function readUnits(text: string): Unit[] {
  const lines = text.split('\n').map((line) => line.slice(0, maxLineChars).trimEnd());
  const speakers = repeatedKeys(lines);
  const entries = entryLines(lines, (line) => isSpoken(line, speakers));
  const units: Unit[] = [];
  let section = '';
  let header: string[] | null = null;
  let code = false;
  let open = null as Open | null;
  const add = (kind: UnitKind, written: string, line: number, more: Partial<Unit> = {}): Unit => {
    const unit: Unit = { kind, text: collapseWhitespace(written), line, section, key: '', cells: [], checked: false, ...more };
    units.push(unit);
    return unit;
  };
  const close = () => {
    if (open === null) return;
    const { stamp } = open;
    if (open.quoted !== undefined) {
      const quoted = isBlockOfLines(open.words)
        ? open.words.map((words, i): [string, number] => [words, open!.line + i])
        : placed(open.words, open.line);
      for (const [sentence, line] of quoted) add('quote', sentence, line);
    } else if (stamp !== undefined) {
      // The points of a date end no sentence.
      const sentences = placed(open.words, open.line);
      for (const [j, [sentence, line]] of sentences.entries()) add('sentence', j === 0 ? `${stamp}${sentence}` : sentence, line);
    } else if (open.unit !== null) open.unit.text = collapseWhitespace(open.words.join(' '));
    else if (isPlainList(open.words, section)) open.words.forEach((words, i) => add('item', words, open!.line + i));
    else if (isBlockOfLines(open.words) || isAmountBlock(open.words) || (units.length === 0 && isTitleBlock(open.words)))
      open.words.forEach((words, i) => add('sentence', words, open!.line + i));
    else for (const [sentence, line] of placed(open.words, open.line)) add('sentence', sentence, line);
    open = null;
  };
  for (let i = 0; i < lines.length; i++) {
    const raw = lines[i]!;
    const words = raw.trim();
    const line = i + 1;
    if (words.startsWith('```')) {
      close();
      code = !code;
    } else if (code) {
      if (words !== '') add('code', words, line);
    } else if (words === '') {
      close();
      header = null;
    } else if (words.startsWith('|') && words.endsWith('|') && words.length > 2) {
      close();
      const cells = words
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim());
      if (cells.every((cell) => cell !== '' && [...cell].every((char) => char === '-' || char === ':'))) continue;
      if (header === null) header = cells;
      else add('row', cells.join(' | '), line, { cells: cells.map((cell, at) => [header![at] ?? '', cell]) });
    } else if (isRule(words)) close();
    else if (words.startsWith('>')) {
      const marks = /^[> ]{1,20}/.exec(words)![0];
      const rest = words.slice(marks.length);
      const depth = marks.replaceAll(' ', '').length;
      if (rest === '') close();
      else if (isHeaderLine(rest)) {
        close();
        add('quote', rest, line);
      } else if (open?.quoted === depth && itemOf(rest) === null) open.words.push(rest);
      else {
        close();
        open = { words: [rest], line, unit: null, quoted: depth };
      }
    } else if (entries.has(i) && itemOf(words) === null && !words.startsWith('#')) {
      // An entry of a logbook begins anew, whatever its words look like.
      close();
      const { rest } = entries.get(i)!;
      open = { words: [rest], line, unit: null, stamp: words.slice(0, words.length - rest.length) };
    } else {
      const heading = entries.size > 0 && isDayLine(words) ? clean(words) : headingOf(words, lines, i);
      if (heading !== null) {
        close();
        section = heading;
        add('heading', heading, line);
        continue;
      }
      const item = itemOf(words);
      const field = item === null ? keyed(words) : null;
      const indent = /^\s/.test(raw);
      if (open?.quoted !== undefined) close();
      if (item !== null) {
        close();
        const unit = add('item', item.text, line, { checked: item.checked });
        open = { words: [item.text], line, unit, indent };
      } else if (field !== null && (fieldKeys.has(field.key.toLowerCase()) || speakers.has(field.key) || isLabelled(lines, i, section))) {
        close();
        const spoken = speakers.has(field.key) && !fieldKeys.has(field.key.toLowerCase());
        // A message begins: the headings of the one before are not its own.
        if (/^(?:from|von)$/i.test(field.key)) section = '';
        const unit = add(spoken ? 'speech' : 'field', field.value, line, { key: field.key });
        open = { words: [field.value], line, unit };
      } else if (open !== null && continues(open, words, indent)) open.words.push(words);
      else {
        close();
        open = { words: [words], line, unit: null };
      }
    }
  }
  close();
  return units.filter(({ text: written }) => written !== '');
}

/** Whether a line without a mark of its own goes on with what is open. */
function continues({ unit, words: before, indent }: Open, words: string, isIndented: boolean): boolean {
  if (unit === null || isIndented || unit.kind === 'speech') return true;
  // After an indented item, a line at the margin is a new paragraph.
  if (unit.kind === 'item') return indent !== true;
  // A list of names or the count of a vote that needs a second line.
  return before.at(-1)!.endsWith(',') || voteLine.test(words);
}

const voteLine =
  /^\d{1,4} (?:ja|nein|dafür|dagegen|Stimmen|Ja-Stimmen|for|in favou?r|against|votes|pour|voix|a favor|a favore|voti)(?![\p{L}])/iu;
/** Headers of a quoted mail, and the line that names its author. */
const headerLine = /^(?:from|to|cc|date|sent|subject|von|an|datum|gesendet|betreff|de|à|objet): |(?:wrote|schrieb|a écrit)[^:]{0,80}:$/iu;

function isHeaderLine(words: string): boolean {
  return words.length <= 200 && headerLine.test(words);
}

/** Lines that each end in an amount in a column of its own: a bill. */
function isAmountBlock(words: readonly string[]): boolean {
  return words.length >= 2 && words.every((line) => /(?<! ) {2,30}[\d.,'’]{1,16}(?: ?(?:\p{Sc}|[A-Z]{3}))?$/u.test(line.slice(-40)));
}

/** "5 March" above the entries of that day. */
function isDayLine(words: string): boolean {
  const stamp = words.length > maxHeadingChars ? null : stampOf(words);
  return stamp !== null && stamp.date !== null && stamp.time === null && stamp.rest === '';
}

/** Whether a line of the text is a message of a chat, or a line of a transcript. */
export function spokenIn(lines: readonly string[]): (line: string) => boolean {
  const speakers = repeatedKeys(lines);
  return (line) => isSpoken(line, speakers);
}

function isSpoken(line: string, speakers: ReadonlySet<string>): boolean {
  return speakers.has(keyed(line.trim())?.key ?? '');
}

/** Keys that announce the kind of the following statement. */
const announcing =
  /^(?:open|offen|question|frage|offene|risk|risiko|blocker|issue|action|ai|todo|to.do|task|aufgabe|next step|decision|decided|beschluss|entscheid|motion|resol|agreed)/i;

/** One of several consecutive lines like "Price: 12 EUR": a field with any name, unless it is spoken or belongs to a list of actions. */
function isLabelled(lines: readonly string[], i: number, section: string): boolean {
  if (sectionOf(section) !== '') return false;
  const labelled = (line: string | undefined) => {
    const field = line === undefined || line.length > 200 ? null : keyed(line.trim());
    return (
      field !== null &&
      field.value !== '' &&
      /^\p{Lu}/u.test(field.key) &&
      !isFirstName(field.key.split(' ')[0]!) &&
      !announcing.test(field.key)
    );
  };
  return labelled(lines[i]) && (labelled(lines[i - 1]) || labelled(lines[i + 1]));
}

/** Short lines without sentence ends, each a new start: an address, a signature, a list without marks. */
function isBlockOfLines(words: readonly string[]): boolean {
  return words.length >= 2 && words.every((line) => line.length <= 45 && /^[\p{Lu}\p{N}]/u.test(line) && !/[.;:!?-]$/.test(line));
}

/** Lines at the top of a text that no sentence ends: the name of a club above its meeting. Each is a unit, with its own line. */
function isTitleBlock(words: readonly string[]): boolean {
  return words.length >= 2 && words.every((line) => line.length <= 120 && /^[\p{Lu}\p{N}]/u.test(line) && !/[.,;:!?-]$/.test(line));
}

/** Lines under "Action points" and similar headings are a list even without marks, if each begins with a capital. */
function isPlainList(words: readonly string[], section: string): boolean {
  const about = sectionOf(section);
  if (words.length < 2 || (about !== 'actions' && about !== 'decisions' && about !== 'questions')) return false;
  return words.every((line) => line.length <= 200 && /^[\p{Lu}\p{N}@"“„]/u.test(line));
}

/** Sentences of a paragraph with their first lines. */
function placed(words: readonly string[], first: number): [string, number][] {
  const squeezed = words.map(collapseWhitespace);
  const flat = squeezed.join(' ');
  const result: [string, number][] = [];
  let from = 0;
  let at = 0;
  let lineStart = 0;
  for (const sentence of sentencesOf(flat)) {
    const found = flat.indexOf(sentence, from);
    from = found + sentence.length;
    while (at + 1 < squeezed.length && lineStart + squeezed[at]!.length + 1 <= found) lineStart += squeezed[at++]!.length + 1;
    result.push([sentence, first + at]);
  }
  return result;
}

/** "Anna: …": the text before the colon if it may be a key, without a time before it. */
function keyed(words: string): { key: string; value: string } | null {
  const bare = words
    .replace(/^[[(]?(?:\d{1,4}[./-]\d{1,2}[./-]\d{2,4},? )?\d{1,2}:\d{2}(?::\d{2})?(?:\.\d{1,3})?(?: ?[AaPp][Mm])?[\])]?(?: ?[-–] ?| )/, '')
    .replace(/^\*\*([^*:]{1,40}):?\*\*:?/, '$1:');
  const colon = bare.indexOf(':');
  if (colon < 1 || colon > maxKeyChars + 12 || (bare[colon + 1] !== undefined && bare[colon + 1] !== ' ')) return null;
  const written = bare
    .slice(0, colon)
    .replace(/ ?[[(]\d{1,2}:\d{2}(?::\d{2})?[\])]$/, '')
    .trim();
  // "Present (with a vote): …"
  const plain = written.replace(/ \([^()]{1,40}\)$/, '');
  const key = fieldKeys.has(plain.toLowerCase()) ? plain : written;
  if (key === '' || key.length > maxKeyChars || key.split(' ').length > 4 || /[.!?;"]/.test(key)) return null;
  return { key, value: bare.slice(colon + 1).trim() };
}

/** What a line adds to an earlier one is no speaker. */
const remarks =
  /^(?:correction|addendum|addition|remark|korrektur|berichtigung|nachtrag|ergänzung|bemerkung|rectificatif|ajout|remarque)$/iu;
const dayAndTime = /^[[(]?\d{1,4}[./-]\d{1,2}[./-]\d{2,4},? \d{1,2}:\d{2}/;

/** Keys that look like names and occur at least twice, or behind a day and a time as in a chat: speakers. */
function repeatedKeys(lines: readonly string[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const line of lines) {
    const key = keyed(line.trim())?.key;
    if (
      key !== undefined &&
      !remarks.test(key) &&
      /^\p{Lu}[\p{L}'’.-]*(?: \p{Lu}[\p{L}'’.-]*){0,3}$/u.test(key) &&
      !fieldKeys.has(key.toLowerCase())
    )
      counts.set(key, (counts.get(key) ?? 0) + (dayAndTime.test(line.trim()) ? 2 : 1));
  }
  return new Set([...counts].filter(([, count]) => count > 1).map(([key]) => key));
}

function isRule(words: string): boolean {
  return words.length >= 3 && words.length < 200 && [...words].every((char) => char === words[0]) && '-=_*~'.includes(words[0]!);
}

function itemOf(words: string): { text: string; checked: boolean } | null {
  // "12. Juli": a day and a month.
  if (/^\d{1,2}\. \p{L}/u.test(words) && findDates(words.slice(0, 40))[0]?.index === 0) return null;
  const marker =
    /^(?:[-*•–+] |§ ?\d{1,3}[a-z]?[.:)]? |\d{1,3}[.)] |[a-z]\) |\((?:\d{1,2}|[a-z])\) )/.exec(words.slice(0, 8))?.[0].length ?? 0;
  const rest = words.slice(marker);
  const box = /^\[([ xX✓])\] /.exec(rest.slice(0, 5));
  if (marker === 0 && box === null) return null;
  return { text: rest.slice(box?.[0].length ?? 0).trim(), checked: box !== null && box[1] !== ' ' };
}

function headingOf(words: string, lines: readonly string[], i: number): string | null {
  if (words.length > 200) return null;
  const [before, next, afterNext] = [lines[i - 1]?.trim() ?? '', lines[i + 1]?.trim() ?? '', lines[i + 2]?.trim() ?? ''];
  const hashes = /^#{1,6} /.exec(words.slice(0, 8));
  if (hashes !== null) return clean(words.slice(hashes[0].length));
  if (words.length > maxHeadingChars) return null;
  const lower = clean(words).toLowerCase();
  if (bareHeadings.has(lower)) return clean(words);
  // "TOP 3 Budget": an item of an agenda, also without a blank line above.
  if (
    /^(?:TOP|Agenda item|Item|Punkt) \d{1,2}[a-z]?\b/.test(words) &&
    !/[.!?;,]$/.test(words) &&
    words.split(' ').length <= 9 &&
    next !== ''
  )
    return clean(words);
  if (words.startsWith('**') && words.endsWith('**') && words.length > 4) return clean(words);
  if (before === '' && /^(?:={3,}|-{3,})$/.test(next.slice(0, 100)) && !words.includes(':')) return clean(words);
  // "--- for reference ---"
  if (words.startsWith('---') && words.endsWith('---') && /[\p{L}]/u.test(words))
    return clean(words.replace(/^-{3,120}/, '').replace(/(?<!-)-{3,120}$/, ''));
  if (words.endsWith(':') && words.split(' ').length <= 7 && !/[.,;!?]/.test(words) && next !== '' && !/^\d/.test(words))
    return clean(words);
  const letters = words.replace(/[^\p{L}]/gu, '');
  if (
    letters.length >= 4 &&
    letters === letters.toUpperCase() &&
    letters !== letters.toLowerCase() &&
    words.split(' ').length <= 8 &&
    !/[:.,]$/.test(words)
  )
    return clean(words);
  if (!/[.!?,;:]$/.test(words) && words.split(' ').length <= 8 && itemOf(words) === null && before === '') {
    // The first line above a blank line or fields is a title; a short line above a full sentence or a list is a heading.
    const isFirst = lines.slice(0, i).every((line) => line.trim() === '');
    if (isFirst && keyed(words) === null && (next === '' ? afterNext !== '' : fieldKeys.has(keyed(next)?.key.toLowerCase() ?? '')))
      return clean(words);
    if (keyed(words) === null || /^TOP \d/.test(words))
      if (next.length > words.length && /[.!?]["”)]?$/.test(next.slice(-3)) && /^[\p{Lu}\p{N}"„“]/u.test(next)) return clean(words);
    if (keyed(words) === null && itemOf(next) !== null && /^[-*•–+] /.test(next) && !/^(?:\p{Ll})/u.test(words) && next !== '')
      return clean(words);
  }
  // "3. Budget" above a paragraph; among other numbered lines it is a list item, and "3 May" is a day.
  const numbered = isDayLine(words) ? null : /^\d{1,2}(?:\.\d{1,2})*[.)]? (?=\p{Lu})/u.exec(words.slice(0, 14));
  if (
    numbered !== null &&
    !/[.;:!?,]$/.test(words) &&
    words.split(' ').length <= 7 &&
    !/^\d{1,3}[.)] /.test(next || afterNext) &&
    !/^\d{1,3}[.)] /.test(before) &&
    (next !== '' || afterNext !== '')
  )
    return clean(words.slice(numbered[0].length));
  return null;
}

function clean(heading: string): string {
  return heading
    .replaceAll('**', '')
    .replace(/[#: ]{1,8}$/, '')
    .replace(/^[ :]{1,4}/, '')
    .trim();
}
