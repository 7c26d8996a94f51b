/**
 * Facts of a text, found by rules and quoted with their line: decisions, actions, questions, dates, figures, people, places. Nothing is
 * inferred.
 */
import { readTokens } from '../prompt-tokens.ts';
import { sentencesOf } from '../sentences.ts';
import { type FoundDate, findDates, findDeadline, withYear } from './dates.ts';
import { add, addOnce, maxEach } from './fact-list.ts';
import { figuresIn } from './figures-in-text.ts';
import { type LogFacts, readLog } from './log-facts.ts';
import { announces, type Message, readMessages, senderName, writerOf } from './messages.ts';
import { namesAndQuotes, people } from './people-facts.ts';
import { relativeDate } from './relative-dates.ts';
import { type Action, actionOf, agreedAction, clauseAction, dueAction, listedAction, presentAction, statementOf } from './statements.ts';
import { kindOf, type Section, sectionOf, type TextKind } from './text-kind.ts';
import { readUnits, type Unit } from './units.ts';

export type Quote = { text: string; line: number };
export type DateFact = Quote & { written: string; iso: string | null; note: string };
export type FigureFact = Quote & { written: string };
export type TextFacts = {
  kind: TextKind;
  lines: number;
  headings: Quote[];
  /** The text's own date and its line. */
  date: DateFact | null;
  people: Quote[];
  absent: Quote[];
  /** Capitalised names of an English text that are not known people. */
  otherNames: Quote[];
  spoken: Quote[];
  /** List entries with the heading above them: of changelogs and documentation. */
  entries: (Quote & { section: string })[];
  commands: Quote[];
  speakers: { name: string; turns: number; words: number }[];
  fields: { key: string; text: string; line: number }[];
  /** For e-mails: each message of the thread. */
  messages: Message[];
  decisions: Quote[];
  undecided: Quote[];
  objections: Quote[];
  actions: (Action & { iso: string | null; note: string })[];
  questions: Quote[];
  risks: Quote[];
  obligations: Quote[];
  dates: DateFact[];
  figures: FigureFact[];
  addresses: Quote[];
  urls: Quote[];
  log: LogFacts | null;
};

export function readFacts(text: string): TextFacts {
  const units = readUnits(text);
  const lines = text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  const log = readLog(text);
  const kind = log === null ? kindOf(units, text) : 'log';
  const facts: TextFacts = {
    kind,
    lines,
    headings: units.filter((unit) => unit.kind === 'heading').slice(0, maxEach),
    date: null,
    people: [],
    absent: [],
    otherNames: [],
    spoken: [],
    entries: [],
    commands: [],
    speakers: speakersOf(units),
    fields: units
      .flatMap(({ kind: unit, key, text: value, line }) => (unit === 'field' ? [{ key, text: value, line }] : []))
      .slice(0, maxEach),
    messages: kind === 'e-mail' ? readMessages(units) : [],
    decisions: [],
    undecided: [],
    objections: [],
    actions: [],
    questions: [],
    risks: [],
    obligations: [],
    dates: [],
    figures: [],
    addresses: [],
    urls: [],
    log,
  };
  if (kind !== 'log') collect(facts, units);
  if (kind === 'prose' || kind === 'minutes' || kind === 'timeline' || kind === 'contract' || kind === 'e-mail')
    namesAndQuotes(facts, units, text);
  if (kind !== 'log') entries(facts, units);
  for (const unit of units.slice(0, 20_000)) contacts(facts, unit);
  return facts;
}

