/** Answers each clause of a task on a text by the rule for its topic; a clause without a rule is left to the caller. */
import { exact, markdownTable, safe } from '../../figure.ts';
import { clausesIn } from '../../questions.ts';
import type { Answer, TextMaterial } from '../../report.ts';
import { paymentsIn } from '../chat.ts';
import { checkedByRules, checkedIn } from '../contradictions.ts';
import { findDates } from '../dates.ts';
import type { Quote, TextFacts } from '../facts.ts';
import { type Passage, passagesOf } from '../passages.ts';
import { readUnits, type Unit } from '../units.ts';
import { changesOf } from './changes.ts';
import { contractAnswer } from './contract.ts';
import { correctionsIn } from './corrections.ts';
import { Durations } from './durations.ts';
import { isLetter, promisesIn, wishesIn } from './letters.ts';
import { logAnswer } from './log.ts';
import { isOnEntries, keysTold, logbookAnswer } from './logbook.ts';
import { lossOf } from './losses.ts';
import { moneyIn, payersIn } from './money.ts';
import { datesOf, nextMeetingOf, peopleWithRoles } from './names-and-dates.ts';
import { actionsOf, decisionsOf, handoversOf, newestMessage, openOf, replacedOf, unassignedOf } from './open-points.ts';
import { causeOf, ruledOut, whyLate } from './reasons.ts';
import { leadOf, saidBy } from './said.ts';
import { shortfall } from './shortfall.ts';
import { figuresOnlyInSummary, hasSummary } from './summary-check.ts';
import { quotesShort, quoteTable, type Told } from './told.ts';

type Subject = { facts: TextFacts; units: readonly Unit[]; passages: readonly Passage[]; durations: Durations };
/** `when`: patterns that a clause must all match; `unless`: one that it must not match. Null: the rule does not apply to this text. */
type Rule = { when: readonly RegExp[]; unless?: RegExp; answer: (clause: string, subject: Subject) => Told | null };

const why =
  /(?<![\p{L}])(?:why|causes?|caused|reasons?|warum|weshalb|wieso|Ursachen?|Grund|Gründe|pourquoi|por qué|causas?|perché|waarom|oorzaak)(?![\p{L}])/iu;
