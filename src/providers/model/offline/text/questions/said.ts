/** Who says what, and what an article is about: sentences that quote somebody, and those that report what somebody says; the first sentences. */
import type { TextFacts } from '../facts.ts';
import type { Passage } from '../passages.ts';
import { quotesShort, quotesWhere, quoteTable, type Told } from './told.ts';

const reporting =
  /(?<![\p{L}])(?:(?:says?|said|told|warned|warns|claims?|claimed|explained|argued|argues|believes?|expects?|calls?|called|sagt|sagte|erklärte|meint|warnte|betonte)(?: \p{L}{2,20}){0,3}(?:,? (?:that|the|it|his|her|dass)|,)(?![\p{L}])|(?:he|she|they|\p{Lu}\p{L}{1,25}) (?:said|says|warned|added|sagte)(?![\p{L}])|According to|Laut |Selon |D['’]après |Según |Secondo )/u;

/** "Mayor Osgood defended the decision: …": a person who is named before the verb takes a position. */
const position =
  /(?<![\p{L}])(?:defend(?:s|ed)|criticis(?:es|ed)|criticiz(?:es|ed)|demand(?:s|ed)|den(?:ies|ied)|welcom(?:es|ed)|prais(?:es|ed)|point(?:s|ed) out|announc(?:es|ed)|promis(?:es|ed)|confirm(?:s|ed)|stress(?:es|ed)|admit(?:s|ted)|insist(?:s|ed)|complain(?:s|ed)|emphasi[sz](?:es|ed)|repl(?:ies|ied)|fears?|feared|hop(?:es|ed)|warn(?:s|ed)|argu(?:es|ed)|call(?:s|ed) (?:it|for|the|this|that)|oppos(?:es|ed)|support(?:s|ed)|reject(?:s|ed)|sees?|doubt(?:s|ed)|accus(?:es|ed)|verteidigt\p{L}{0,2}|kritisiert\p{L}{0,2}|fordert\p{L}{0,2}|forderte|begrüßt\p{L}{0,2}|lobt\p{L}{0,2}|kündigte?|betont\p{L}{0,2}|warnt\p{L}{0,2}|befürchtet\p{L}{0,2}|hofft\p{L}{0,2}|bestätigt\p{L}{0,2}|versprach|verspricht|räumte|lehnt\p{L}{0,2}|défend|défendu|critiqu\p{L}{1,3}|demand\p{L}{1,2}|affirm\p{L}{1,3}|déclar\p{L}{1,2}|estim\p{L}{1,2}|promis|craint|defiende|defendió|critic[aó]|exig\p{L}{1,3}|afirm[aó]|declar[aó]|prometió|teme|difes[oa]|difende|critica(?:to)?|chiede|afferma|dichiara(?:to)?|promette|promesso)(?![\p{L}])/iu;
const maxPeople = 60;

function takesPosition(text: string, people: readonly string[]): boolean {
  const verb = position.exec(text.slice(0, 1000))?.index;
  return verb !== undefined && people.some((name) => text.slice(0, verb).includes(name));
}

export function saidBy({ spoken, people }: TextFacts, passages: readonly Passage[]): Told | null {
  const quoted = new Set(spoken.map(({ line, text }) => `${line} ${text.slice(0, 40)}`));
  const names = people.slice(0, maxPeople).map(({ text }) => text);
  const reported = quotesWhere(passages, ({ text }) => reporting.test(text) || takesPosition(text, names)).filter(
    ({ line, text }) =>
      !quoted.has(`${line} ${text.slice(0, 40)}`) && !spoken.some((quote) => quote.line === line && text.includes(quote.text)),
  );
  const all = [...spoken, ...reported].toSorted((a, b) => a.line - b.line);
  return all.length === 0 ? null : { short: quotesShort(all), lines: [quoteTable(all)], sections: ['Sentences that quote somebody'] };
}

const leadSentences = 3;
const leadChars = 30;

/** An article begins with what happened. */
export function leadOf(passages: readonly Passage[]): Told | null {
  // A title or the name of the writer ends without a point.
  const lead = passages
    .filter(({ text, kind }) => kind === 'sentence' && text.length >= leadChars && /[.!?…]["”»)]?$/.test(text.slice(-2)))
    .slice(0, leadSentences);
  return lead.length === 0 ? null : { short: quotesShort(lead), lines: ['The text begins with:', '', quoteTable(lead)] };
}