function collect(facts: TextFacts, units: readonly Unit[]): void {
  facts.date = facts.kind === 'changelog' || facts.kind === 'documentation' ? null : ownDate(units);
  const year = facts.date?.iso === null || facts.date === null ? null : Number(facts.date.iso.slice(0, 4));
  const note = facts.date === null ? '' : `year taken from line ${facts.date.line}`;
  const seen = new Set<string>();
  let previous: Unit | null = null;
  let me: string | null = null;
  let to: string | null = null;
  for (const unit of units) {
    if (unit.kind === 'code' || unit.kind === 'heading') continue;
    if (unit.kind === 'field' && /^(?:from|von)$/i.test(unit.key)) me = senderName(unit.text);
    if (unit.kind === 'field' && /^(?:to|an)$/i.test(unit.key)) to = unit.text.length < 120 ? `recipient: ${unit.text}` : null;
    if (unit.kind === 'speech') me = unit.key;
    if (facts.kind === 'e-mail' && announces(unit)) {
      me = writerOf(unit.text);
      to = null;
      continue;
    }
    people(facts, unit);
    // A mail quotes an earlier one; each text is counted once.
    const repeated = seen.has(unit.text);
    seen.add(unit.text);
    dated(facts, unit, year, note);
    if (!repeated) deadlines(facts, unit);
    if (repeated) continue;
    for (const written of figuresIn(unit.text)) add(facts.figures, { written, text: unit.text, line: unit.line });
    if (facts.kind === 'changelog' || facts.kind === 'documentation') continue;
    if (previous !== null && withoutDeadline.test(unit.text.slice(0, 80))) undated(facts, previous);
    previous = unit.kind === 'sentence' ? unit : null;
    stated(facts, unit, facts.kind === 'e-mail' || unit.kind === 'speech' ? me : null, facts.kind === 'e-mail' ? to : null);
  }
  facts.actions = facts.actions.map((action) => {
    if (action.date === null) {
      const counted = action.due === null ? null : relativeTo(facts, action.due, action.line);
      return { ...action, iso: counted?.iso ?? null, note: counted?.note ?? '' };
    }
    const iso = withYear(action.date, year);
    return { ...action, iso, note: action.date.iso !== null ? '' : iso !== null ? note : action.date.note };
  });
  const names = new Map<string, Quote>();
  for (const person of facts.people) if (!names.has(person.text.toLowerCase())) names.set(person.text.toLowerCase(), person);
  facts.people = [...names.values()].slice(0, maxEach);
}

/** "(No deadline was set.)" after the sentence of an action. */
const withoutDeadline =
  /^\(?(?:no (?:deadline|due date|date) (?:was|is|has been) (?:yet )?(?:set|agreed|given|named)(?: yet)?|without (?:a )?deadline|ohne (?:frist|termin)|keine frist)[.)]{0,2}$/i;

function undated(facts: TextFacts, { text, line }: Unit): void {
  const found = presentAction(text, line, knownNames(facts));
  if (found === null || facts.actions.some((known) => known.line === line && known.what === text)) return;
  add(facts.actions, { ...found, iso: null, note: '' });
}

/** One sentence or item after the other: its own words first, then its section. */
function stated(facts: TextFacts, unit: Unit, me: string | null, to: string | null): void {
  const section = sectionOf(unit.section);
  const { line } = unit;
  if (section === 'people' || section === 'absent') return;
  const key = unit.kind === 'field' ? sectionOf(unit.key) : '';
  if (unit.kind === 'field' && (key === '' || key === 'people' || key === 'absent')) return;
  if (unit.kind === 'row') {
    row(facts, unit, section);
    return;
  }
  const sentences = sentencesIn(unit, section);
  for (const sentence of sentences) {
    const { kind, text } = statementOf(sentence, section === 'decisions');
    // An entry is quoted as a whole: its first sentence often names the subject.
    const quote = { text: unit.kind === 'item' && sentences.length > 1 ? unit.text : text, line };
    if (key === 'actions' || kind === 'action')
      add(facts.actions, { ...listedAction(text, line, unit.checked, knownNames(facts)), iso: null, note: '' });
    else if (kind === 'undecided') addOnce(facts.undecided, quote);
    else if (kind === 'objection') addOnce(facts.objections, quote);
    else if (kind === 'risk') addOnce(facts.risks, quote);
    else if (kind === 'question' && section !== 'actions') {
      // A spoken question in passing is not an open question of the text unless it is in such a section.
      if (facts.kind !== 'prose' || section === 'questions') addOnce(facts.questions, quote);
    } else if (section === 'past') continue;
    else if (kind === 'decision' && section !== 'actions' && section !== 'questions' && section !== 'risks') {
      if (facts.kind !== 'contract') addOnce(facts.decisions, quote);
    } else if (key === 'decisions' || (section === 'decisions' && (unit.kind === 'item' || unit.kind === 'sentence'))) {
      const task = section === 'decisions' ? agreedAction(text, line, knownNames(facts)) : null;
      if (task !== null) add(facts.actions, { ...task, done: unit.checked, iso: null, note: '' });
      // "Agreed" is above tasks as often as above decisions; "Decisions" is not.
      if (task === null || !/^agreed|^vereinbart/i.test(unit.section)) addOnce(facts.decisions, quote);
    } else if (section === 'undecided') addOnce(facts.undecided, quote);
    else if (section === 'actions' && unit.kind === 'item')
      add(facts.actions, { ...listedAction(text, line, unit.checked, knownNames(facts)), iso: null, note: '' });
    else if (section === 'questions' || key === 'questions') addOnce(facts.questions, quote);
    else if (section === 'risks') addOnce(facts.risks, quote);
    else if (
      facts.kind === 'contract' &&
      /(?<![\p{L}])(?:shall|must|may not|is obliged|agrees to|undertakes|verpflichtet|hat zu|darf nicht)(?![\p{L}])/u.test(
        text.slice(0, 2000),
      )
    )
      add(facts.obligations, quote);
    const may =
      kind === null || kind === 'undecided' || (kind === 'question' && me !== null) || (kind === 'decision' && section === 'actions');
    if (!may || section === 'actions' || key === 'actions' || section === 'decisions') continue;
    if (facts.kind === 'prose' || facts.kind === 'contract') continue;
    const found =
      actionOf(sentence, line, me, to) ??
      clauseAction(sentence, line, knownNames(facts)) ??
      (facts.kind === 'minutes' || facts.kind === 'timeline' ? dueAction(sentence, line, knownNames(facts)) : null);
    if (found !== null) add(facts.actions, { ...found, done: unit.checked, iso: null, note: '' });
  }
}

