/** The sentences of a text in their order, with line and heading; the reading unit of rules that relate sentences to each other. */
import { sentencesOf } from '../sentences.ts';
import { type Amount, amountsIn } from './amounts.ts';
import { stemsInCommon, stemsOf } from './stem.ts';
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
  /** Empty outside of speech. */
  speaker: string;
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
        speaker: kind === 'speech' ? key : '',
      });
    }
  }
  return passages;
}

const pronoun =
  /^(?:The (?:matter|point|issue|question|proposal|request|item|topic|offer)(?= (?:was|is|were|has|will) )|It(?! (?:was|is|has been|remains) (?:unanimously |still |not yet |not )?(?:agreed|decided|resolved|open|unclear|clear|known|unknown|undecided)(?![\p{L}]))|This|That|These|They|Those|He|She|There|Both|Nobody knows|(?:Nobody|No one) (?:volunteered|has|was)|No (?:name|volunteer|successor|candidate|sponsor|date|solution|contract|answer) (?:was|were|has been|is|could be)|Das|Dies|Es|Er|Sie|Diese[rs]?|Dadurch|Damit|Darüber|Dazu|Hierüber|Hierzu|Budget|Cost|Kosten|(?:No (?:decision|agreement|conclusion)|Not decided|Postponed|Deferred|Keine Entscheidung|Vertagt)(?=[.;,:]))(?![\p{L}])/u;

const noDecision = /^No (?:decision|agreement|conclusion) (?:was|is|has been) (?:taken|made|reached)(?![\p{L}])/u;
/** "Jonas sends them a reminder." */
const doesToIt =
  /^\p{Lu}[\p{L}'’-]{1,30}(?: \p{Lu}[\p{L}'’-]{1,30})? (?:will |must |shall |has to |is to |wird )?\p{Ll}{2,20} (?:them|it|this|these|him|her|sie|ihn|ihnen|das)(?![\p{L}])/u;
const movedIt = /(?<![\p{L}])(?:moved|changed|shifted|postponed) (?:it|them) /u;

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
    if (before === null || !isSameContext(before, passage) || from.line - before.line > 1) break;
    if (i > 0 && before.line !== from.line) break;
    text = `${before.text} ${text}`;
    line = before.line;
    from = before;
  }
  return { text, line };
}

/** Under one heading and in the words of one speaker. */
function isSameContext(before: Passage, { section, speaker }: Passage): boolean {
  return before.section === section && before.kind === 'sentence' && before.speaker === speaker;
}

/** "Her motion was rejected": the motion stands in the sentence before. */
const possessive =
  /^(?:Her|His|Their|Its|Seine?|Seine[rsnm]|Ihre?|Ihre[rsnm]|Deren|Dessen|Sa|Son|Ses|Leurs?|Sus?|La sua|Il suo) \p{Ll}|^(?:Sein|Ihr|Seine|Ihre) \p{Lu}|^(?:Se (?:aprob|rechaz)\p{L}{1,6}|Fueron?|È stat[oa]|Sono stat[ie]|Elles?|Ils?|Lui|Lei|Él|Ella|Ellos|Cela|Ceci|Ello|Ciò|Questo|Esto) /u;
/** "Who pays for the repair": of what, another sentence says. */
const bareNoun =
  /(?<![\p{L}])(?:the|this|that|his|her|their|der|die|das|den|dem|diese[rnms]?|la|le|cette|el|esta|questa) (?:repairs?|replacement|objection|appeal|damage|motion|proposal|request|offer|purchase|matter|question|issue|problem|idea|suggestion|complaint|defect|leak|bill|invoice|Reparatur|Antrag|Vorschlag|Angebot|Schaden|Anschaffung|Sache|Problem|réparation|proposition|demande|dépense|reparación|propuesta|solicitud|compra|avería|riparazione|proposta|richiesta|spesa)(?! (?:of|for|from|to|that|which|who|whether|about|des|von|für|zum|zur|de|du|del|di|della)(?![\p{L}]))(?![\p{L}])/iu;
