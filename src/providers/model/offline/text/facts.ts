/**
 * Facts of a text, found by rules and quoted with their line: decisions, actions, questions, dates, figures, people, places. Nothing is
 * inferred.
 */

import { readTokens } from '../prompt-tokens.ts';
import { sentencesOf } from '../sentences.ts';
import { addChat, firstDay, readChat } from './chat.ts';
import { contradictionsIn } from './contradictions.ts';
import { dated, dayOf, deadlines, ownDate, relativeTo } from './date-facts.ts';
import { type FoundDate, findDates, findDeadline } from './dates.ts';
import { type Difference, differencesIn } from './differences.ts';
import { add, addOnce, maxEach } from './fact-list.ts';
import { figuresIn } from './figures-in-text.ts';
import { type LogFacts, readLog } from './log-facts.ts';
import { announces, type Message, readMessages, senderName, writerOf } from './messages.ts';
import { type Passage, passagesOf, withContext, withPerson, withReasons, withSubject } from './passages.ts';
import { namesAndQuotes, people, presentIn } from './people-facts.ts';
import { Durations } from './questions/durations.ts';
import {
  type Action,
  actionOf,
  agreedAction,
  clauseAction,
  dueAction,
  isPending,
  listedAction,
  namedAction,
  presentAction,
  presentTask,
  statementOf,
  unownedAction,
} from './statements.ts';
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
  /** The people on the list of those present, where it has no guests. */
  present: { count: number; line: number } | null;
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
  /** Statements that do not fit together, or not with the figures they rest on. */
  contradictions: Quote[];
  /** What follows from two figures of one sentence: a change, or income less spending. */
  differences: Difference[];
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
    present: presentIn(units),
    absent: [],
    otherNames: [],
    spoken: [],
    entries: [],
    commands: [],
    speakers: speakersOf(units),
    fields: units
      .flatMap(({ kind: unit, key, text, line }) => (unit === 'field' ? [{ key, text: fieldValue(key, text), line }] : []))
      .slice(0, maxEach),
    messages: kind === 'e-mail' ? readMessages(units) : kind === 'transcript' ? readChat(text) : [],
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
    contradictions: [],
    differences: [],
    log,
  };
  if (kind !== 'log') collect(facts, units);
  if (facts.messages.length > 0 && kind === 'transcript') addChat(facts, units);
  if (kind === 'prose' || kind === 'minutes' || kind === 'timeline' || kind === 'incident' || kind === 'contract' || kind === 'e-mail')
    namesAndQuotes(facts, units, text);
  if (kind !== 'log') entries(facts, units);
  for (const unit of units.slice(0, 20_000)) contacts(facts, unit);
  if (kind !== 'log') relate(facts, passagesOf(units));
  return facts;
}

/** "Next meeting: 8 April, clubhouse. The meeting closed at 21:10.": only the first sentence is on the next meeting. */
function fieldValue(key: string, text: string): string {
  return /^(?:next|nächste[rs]?) /i.test(key) ? (sentencesOf(text.slice(0, 2000))[0] ?? text) : text;
}

/** What needs several sentences: contradictions, and statements whose subject stands in the sentence before. */
function relate(facts: TextFacts, passages: readonly Passage[]): void {
  const placed = new Map(passages.map((passage) => [`${passage.line} ${passage.text}`, passage]));
  const complete = <Told extends Quote>(told: Told, context: (passage: Passage) => Quote): Told => {
    const passage = placed.get(`${told.line} ${told.text}`);
    return passage === undefined ? told : { ...told, ...context(passage) };
  };
  facts.decisions = facts.decisions.map((quote) => complete(quote, (passage) => withReasons(passage, passages)));
  facts.undecided = facts.undecided.map((quote) => complete(quote, (passage) => withContext(passage)));
  // The line of a task stays that of its own sentence.
  facts.actions = facts.actions.map((action) => ({
    ...action,
    what: complete({ text: action.what, line: action.line }, (passage) =>
      passage.kind === 'sentence' ? withContext(passage, true) : withSubject(passage),
    ).text,
  }));
  const names = facts.people.map(({ text }) => text);
  const named = (quote: Quote): Quote => {
    const passage = placed.get(`${quote.line} ${quote.text}`);
    return passage === undefined ? quote : { ...quote, text: withPerson(passage, names) };
  };
  const questions = facts.questions.map((quote) => {
    const told = named(quote);
    return told.text === quote.text ? complete(quote, (passage) => withContext(passage)) : told;
  });
  facts.questions = questions.filter(({ text }) => !questions.some((other) => other.text !== text && other.text.startsWith(`${text} `)));
  const year = facts.date?.iso?.slice(0, 4) ?? null;
  facts.differences = differencesIn(passages).slice(0, maxEach);
  facts.contradictions = [...contradictionsIn(facts, passages), ...new Durations(passages, year).contradiction(passages)].slice(0, maxEach);
}