/** Names of people found so far, with their first names. */
function knownNames({ people }: TextFacts): ReadonlySet<string> {
  return new Set(people.flatMap(({ text }) => [text.toLowerCase(), text.split(' ')[0]!.toLowerCase()]));
}

/** A row of a table with an owner or deadline column is an action. */
function row(facts: TextFacts, unit: Unit, section: Section): void {
  const cell = (names: RegExp) => unit.cells.find(([name]) => names.test(name))?.[1] ?? null;
  const who = cell(/^(?:owner|who|responsible|assignee|assigned to|wer|verantwortlich|zuständig)/i);
  const due = cell(/^(?:due|deadline|by when|when|until|date|bis|frist|termin|wann)/i);
  const what = cell(/^(?:action|task|what|item|aufgabe|maßnahme|was|todo|to do|description)/i);
  if (what === null || (who === null && section !== 'actions')) return;
  const date = due === null ? null : (findDates(due)[0] ?? null);
  const status = cell(/^(?:status|done|state|erledigt)/i) ?? '';
  add(facts.actions, {
    who: who === '' ? null : who,
    what,
    due: due === '' ? null : due,
    date,
    line: unit.line,
    done: /^(?:done|complete|closed|yes|x|✓|erledigt|ja)/i.test(status),
    iso: null,
    note: '',
  });
}

/** The sentences of speech and quotes, and of entries that are not themselves a single action, decision or question. */
function sentencesIn({ kind, text }: Unit, section: Section): string[] {
  if (kind === 'speech' || kind === 'quote') return readUnits(text.slice(0, 20_000)).map(({ text: sentence }) => sentence);
  if (kind !== 'item' || section !== '') return [text];
  const sentences = sentencesOf(text.slice(0, 20_000));
  return sentences.length === 0 ? [text] : sentences;
}

function speakersOf(units: readonly Unit[]): TextFacts['speakers'] {
  const speakers = new Map<string, { name: string; turns: number; words: number }>();
  for (const { kind, key, text } of units) {
    if (kind !== 'speech') continue;
    const known = speakers.get(key) ?? { name: key, turns: 0, words: 0 };
    known.turns++;
    known.words += text.split(' ').length;
    speakers.set(key, known);
  }
  return [...speakers.values()].slice(0, maxEach);
}

/** A date beside such words is not the date of the text. */
const about =
  /(?<![\p{L}])(?:starts?|starting|begins?|beginning|valid|until|effective|due|deadline|ends?|expires?|ab|gültig|läuft|beginnt|endet|bis|frist|start|\p{L}{0,15}beginn|soll|sollen|wird|will|planned|geplant)(?![\p{L}])/iu;

/** "Draft of 26 March 2025": what follows is the date of the text. */
const versionOf = /(?<![\p{L}])(?:draft|version|revision|status|entwurf|fassung|stand)(?: of| from| as of| dated| vom)?:? $/iu;
const eventChars = 60;
const gatheringWords = /minutes|meeting|session|report|letter|protokoll|sitzung|versammlung|bericht|treffen/i;

/** A sentence that tells what happened on a day: "On 3 May customers could not pay in the shop." */
function tellsEvent({ kind, text }: Unit): boolean {
  return kind === 'sentence' && text.length > eventChars && /^(?:on|am) /i.test(text) && !gatheringWords.test(text);
}

