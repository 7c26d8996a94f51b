/**
 * Facts of a text, found by rules and quoted with their line: decisions, actions, questions, dates, figures, people, places. Nothing is
 * inferred.
 */

import { readTokens } from '../prompt-tokens.ts';
import { sentencesOf } from '../sentences.ts';
import { type Action, requestedList } from './actions.ts';
import { addChat, firstDay, readChat } from './chat.ts';
import type { Handover, Replaced } from './chat-changes.ts';
import { contradictionsIn } from './contradictions.ts';
import { dated, dayOf, deadlines, ownDate, relativeTo, yearsIn } from './date-facts.ts';
import type { FoundDate } from './dates.ts';
import { type Difference, differencesIn } from './differences.ts';
import { add, maxEach, maxFigures } from './fact-list.ts';
import { figuresIn } from './figures-in-text.ts';
import { type LogFacts, readLog } from './log-facts.ts';
import { stampOf } from './log-stamps.ts';
import { type Logbook, readLogbook } from './logbook.ts';
import { announces, type Message, readMessages, senderName, withoutAnswered, withPassed, writerOf } from './messages.ts';
import { type Passage, passagesOf, withContext, withPerson, withReasons, withSubject } from './passages.ts';
import { namesAndQuotes, people, presentIn } from './people-facts.ts';
import { Durations } from './questions/durations.ts';
import { stated, undated, withoutDeadline } from './stated-facts.ts';
import { stemsInCommon, stemsOf } from './stem.ts';
import { type Superseded, supersededIn } from './superseded.ts';
import { kindOf, type TextKind } from './text-kind.ts';
import { readUnits, spokenIn, type Unit } from './units.ts';

export type Quote = { text: string; line: number };
export type DateFact = Quote & { written: string; iso: string | null; note: string };
export type FigureFact = Quote & { written: string };
export type TextFacts = {
  kind: TextKind;
  lines: number;
  headings: Quote[];
  /** The name of the file; empty if it has none. */
  name: string;
  /** The years of its full dates, each with its first line. */
  years: { year: string; line: number }[];
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
  /** Of a chat: decisions that do not hold any more, and who took a task over. */
  replaced: Replaced[];
  /** Days and amounts that a later sentence replaces. */
  superseded: Superseded[];
  handovers: Handover[];
  undecided: Quote[];
  objections: Quote[];
  actions: (Action & { iso: string | null; note: string })[];
  questions: Quote[];
  risks: Quote[];
  /** Headings and lines that say that they are confidential. */
  confidential: Quote[];
  /** What stands below such a heading. */
  withheld: Quote[];
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
  /** For a log that people keep: its entries. */
  logbook: Logbook | null;
};

export function readFacts(text: string, name = ''): TextFacts {
  const units = readUnits(text);
  const lines = text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  const log = readLog(text);
  const kind = log === null ? kindOf(units, text) : 'log';
  const facts: TextFacts = {
    kind,
    lines,
    headings: units.filter((unit) => unit.kind === 'heading').slice(0, maxEach),
    name,
    years: yearsIn(units),
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
    replaced: [],
    superseded: [],
    handovers: [],
    undecided: [],
    objections: [],
    actions: [],
    questions: [],
    risks: [],
    confidential: [],
    withheld: [],
    obligations: [],
    dates: [],
    figures: [],
    addresses: [],
    urls: [],
    contradictions: [],
    differences: [],
    log,
    logbook: null,
  };
  if (withEntries.has(kind))
    facts.logbook = readLogbook(
      text,
      ownDate(units)?.iso?.slice(0, 4) ?? /(?<!\d)(?:19|20)\d{2}(?!\d)/.exec(name)?.[0] ?? null,
      spokenIn(text.split('\n')),
    );
  if (kind !== 'log') collect(facts, units);
  if (facts.messages.length > 0 && kind === 'transcript') addChat(facts, units);
  if (kind === 'e-mail') facts.actions = withPassed(withoutAnswered(facts.actions, facts.messages), facts.messages);
  if (kind === 'prose' || kind === 'minutes' || kind === 'timeline' || kind === 'incident' || kind === 'contract' || kind === 'e-mail')
    namesAndQuotes(facts, units, text);
  if (kind !== 'log') entries(facts, units);
  for (const unit of units.slice(0, 20_000)) {
    contacts(facts, unit);
    const quote = { text: unit.text, line: unit.line };
    if (confidential.test(unit.text.slice(0, 300))) add(facts.confidential, quote);
    if (confidential.test(unit.section.slice(0, 300))) add(facts.withheld, quote);
  }
  facts.actions = facts.actions.map((action) =>
    facts.withheld.some(({ line }) => line === action.line)
      ? { ...action, note: action.note === '' ? 'confidential' : `${action.note}; confidential` }
      : action,
  );
  if (kind !== 'log') relate(facts, passagesOf(units));
  return facts;
}

const confidential =
  /(?<![\p{L}])(?:confidential|not for (?:publication|circulation|distribution)|off the record|vertraulich\p{L}{0,2}|nicht für (?:die |den )?(?:Öffentlichkeit|Aushang)|confidentiel(?:le)?s?|à ne pas diffuser|confidencial|riservat[oa])(?![\p{L}])/iu;

/** Kinds of text that may be a logbook. */
const withEntries: ReadonlySet<TextKind> = new Set(['timeline', 'prose', 'minutes', 'incident']);