function collect(facts: TextFacts, units: readonly Unit[]): void {
  facts.date = facts.kind === 'changelog' || facts.kind === 'documentation' ? null : (ownDate(units) ?? firstDay(facts));
  const own = facts.date?.iso ?? null;
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
    dated(facts, unit);
    if (!repeated) deadlines(facts, unit);
    if (repeated) continue;
    for (const written of figuresIn(unit.text)) add(facts.figures, { written, text: unit.text, line: unit.line });
    if (facts.kind === 'changelog' || facts.kind === 'documentation') continue;
    if (previous !== null && withoutDeadline.test(unit.text.slice(0, 80))) undated(facts, previous);
    previous = unit.kind === 'sentence' ? unit : null;
    stated(
      facts,
      unit,
      facts.kind === 'e-mail' || unit.kind === 'speech' ? me : null,
      facts.kind === 'e-mail' ? to : unit.kind === 'speech' && facts.messages.length > 0 ? `the others, asked by ${me}` : null,
    );
  }
  facts.actions = facts.actions.map((action) => {
    if (action.date === null) {
      const counted = action.due === null ? null : relativeTo(facts, action.due, action.line);
      return { ...action, iso: counted?.iso ?? null, note: counted?.note ?? '' };
    }
    return { ...action, ...dayOf(action.date, facts, own !== null && !action.done) };
  });
  const names = new Map<string, Quote>();
  for (const person of facts.people) if (!names.has(person.text.toLowerCase())) names.set(person.text.toLowerCase(), person);
  facts.people = [...names.values()].slice(0, maxEach);
}

/** "(No deadline was set.)" after the sentence of an action. */
const withoutDeadline =
  /^\(?(?:no (?:deadline|due date|date) (?:was|is|has been) (?:yet )?(?:set|agreed|given|named)(?: yet)?|without (?:a )?deadline|ohne (?:frist|termin)|keine frist|kein termin|ein termin wurde (?:noch )?nicht (?:genannt|festgelegt|vereinbart))[.)]{0,2}$/i;

/** Whether the sentence before tells an action; it is added where it is not known yet. */
function undated(facts: TextFacts, { text, line }: Quote): boolean {
  const isKnown = facts.actions.some((known) => known.line === line && known.what === text);
  const found = isKnown ? null : presentAction(text, line, knownNames(facts));
  if (found !== null) add(facts.actions, { ...found, iso: null, note: '' });
  return isKnown || found !== null;
}

/** "I'll take care of the tickets. Needs to be done by 1 June": the deadline of the task before. */
function laterDeadline(facts: TextFacts, sentence: string, line: number): boolean {
  const last = facts.actions.at(-1);
  if (last === undefined || last.line !== line || last.due !== null) return false;
  const due = /^(?:(?:It|This|That) )?(?:[Nn]eeds|[Hh]as) to be (?:done|ready|paid|sent)|^(?:Deadline|Until|Bis|Muss bis)(?![\p{L}])/u.test(
    sentence,
  )
    ? findDeadline(sentence)
    : null;
  if (due === null) return false;
  facts.actions[facts.actions.length - 1] = { ...last, what: `${last.what} ${sentence}`, due: due.written, date: due.date };
  return true;
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
  for (const [i, sentence] of sentences.entries()) {
    if (i > 0 && withoutDeadline.test(sentence.slice(0, 80)) && undated(facts, { text: sentences[i - 1]!, line })) continue;
    if (i > 0 && laterDeadline(facts, sentence, line)) continue;
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
      if (facts.kind !== 'prose' || section === 'questions' || !/[?"“”„«»]/.test(text)) addOnce(facts.questions, quote);
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
      kind === null ||
      kind === 'undecided' ||
      (kind === 'question' && (me !== null || isPending(sentence))) ||
      (kind === 'decision' && section === 'actions');
    if (!may || section === 'actions' || key === 'actions' || section === 'decisions') continue;
    if (facts.kind === 'prose' || facts.kind === 'contract') continue;
    const found =
      actionOf(sentence, line, me, to) ??
      clauseAction(sentence, line, knownNames(facts)) ??
      (facts.kind === 'minutes' || facts.kind === 'timeline' ? dueAction(sentence, line, knownNames(facts)) : null) ??
      (facts.kind === 'minutes' || facts.kind === 'timeline' || facts.kind === 'incident'
        ? (namedAction(sentence, line) ?? presentTask(sentence, line, knownNames(facts)) ?? unownedAction(sentence, line))
        : null);
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