/** The date at the top of a text: of its version, of a field, of a heading, or of one of its first lines. */
function ownDate(units: readonly Unit[]): DateFact | null {
  const head = units.slice(0, 12);
  for (const { text, line } of head) {
    const date = findDates(text).find(({ iso, index }) => iso !== null && versionOf.test(text.slice(Math.max(0, index - 30), index)));
    if (date !== undefined && line <= 6) return { ...date, text, line };
  }
  const ordered = [
    ...head.filter(({ kind, key }) => kind === 'field' && /^(?:date|datum|sent|gesendet)$/i.test(key)),
    ...head.filter((unit) => {
      const { kind, text } = unit;
      return kind !== 'field' && kind !== 'speech' && text.length <= 120 && !about.test(text) && !tellsEvent(unit);
    }),
    ...head.filter(
      ({ kind, key, text }) =>
        kind === 'field' &&
        /^(?:time|when|meeting|zeit|wann|subject|betreff|sitzung|stand|as of|published|veröffentlicht|erstellt|created|updated|issued)/i.test(
          key,
        ) &&
        !about.test(text),
    ),
  ];
  for (const { text, line, key } of ordered) {
    if (/next meeting|nächste/i.test(text.slice(0, 60)) || (key === '' && line > 6)) continue;
    const date = findDates(text).find(({ iso }) => iso !== null);
    if (date !== undefined) return { ...date, text, line };
  }
  return null;
}

function dated(facts: TextFacts, unit: Unit, year: number | null, note: string): void {
  for (const date of findDates(unit.kind === 'field' ? `${unit.key}: ${unit.text}` : unit.text)) {
    const iso = withYear(date, year);
    add(facts.dates, {
      written: date.written,
      iso,
      note: date.iso !== null ? '' : iso !== null ? note : date.note,
      text: unit.kind === 'field' ? `${unit.key}: ${unit.text}` : unit.text,
      line: unit.line,
    });
  }
}

/** The date of "Friday" in a text with a known date: for a mail its own, otherwise the text's. */
function relativeTo({ kind, date, messages }: TextFacts, written: string, line: number): ReturnType<typeof relativeDate> {
  if (kind !== 'minutes' && kind !== 'timeline' && kind !== 'e-mail' && kind !== 'transcript') return null;
  const message = messages.findLast((each) => each.line <= line && each.iso !== null);
  if (message !== undefined && message.iso !== null) return relativeDate(written, message.iso, `${message.iso}, the day of the message`);
  return date === null || date.iso === null ? null : relativeDate(written, date.iso, `${date.iso}, line ${date.line}`);
}

/** "by next Tuesday" among the dates, if the day can be determined. */
function deadlines(facts: TextFacts, unit: Unit): void {
  const due = unit.kind === 'field' && sectionOf(unit.key) === '' ? null : findDeadline(unit.text);
  if (due === null || due.date !== null) return;
  const at = unit.text.indexOf(due.written);
  if (
    !/(?:by|before|until|till|latest|bis|spätestens|no later than)(?: (?:the|zum|den|dem|am|next|on))?:? $/i.test(
      unit.text.slice(Math.max(0, at - 24), at),
    )
  )
    return;
  const day = relativeTo(facts, due.written, unit.line);
  if (day !== null) add(facts.dates, { written: due.written, iso: day.iso, note: day.note, text: unit.text, line: unit.line });
}

/** List entries that no other part of the report shows. */
function entries(facts: TextFacts, units: readonly Unit[]): void {
  const { decisions, undecided, actions, questions, risks, people, absent, obligations } = facts;
  const listed = new Set(
    [decisions, undecided, actions, questions, risks, people, absent, obligations].flatMap((list) => list.map(({ line }) => line)),
  );
  let version = '';
  for (const { kind, text, line, section } of units) {
    if (kind === 'heading' && /^\[?(?:v?\d{1,4}\.\d|unreleased)/i.test(text)) version = text;
    if (kind === 'item' && !listed.has(line))
      add(facts.entries, { text, line, section: version === '' || version === section ? section : `${version}: ${section}` });
    if (kind === 'code') add(facts.commands, { text, line });
  }
}

function contacts(facts: TextFacts, { text, line }: Unit): void {
  if (!text.includes('@') && !text.includes('://')) return;
  for (const token of readTokens(text)) {
    const list = token.kind === 'address' ? facts.addresses : token.kind === 'url' ? facts.urls : null;
    if (list !== null && !list.some((known) => known.text === token.text)) add(list, { text: token.text, line });
  }
}

export type { Action, FoundDate, TextKind };
