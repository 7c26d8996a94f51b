/** The sentences of a text in their order, with line and heading; the reading unit of rules that relate sentences to each other. */
import { sentencesOf } from '../sentences.ts';
import { type Amount, amountsIn } from './amounts.ts';
import type { Unit } from './units.ts';

export type Passage = {
  text: string;
  line: number;
  /** The nearest heading above; empty if there is none. */
  section: string;
  /** The position in the text. */
  at: number;
  before: Passage | null;
  /** Its figures, read once. */
  amounts: readonly Amount[];
  kind: 'sentence' | 'item' | 'field';
};

const maxPassages = 5_000;
const maxChars = 2_000;

export function passagesOf(units: readonly Unit[]): Passage[] {
  const passages: Passage[] = [];
  for (const { kind, text, key, line, section } of units) {
    if (kind === 'heading' || kind === 'code' || kind === 'row') continue;
    const read = text.slice(0, 20_000);
    const sentences = kind === 'sentence' ? [read] : sentencesOf(read);
    for (const [i, sentence] of sentences.entries()) {
      if (passages.length === maxPassages) return passages;
      const own = (kind === 'field' && i === 0 ? `${key}: ${sentence}` : sentence).slice(0, maxChars);
      passages.push({
        text: own,
        amounts: amountsIn(own),
        line,
        section,
        at: passages.length,
        before: passages.at(-1) ?? null,
        kind: kind === 'item' ? 'item' : kind === 'field' ? 'field' : 'sentence',
      });
    }
  }
  return passages;
}

const pronoun =
  /^(?:The (?:matter|point|issue|question|proposal|request|item|topic|offer)(?= (?:was|is|were|has|will) )|It(?! (?:was|is|has been) (?:unanimously )?(?:agreed|decided|resolved))|This|That|These|They|Those|He|She|There|Both|Nobody knows|(?:Nobody|No one) volunteered|No (?:name|volunteer|successor|candidate|sponsor|date|solution|contract|answer) (?:was|were|has been|is|could be)|Das|Dies|Es|Er|Sie|Diese[rs]?|Dadurch|Damit|Darüber|Dazu|Hierüber|Hierzu|Budget|Cost|Kosten|(?:No (?:decision|agreement|conclusion)|Not decided|Postponed|Deferred|Keine Entscheidung|Vertagt)(?=[.;,:]))(?![\p{L}])/u;

const noDecision = /^No (?:decision|agreement|conclusion) (?:was|is|has been) (?:taken|made|reached)(?![\p{L}])/u;
/** "Jonas sends them a reminder." */
const doesToIt =
  /^\p{Lu}[\p{L}'’-]{1,30}(?: \p{Lu}[\p{L}'’-]{1,30})? (?:will |must |shall |has to |is to |wird )?\p{Ll}{2,20} (?:them|it|this|these|him|her|sie|ihn|ihnen|das)(?![\p{L}])/u;
const movedIt = /(?<![\p{L}])(?:moved|changed|shifted|postponed) (?:it|them) /u;

/** Whether a task is understood only with the sentence before. */
export function doesSomethingToIt(sentence: string): boolean {
  return doesToIt.test(sentence);
}

/**
 * The passage; with the one before it if it begins with a word that refers to that one, such as "It", or says that "it" was moved; with
 * two where no decision was taken, since what was discussed often stands before who was for and against it.
 */
export function withSubject(passage: Passage): { text: string; line: number } {
  const isOpen = noDecision.test(passage.text);
  if (!isOpen && ![pronoun, movedIt, doesToIt].some((form) => form.test(passage.text))) return { text: passage.text, line: passage.line };
  let { text, line } = passage;
  let from = passage;
  for (let i = 0; i < (isOpen ? 2 : 1); i++) {
    const { before } = from;
    if (before === null || before.section !== passage.section || before.kind !== 'sentence' || from.line - before.line > 1) break;
    if (i > 0 && before.line !== from.line) break;
    text = `${before.text} ${text}`;
    line = before.line;
    from = before;
  }
  return { text, line };
}

/** "He has asked for a review": with the person whom the same paragraph names before, if it names exactly one of the known people. */
export function withPerson(passage: Passage, people: readonly string[]): string {
  if (!/^(?:He|She) /.test(passage.text)) return passage.text;
  const before: string[] = [];
  for (let from = passage.before; from !== null && from.line === passage.line; from = from.before) before.push(from.text);
  const named = people.filter((name) => before.some((sentence) => sentence.includes(name)));
  return named.length === 1 ? `${passage.text} (${named[0]})` : passage.text;
}
