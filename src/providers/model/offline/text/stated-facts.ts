/** What the sentences and rows of a text state: decisions, actions, open questions, risks and duties, each added to the facts. */
import { sentencesOf } from '../sentences.ts';
import {
  type Action,
  actionOf,
  agentAction,
  agreedAction,
  bracketedActions,
  clauseAction,
  dueAction,
  listedAction,
  namedAction,
  presentAction,
  presentTask,
  unownedAction,
} from './actions.ts';
import { findDates, findDeadline } from './dates.ts';
import { add, addOnce } from './fact-list.ts';
import type { Quote, TextFacts } from './facts.ts';
import { isCalledOff, isOpposed, isPending, isSettled, statementOf } from './statements.ts';
import { type Section, sectionOf } from './text-kind.ts';
import { readUnits, type Unit } from './units.ts';

/** "(No deadline was set.)" after the sentence of an action. */
export const withoutDeadline =
  /^\(?(?:no (?:deadline|due date|date) (?:was|is|has been) (?:yet )?(?:set|agreed|given|named)(?: yet)?|without (?:a )?deadline|ohne (?:frist|termin)|keine frist|kein termin|ein termin wurde (?:noch )?nicht (?:genannt|festgelegt|vereinbart))[.)]{0,2}$/i;

/** Whether the sentence before tells an action; it is added where it is not known yet. */
export function undated(facts: TextFacts, { text, line }: Quote): boolean {
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

/** "11 for, 6 against": the subject of the vote stands elsewhere. */
const bareCount = /^\d{1,4} (?:for|in favou?r|votes?|ja|dafür|Stimmen?|voix|pour|votos|voti)(?![\p{L}])/iu;
const maxClauses = 4;
/** Under "Minutes of the last meeting", only their approval is a decision of this one. */
const approvesMinutes =
  /(?<![\p{L}])(?:minutes|Protokoll|compte[- ]rendu|procès-verbal|acta|verbale|notulen)(?![\p{L}])[^;!?]{0,80}(?:approved|accepted|adopted|genehmigt|angenommen|approuvée?s?|adoptée?s?|aprob\p{L}{1,4}|approvat[oa]|goedgekeurd)(?![\p{L}])/iu;

/** One sentence or item after the other: its own words first, then its section. */
export function stated(facts: TextFacts, unit: Unit, me: string | null, to: string | null): void {
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
      if (facts.kind !== 'prose' || section === 'questions' || !text.includes('?')) addOnce(facts.questions, quote);
    } else if (section === 'past' && !approvesMinutes.test(text.slice(0, 300))) continue;
    else if (kind === 'decision' && section !== 'actions' && section !== 'questions' && section !== 'risks') {
      if (facts.kind !== 'contract') addOnce(facts.decisions, quote);
    } else if ((kind === null || kind === 'question') && facts.messages.length > 0 && isSettled(text)) addOnce(facts.decisions, quote);
    else if (kind === null && facts.kind === 'minutes' && section === '' && isCalledOff(text)) addOnce(facts.decisions, quote);
    else if (key === 'decisions' && bareCount.test(text)) continue;
    else if (key === 'decisions' || (section === 'decisions' && (unit.kind === 'item' || unit.kind === 'sentence'))) {
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
    const isAsked = kind === 'question' && me === null && !isPending(sentence);
    const may = kind === null || kind === 'undecided' || kind === 'question' || (kind === 'decision' && section === 'actions');
    if (facts.kind === 'prose' && kind !== 'objection' && isOpposed(text)) addOnce(facts.objections, quote);
    if (!may || section === 'actions' || key === 'actions' || section === 'decisions') continue;
    if (facts.kind === 'prose' || facts.kind === 'contract') continue;
    // "Whether a permit is needed is not clear; Colm will call the council": of what is asked, only a part with a person is a task.
    const found =
      (isAsked ? null : actionOf(sentence, line, me, to, knownNames(facts))) ??
      clauseAction(sentence, line, knownNames(facts)) ??
      (isAsked ? null : laterForms(facts, sentence, line));
    if (found !== null) add(facts.actions, { ...found, done: unit.checked, iso: null, note: '' });
    else
      for (const each of bracketedActions(sentence, line, knownNames(facts)))
        add(facts.actions, { ...each, done: unit.checked, iso: null, note: '' });
    // "Ines signs the contract by 28 June; I will transfer the fee by 26 July."
    const later = found === null || me === null ? [] : sentence.slice(0, 1500).split('; ').slice(1, maxClauses);
    for (const clause of later) {
      const second = actionOf(clause, line, me, null, knownNames(facts));
      if (second !== null) add(facts.actions, { ...second, iso: null, note: '' });
    }
  }
}

/** Tasks in the forms of minutes and reports. */
function laterForms(facts: TextFacts, sentence: string, line: number): Action | null {
  const known = knownNames(facts);
  const isRecord = facts.kind === 'minutes' || facts.kind === 'timeline';
  if (facts.messages.length > 0) return dueAction(sentence, line, known);
  if (!isRecord && facts.kind !== 'incident') return null;
  return (
    (isRecord ? dueAction(sentence, line, known) : null) ??
    namedAction(sentence, line) ??
    presentTask(sentence, line, known) ??
    agentAction(sentence, line, known) ??
    unownedAction(sentence, line)
  );
}

/** Names of people found so far, with their first names. */
function knownNames({ people, absent, speakers }: TextFacts): ReadonlySet<string> {
  const names = [...people, ...absent].map(({ text }) => text);
  return new Set([...names, ...speakers.map(({ name }) => name)].flatMap(namesOf));
}

/** "Ada Moss" is also "Ada", "Moss" and "A. Moss". */
function namesOf(person: string): string[] {
  const words = person
    .toLowerCase()
    .replace(/^(?:mr|mrs|ms|dr|herr|frau|mme|m)\.? /, '')
    .split(' ');
  const [first, last] = [words[0]!, words.at(-1)!];
  const initials = first
    .split('-')
    .map((part) => `${part[0] ?? ''}.`)
    .join('-');
  return words.length === 1
    ? [person.toLowerCase(), first]
    : [person.toLowerCase(), first, last, `${initials} ${last}`, `${initials[0]}. ${last}`];
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