/** "Next meeting: 8 April, clubhouse. The meeting closed at 21:10.": only the first sentence is on the next meeting. */
function fieldValue(key: string, text: string): string {
  return /^(?:next|nächste[rs]?) /i.test(key) ? (sentencesOf(text.slice(0, 2000))[0] ?? text) : text;
}

const settling =
  /(?<![\p{L}])(?:zugesagt|bestätigt|eingetroffen|liegt (?:jetzt |nun )?vor|erledigt|has (?:agreed|confirmed|promised|arrived)|have (?:agreed|confirmed|arrived)|is done|was sent|has been (?:sent|done|paid|booked)|a (?:confirmé|accepté|promis)|c['’]est fait)(?![\p{L}])/iu;
const unsettled = /(?<![\p{L}])(?:not|n['’]t|nicht|noch|kein\p{L}{0,2}|pas|if|wenn|falls|si)(?![\p{L}])/iu;
const nameStem = 4;
const fewestShared = 2;

/** An addition to minutes that says that what a person was to ask or do is settled: with the name and two more words of the task. */
function withSettled(actions: TextFacts['actions'], passages: readonly Passage[], kind: TextKind): TextFacts['actions'] {
  if (kind !== 'minutes') return actions;
  const later = passages.filter(({ text }) => settling.test(text.slice(0, 600)) && !unsettled.test(text.slice(0, 600)));
  if (later.length === 0) return actions;
  return actions.map((action) => {
    const surname = action.who?.split(' ').at(-1) ?? '';
    if (action.done || surname.length < nameStem) return action;
    const stems = stemsOf(action.what.replaceAll(surname, ' '));
    const by = later.find(({ text, line }) => line > action.line && text.includes(surname) && stemsInCommon(text, stems) >= fewestShared);
    const note = by === undefined ? '' : `settled on line ${by.line}`;
    return by === undefined ? action : { ...action, done: true, note: action.note === '' ? note : `${action.note}; ${note}` };
  });
}

/** Decisions whose day or amount holds no more are told with what replaced them. */
function supersede(facts: TextFacts, passages: readonly Passage[]): void {
  if (facts.kind === 'contract' || facts.kind === 'changelog' || facts.kind === 'documentation') return;
  const kind = facts.kind === 'transcript' ? 'chat' : facts.kind === 'e-mail' ? 'mails' : 'other';
  facts.superseded = supersededIn(passages, facts.decisions, kind);
  const fallen = facts.decisions.flatMap((quote) => {
    const by = facts.superseded.find(
      ({ line, text, written, by: later }) =>
        (line === quote.line || quote.text.includes(text)) && quote.text.includes(written) && !quote.text.includes(later.text),
    )?.by;
    return by === undefined ? [] : [{ ...quote, by }];
  });
  facts.decisions = facts.decisions.filter(({ text, line }) => !fallen.some((each) => each.text === text && each.line === line));
  facts.replaced = [...facts.replaced, ...fallen].toSorted((a, b) => a.line - b.line);
}

/** What needs several sentences: contradictions, and statements whose subject stands in the sentence before. */
function relate(facts: TextFacts, passages: readonly Passage[]): void {
  supersede(facts, passages);
  facts.actions = withSettled(facts.actions, passages, facts.kind);
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
  const corrections = new Set(facts.logbook?.changes.map(({ line }) => line));
  facts.differences = differencesIn(passages.filter(({ line }) => !corrections.has(line))).slice(0, maxEach);
  facts.contradictions = [...contradictionsIn(facts, passages), ...new Durations(passages, year).contradiction(passages)].slice(0, maxEach);
}

function collect(facts: TextFacts, units: readonly Unit[]): void {
  facts.date = facts.kind === 'changelog' || facts.kind === 'documentation' ? null : (ownDate(units) ?? firstDay(facts));
  facts.date = ofLogbook(facts) ?? facts.date;
  const own = facts.date?.iso ?? null;
  const seen = new Set<string>();
  let previous: Unit | null = null;
  let me: string | null = null;
  let to: string | null = null;
  for (const unit of units) {
    if (facts.kind === 'e-mail') for (const each of requestedList(units, unit, to)) add(facts.actions, { ...each, iso: null, note: '' });
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
    for (const written of figuresIn(withoutStamp(facts, unit)))
      add(facts.figures, { written, text: unit.text, line: unit.line }, maxFigures);
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
    return { ...action, ...dayOf(action.date, facts, own !== null && !action.done, { text: action.what, line: action.line }) };
  });
  const names = new Map<string, Quote>();
  for (const person of facts.people) if (!names.has(person.text.toLowerCase())) names.set(person.text.toLowerCase(), person);
  facts.people = [...names.values()].slice(0, maxEach);
}

/** The day of an entry is no figure. */
function withoutStamp({ logbook }: TextFacts, { text }: Unit): string {
  return logbook === null ? text : (stampOf(text)?.rest ?? text);
}

/** A logbook is of the day of its first entry, unless its title says another. */
function ofLogbook({ date, logbook }: TextFacts): DateFact | null {
  const first = logbook?.entries[0];
  if (first === undefined || first.day === null || (date !== null && date.line < first.line)) return null;
  return { written: first.dayWritten, iso: first.day, note: '', text: first.lines[0]!.text, line: first.line };
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
  for (const { line } of facts.logbook?.entries ?? []) listed.add(line);
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