const counting = /(?<![\p{L}])(?:how many|how often|number of|count|wie viele|wie oft)(?![\p{L}])/iu;
const rules: readonly Rule[] = [
  {
    when: [
      /(?<![\p{L}])(?:decisions?|decided|agreed|agreements?|plans?|Beschlüsse|Entscheidung(?:en)?|beschlossen|vereinbart|Plan|décisions?|décidé|decision(?:es|i)|decidid[oa]|deciso)(?![\p{L}])/iu,
      /(?<![\p{L}])(?:changed|revoked|replaced|withdrawn|reversed|overturned|dropped|superseded|no longer|geändert|widerrufen|zurückgenommen|ersetzt|aufgehoben|verworfen|changée?s?|modifiée?s?|annulée?s?|remplacée?s?|révoquée?s?|cambiad[oa]s?|anulad[oa]s?|reemplazad[oa]s?|cambiat[aeio]|annullat[aeio]|sostituit[aeio])(?![\p{L}])/iu,
    ],
    answer: (_, { facts }) => replacedOf(facts),
  },
  {
    when: [
      /(?<![\p{L}])(?:t(?:ook|ake|aken|akes) (?:\p{L}{1,15} ){0,3}over|hand(?:ed|s)? (?:\p{L}{1,15} ){0,3}over|swapped|übernommen|übernahm|übernimmt|reprise?|repris|asumió|ha preso)(?![\p{L}])/iu,
    ],
    answer: (_, { facts }) => handoversOf(facts),
  },
  {
    when: [
      /(?<![\p{L}])(?:who (?:is|are|was|were) (?:all )?(?:involved|mentioned|named|concerned|affected|in it|behind)|who(?:'s|’s)? (?:is )?who|(?:people|persons|parties|actors) (?:involved|mentioned|named|concerned)|wer (?:ist|sind|war) (?:alles )?(?:beteiligt|genannt|betroffen)|qui (?:est|sont) (?:concernée?s?|impliquée?s?|citée?s?|mentionnée?s?)|quién(?:es)? (?:participan?|está(?:n)? implicad[oa]s?|aparecen?)|chi (?:è|sono) (?:coinvolt[oi]|citat[oi])|wie (?:is|zijn) (?:er )?betrokken)(?![\p{L}])|^(?:(?:the|all|key|important|main) ){0,2}(?:names|people|persons)$|^who$/iu,
    ],
    answer: (_, { facts, passages }) => peopleWithRoles(facts, passages),
  },
  {
    when: [
      /^(?:(?:the|all|key|important|main|die|les|las|le|wichtigen?|fechas?|dates) ){0,2}(?:dates|days|timetable|schedule|Termine|Daten|fechas|date)$/iu,
    ],
    answer: (_, { facts }) => datesOf(facts),
  },
  {
    when: [
      /(?<![\p{L}])(?:next (?:\p{L}{1,12} )?(?:meeting|session)|nächste[rns]? (?:Sitzung|Treffen|Termin)|prochaine réunion|próxima reunión|prossima riunione)(?![\p{L}])/iu,
    ],
    unless: /(?<![\p{L}])(?:before|until|by|for|vor|bis|für|avant|pour|antes|prima)(?![\p{L}])/iu,
    answer: (_, { passages }) => nextMeetingOf(passages),
  },
  {
    when: [
      /(?<![\p{L}])(?:who (?:pays?|paid|owes?)|what (?:does|do|has|did) (?:each|everyone|everybody|they|we)(?: \p{L}{2,10}){0,2} (?:pay|owe|paid)|wer (?:be)?zahlt|qui paie|quién paga|chi paga)(?![\p{L}])/iu,
    ],
    answer: (_, { units, passages }) => quotesOf(paymentsIn(units)) ?? payersIn(passages),
  },
  {
    when: [
      /(?<![\p{L}])(?:wants?|wish(?:es)?|asks? for|requests?|demands?|expects?|complains?|möchte|will|wünscht|fordert|veut|demande|quiere|pide|vuole|chiede)(?![\p{L}])/iu,
    ],
    unless: /(?<![\p{L}])(?:we want|I want|will be|how|(?:wants?|would like) to know|(?:will|möchte) wissen|veut savoir)(?![\p{L}])/iu,
    answer: (_, { facts, passages }) => (facts.kind === 'e-mail' || isLetter(passages) ? quotesOf(wishesIn(passages)) : null),
  },
  {
    when: [
      /(?<![\p{L}])(?:promis\p{L}{1,3}|offered|assured|committed|zugesagt|versprochen|angeboten|promise?s?|prometió|prometido|promesso)(?![\p{L}])/iu,
    ],
    answer: (_, { facts, passages }) => (facts.kind === 'e-mail' || isLetter(passages) ? quotesOf(promisesIn(passages)) : null),
  },
  {
    when: [/(?<![\p{L}])(?:how long|how much time|how many (?:minutes|hours)|wie lange?|wie viel Zeit)(?![\p{L}])/iu],
    answer: (clause, { durations }) => (durations.isTimeline ? durations.answer(clause) : null),
  },
  {
    when: [/(?<![\p{L}])(?:ruled out|excluded|eliminated|not the cause|ausgeschlossen)(?![\p{L}])/iu],
    answer: (_, { passages }) => ruledOut(passages),
  },
  {
    when: [why, /(?<![\p{L}])(?:late|later|long|notic\p{L}{1,3}|detect\p{L}{0,4}|discover\p{L}{0,3}|unnoticed|spät|bemerkt)(?![\p{L}])/iu],
    answer: (_, { passages }) => whyLate(passages),
  },
  {
    when: [
      /(?<![\p{L}])(?:measures?|actions?|tasks?|to-?dos|points?|items?|Maßnahmen?|Aufgaben?)(?![\p{L}])/iu,
      /(?<![\p{L}])(?:(?:no|without|missing|lacks?|lacking|has neither|have neither) (?:an? |the )?(?:\p{L}{1,12} )?(?:owner|person|responsib\p{L}{2,5}|date|deadline|name|assignee)|unassigned|nobody|not assigned|ohne \p{L}{4,20}|kein\p{L}{0,2} (?:Verantwortlich\p{L}{1,2}|Frist|Termin))(?![\p{L}])/iu,
    ],
    answer: (_, { facts, passages }) => unassignedOf(facts, passages),
  },
  { when: [why], answer: (clause, { passages }) => causeOf(clause, passages) },
  {
    when: [
      /(?<![\p{L}])(?:check|verify|whether|does|do|is|are|prüf\p{L}{0,3}|ob|stimm\p{L}{1,3}|any|where|gibt|a-t-il|vérifie\p{L}{0,2}|hay|comprueba|ci sono|verifica)(?![\p{L}])/iu,
      /(?<![\p{L}])(?:right|correct|correctly|add up|adds up|agrees?|consistent|consistently|plausible|fits?(?: together)?|match(?:es)?|mistakes?|errors?|wrong|contradict\p{L}{0,6}|inconsisten\p{L}{1,5}|stimmt|stimmen|richtig|Fehler|widersprech\p{L}{1,3}|widersprüchlich\p{L}{0,2}|Widersprüche?n?|contradictoires?|incohéren\p{L}{1,3}|erreurs?|contradic\p{L}{1,9}|contraddi\p{L}{1,8}|errores|errori)(?![\p{L}])/iu,
    ],
    answer: (_, subject) => checked(subject),
  },
  {
    when: [
      /(?<![\p{L}])(?:contradict\p{L}{1,6}|inconsisten\p{L}{1,5}|Widersprüche?n?|widersprüchlich\p{L}{0,2}|contradictoires?|incohéren\p{L}{1,3}|contradicci\p{L}{1,6}|contraddizion[ei])(?![\p{L}])/iu,
    ],
    answer: (_, subject) => checked(subject),
  },
  {
    when: [
      /(?<![\p{L}])(?:revenue|turnover|sales|income|money|business|Umsatz|Einnahmen|Geld)(?![\p{L}])/iu,
      /(?<![\p{L}])(?:lost|lose|loss|losses|missed|verloren|Verlust|entgangen)(?![\p{L}])/iu,
    ],
    answer: (_, { passages }) => lossOf(passages),
  },
  {
    when: [
      /(?<![\p{L}])(?:missing|short|shortfall|lack\p{L}{0,3}|still need(?:ed)?|gap|fehlt|fehlen|Lücke)(?![\p{L}])/iu,
      /(?<![\p{L}])(?:how much|money|funding|wie ?viel|Geld)(?![\p{L}])/iu,
    ],
    answer: (clause, { passages }) => shortfall(clause, passages),
  },
  {
    when: [
      /(?<![\p{L}])(?:how much (?:money|(?:did|does|will) it cost)|(?:what|which) (?:money|sums?|amounts?)(?! are| is)|money about|(?:what|which) (?:is|are) the (?:money|sums?|amounts?|claim)|um (?:welches|wie ?viel) Geld|de quel(?:les?)? (?:montants?|sommes?)|sums? of money|what (?:did|does|will) it cost|costs?|wie ?viel Geld|was kostete?|combien (?:ça |cela )?coûte|cuánto cuesta|quanto costa)(?![\p{L}])/iu,
    ],
    unless: counting,
    answer: (_, { facts, passages }) => moneyIn(facts, passages),
  },
  {
    when: [
      /(?<![\p{L}])(?:who (?:does|has to|must|needs to|will|is to|should|takes|is responsible)|(?:have|has|need|needs|supposed|expected) to do|(?:my|our) (?:tasks|jobs|to-?dos)|action (?:items?|points?)|actions|to-?dos?|tasks|who brings|wer (?:macht|muss|soll|bringt|übernimmt)|was (?:muss|soll|habe) ich|was [^?]{0,30}zu tun|que dois-je|qu['’]est-ce que je dois|Aufgaben|qui (?:doit|fait|s['’]occupe)|tâches|quién(?:es)? (?:tienen?|deben?|hacen?)|tareas|chi (?:deve|fa|si occupa)|compiti)(?![\p{L}])/iu,
    ],
    unless: counting,
    answer: (clause, { facts }) => actionsOf(facts, clause),
  },
  {
    when: [
      /(?<![\p{L}])(?:still (?:open|hanging|pending|unclear|missing|to be done)|(?:left|remains) hanging|in der Schwebe|(?:what|which) (?:is|are|points are) open|(?:left|remains?|stays?|stayed|remained) open|open (?:points?|questions?|issues?|items?|matters?)|undecided|not (?:yet )?(?:decided|settled|agreed|clear)|unsettled|unresolved|outstanding|postponed|put off|reste(?:nt)?(?: \p{L}{2,12})? (?:ouverte?s?|en suspens)|en suspens|ouverte?s?|pendientes?|abiert[oa]s?|sin resolver|apert[oaie]|in sospeso|offen|offene Punkte|vertagt|ungeklärt)(?![\p{L}])/iu,
    ],
    unless: counting,
    answer: (_, { facts, passages }) => openOf(facts, passages),
  },
  {
    when: [
      /(?<![\p{L}])(?:decided?|decides|decisions?|agree(?:d|s)?|resolved|resolutions?|approved|beschlossen|vereinbart|abgemacht|Beschlüsse|entschieden|Entscheidungen?|décidée?s?|décisions?|decidió|decidido|decisiones|acordó|acordado|acuerdos|deciso|decisioni)(?![\p{L}])/iu,
    ],
    unless: counting,
    answer: (_, { facts }) => decisionsOf(facts),
  },
  {
    when: [
      /(?<![\p{L}])(?:correct(?:ed|ions?)|superseded|replaced|revised|no longer (?:valid|true)|changed|changes|korrigiert|Korrekturen|geändert|überholt|corrigée?s?|changé|modifiée?s?|corregid[oa]s?|cambiad[oa]s?|cambió|corrett[oaie]|cambiat[oaie])(?![\p{L}])/iu,
    ],
    unless: /(?<![\p{L}])how much(?![\p{L}])/iu,
    answer: (_, { facts, passages }) => (facts.messages.length > 0 ? correctionsIn(passages) : null),
  },
  {
    when: [
      /(?<![\p{L}])(?:current (?:state|status|situation)|state of (?:things|affairs)|latest|newest|where (?:(?:do|does) )?(?:we|it|things) stands?|aktuelle[rn]? Stand|(?:état|situation) actuelle?|(?:estado|situación) actual|(?:stato|situazione) attuale)(?![\p{L}])/iu,
    ],
    answer: (_, { facts, passages }) => newestMessage(facts, passages),
  },
  {
    when: [
      /(?<![\p{L}])(?:who (?:is|are|was|were) (?:for (?:it|this|that) and )?(?:who (?:is|are) )?(?:against|opposed|unhappy)|against it|opponents?|critics|objections?|objects?|objected|wer ist dagegen|qui est contre|quién está en contra|chi è contro)(?![\p{L}])/iu,
    ],
    answer: (_, { facts }) => {
      const told = quotesOf(facts.objections);
      return told === null ? null : { ...told, sections: ['Objections and fears', 'Objections and abstentions'] };
    },
  },
  {
    when: [
      /(?<![\p{L}])(?:by how much|how much (?:more|less|higher|lower)|chang(?:e|es|ed)|compared?|comparison|gr[eo]w(?:n|th)?|rise|risen|rose|fall|fallen|fell|increase[ds]?|decrease[ds]?|develop(?:ed|ment)?|difference|um wie viel|verändert|gestiegen|gesunken|entwickelt)(?![\p{L}])/iu,
    ],
    answer: (clause, { facts, passages }) => (facts.kind === 'changelog' ? null : changesOf(clause, passages)),
  },
  {
    when: [
      /(?<![\p{L}])(?:who (?:says?|said|thinks?|claims?)|what (?:do|does|did) (?:the people|everybody|everyone|they|each) say|quotes?|quotations?|wer sagt|qui (?:a dit|dit)|quién(?:es)? dicen?|quién dijo|chi (?:dice|ha detto))(?![\p{L}])/iu,
    ],
    unless: counting,
    answer: (_, { facts, passages }) => saidBy(facts, passages),
  },
  {
    when: [
      /^(?:what (?:was done|happened|is going to happen|will happen|is (?:being )?planned|is (?:it|this|that) about|has happened)|was (?:ist passiert|ist geschehen|wurde gemacht)|(?:que|qu['’]est[- ]ce qui) s['’]est[- ](?:il )?passé|qué (?:pasó|ha pasado|ocurrió)|(?:che )?(?:cosa )?è successo)[?. ]{0,2}$/iu,
    ],
    answer: (_, { facts, passages }) => (facts.kind === 'prose' ? leadOf(passages) : null),
  },
];
/** "Is it still the 27th?" */
const stillHolds = /(?<![\p{L}])(?:still|noch|toujours|encore|todavía|ancora)(?![\p{L}])/iu;
const dayAsked = /(?<![\p{L}\p{N}.,:/-])(?<d>\d{1,2})(?:st|nd|rd|th|\.)?(?![\p{L}\p{N}]|[.,:]\d)/gu;

/** Whether a day of the question was replaced; null where it was not. */
function stillTold(clause: string, { superseded }: TextFacts): Told | null {
  if (!stillHolds.test(clause) || superseded.length === 0) return null;
  const days = new Set([...clause.slice(0, 300).matchAll(dayAsked)].map(({ groups }) => groups!.d!.padStart(2, '0')));
  const dated = new Set(findDates(clause).flatMap(({ iso, monthDay }) => iso?.slice(8) ?? monthDay?.slice(3) ?? []));
  const old = superseded.filter(({ written }) =>
    findDates(written).some(({ iso, monthDay }) => {
      const day = iso?.slice(8) ?? monthDay?.slice(3) ?? '';
      return days.has(day) || dated.has(day);
    }),
  );
  if (old.length === 0) return null;
  const rows = old.map(({ written, text, line, by }) => [safe(written), safe(text), exact(line), safe(by.text), exact(by.line)]);
  return {
    short: old
      .map(({ written, line, by }) => `${written} (line ${line}) was replaced by "${by.text.slice(0, 200)}" (line ${by.line})`)
      .join(' | '),
    lines: ['A later sentence replaced that day:', '', markdownTable(['Said first', 'Where', 'Line', 'Replaced by', 'Line'], rows)],
  };
}

const maxClauses = 16;
const fileName = /[\p{L}\p{N}_-]{1,60}\.(?:csv|tsv|xlsx|jsonl?|ndjson|md|txt|docx|eml|log)(?![\p{L}\p{N}])/giu;

/** The answers, and the clauses that no rule answers. */
export function answerClauses(task: string, { name, facts, text }: TextMaterial, several: boolean): { answers: Answer[]; rest: string[] } {
  const clauses = clausesIn(task);
  if (facts.kind === 'empty') return { answers: [], rest: clauses };
  if (facts.log !== null) return logAnswers(clauses, facts.log, several ? ` (${name})` : '');
  const units = readUnits(text);
  const passages = passagesOf(units);
  const durations = new Durations(passages, facts.date?.iso?.slice(0, 4) ?? null);
  const answers: Answer[] = [];
  const rest: string[] = [];
  for (const clause of clauses) {
    // "The list in actions.csv": the name of a file asks for nothing.
    const read = clause.replace(fileName, ' ');
    const fitting =
      answers.length < maxClauses && !comparesWithFile(clause, name)
        ? rules.filter(({ when, unless }) => when.every((pattern) => pattern.test(read)) && unless?.test(read) !== true)
        : [];
    const { logbook } = facts;
    // The first rule that applies to this text.
    const byRule = () =>
      fitting.reduce<Told | null>(
        (told, rule) => told ?? rule.answer(clause, { facts, units, passages, durations }),
        stillTold(clause, facts),
      );
    const ofLog = () => (logbook === null ? null : logbookAnswer(read, logbook));
    const told =
      (logbook === null ? null : keysTold(read, logbook)) ??
      (isOnEntries(read) ? (ofLog() ?? byRule()) : (byRule() ?? ofLog())) ??
      contractAnswer(clause, facts, passages);
    if (told === null) rest.push(clause);
    else answers.push(once({ question: `${clause.replace(/[.?!]$/, '')}${several ? ` (${name})` : ''}`, ...told }, answers));
  }
  return { answers, rest };
}

/** What an earlier question was told is not told again. */
function once(answer: Answer, before: readonly Answer[]): Answer {
  const same = before.find(({ short }) => short === answer.short);
  if (same === undefined) return answer;
  return { ...answer, short: `answered above, under "${same.question}"`, lines: [`Answered above, under "${safe(same.question)}".`] };
}

function logAnswers(clauses: readonly string[], log: NonNullable<TextFacts['log']>, of: string): { answers: Answer[]; rest: string[] } {
  const told = clauses.slice(0, maxClauses).map((clause) => ({ clause, answer: logAnswer(clause, log) }));
  // "What does the log tell? When did it go wrong?": one answer is told once, under the last of its questions.
  const isLast = (i: number) => !told.slice(i + 1).some(({ answer }) => answer?.short === told[i]!.answer?.short);
  return {
    answers: told.flatMap(({ clause, answer }, i) =>
      answer === null || !isLast(i) ? [] : [{ question: `${clause.replace(/[.?!]$/, '')}${of}`, ...answer }],
    ),
    rest: told.flatMap(({ clause, answer }) => (answer === null ? [clause] : [])),
  };
}

/** Null where there are none. */
function quotesOf(quotes: readonly Quote[]): Told | null {
  return quotes.length === 0 ? null : { short: quotesShort(quotes), lines: [quoteTable(quotes)] };
}

/** "Compare with the list in actions.csv": the text alone cannot answer. */
function comparesWithFile(clause: string, name: string): boolean {
  return (
    /(?<![\p{L}])(?:compar\p{L}{1,8}|against|vergleich\p{L}{0,4})(?![\p{L}])/iu.test(clause) &&
    [...clause.matchAll(fileName)].some(([file]) => file !== name)
  );
}

/** What does not fit together, what could be checked, and what the rules check. */
function checked({ facts, passages }: Subject): Told {
  const found: Quote[] = [...facts.contradictions, ...figuresOnlyInSummary(passages)];
  const scope = `The rules check ${checkedByRules}${hasSummary(passages) ? ', and the figures of the summary' : ''}; nothing else`;
  const checked = checkedIn(facts, passages);
  if (found.length === 0) {
    const none = `othing wrong was found by the rules. ${checked}. ${scope}`;
    return { short: `n${none}`, lines: [`N${none}.`] };
  }
  return {
    short: found.map(({ text }) => text.replace(/\.$/, '')).join(' | '),
    lines: [
      markdownTable(
        ['Found', 'Line'],
        found.map(({ text, line }) => [safe(text), exact(line)]),
      ),
      '',
      `${checked}. ${scope}.`,
    ],
    sections: ['What does not fit together'],
  };
}