/** What makes somebody do something: "The group needs a leader. Nobody volunteered." */
const need =
  /(?<![\p{L}])(?:needs?|needed|lacks?|missing|nobody|no one|not clear|unclear|fails?|failed|broken|broke|leaks?|leaking|leaked|damaged|complained|out of order|(?:does|do) not work|ran out|there (?:is|are) no|fehlt|fehlen|braucht|benötigt|niemand|kaputt|defekt|undicht|beschädigt|on ne sait pas|no está claro|non è (?:ancora )?chiaro|manque|personne|en panne|cassée?s?|falta|nadie|rot[oa]s?|averiad[oa]s?|manca|nessuno|rott[oai]|guast[oai])(?![\p{L}])/iu;
const maxContext = 3;

/**
 * The passage with what it refers to: the sentences before it, as long as each begins with a pronoun or has a noun that only the one before
 * explains; for a task also the need that it answers, where it has no word in common with it.
 */
export function withContext(passage: Passage, isTask = false): { text: string; line: number } {
  const own = stemsOf(passage.text);
  let { text, line } = withSubject(passage);
  let from = passage;
  for (let i = 0; i < maxContext; i++) {
    const { before } = from;
    if (before === null || !isSameContext(before, passage) || from.line - before.line > 1) break;
    const refers = possessive.test(from.text) || bareNoun.test(from.text) || (i > 0 && pronoun.test(from.text));
    const answers = isTask && need.test(before.text) && stemsInCommon(before.text, own) === 0;
    if (!text.startsWith(before.text)) {
      if (!refers && !answers) break;
      text = `${before.text} ${text}`;
      line = before.line;
    }
    from = before;
  }
  return { text, line };
}

const offering =
  /(?<![\p{L}])(?:offers?|quotes?|quotations?|bids?|tenders?|estimates?|Angebote?|Kostenvoranschläge?|devis|offres|presupuestos|ofertas|preventivi|offerte)(?![\p{L}])/iu;
const voting =
  /^(?:Votes?|Result|Abstimmung|Abstimmungsergebnis|Vote|Votación|Voto|Votazione)(?: of the vote)?:|^(?:\d{1,3}|\p{L}{2,9}) (?:votes? )?(?:in favour|in favor|for|voted for)(?![\p{L}])/iu;
const maxOffers = 5;
const fewestOffers = 2;

/** A decision with the offers that it chose from and what was said of them, and with its vote. */
export function withReasons(passage: Passage, passages: readonly Passage[]): { text: string; line: number } {
  const { at, section } = passage;
  const before = passages.slice(Math.max(0, at - maxOffers), at);
  const first = before.findIndex(
    ({ text, section: other, amounts }) => other === section && offering.test(text) && amounts.length >= fewestOffers,
  );
  const next = passages[at + 1];
  const vote =
    next !== undefined && next.section === section && next.line - passage.line <= 1 && voting.test(next.text) ? ` ${next.text}` : '';
  if (first === -1) {
    const { text, line } = withContext(passage);
    return { text: text + vote, line };
  }
  const told = before.slice(first);
  return { text: `${told.map(({ text }) => text).join(' ')} ${passage.text}${vote}`, line: told[0]!.line };
}

/** "He has asked for a review": with the person whom the same paragraph names before, if it names exactly one of the known people. */
export function withPerson(passage: Passage, people: readonly string[]): string {
  if (!/^(?:He|She) /.test(passage.text)) return passage.text;
  const before: string[] = [];
  for (let from = passage.before; from !== null && from.line === passage.line; from = from.before) before.push(from.text);
  const named = people.filter((name) => before.some((sentence) => sentence.includes(name)));
  return named.length === 1 ? `${passage.text} (${named[0]})` : passage.text;
}
