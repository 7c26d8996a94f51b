/**
 * Classifies sentences of minutes, mails and notes: a decision, a postponement, a question, or an action for a person. Cues in English and
 * German.
 */
import { type FoundDate, findDeadline } from './dates.ts';
import { isFirstName, isNameLike } from './names.ts';

export type Action = {
  /** As written; null if nobody is named. */
  who: string | null;
  what: string;
  due: string | null;
  date: FoundDate | null;
  line: number;
  done: boolean;
};

const decided =
  /(?<![\p{L}])(?:decided|decides|agreed (?:that|to|on|upon|unanimously|by)|(?:it was|was|were|have|has|is|are|all|we|unanimously|formally) agreed|approved|approves|resolved (?:to|that)|adopted|voted (?:on \p{L}{0,9} ?\d{1,2}\.? \p{L}{3,9} (?:\d{4} )?)?(?:to|for|against|in favou?r)|(?:motion|proposal|resolution|amendment)(?:[^.;!?]{0,80} (?:was|is))? carried|carried (?:unanimously|by \d{1,3} votes?|\d{1,3} (?:to|:|-|–) \d{1,3})|rejected|turned down|declined|voted down|(?:did|does|do|could) not (?:approve|accept|adopt|support|ratify|agree (?:to|on|with))|signed off|ratified|chose to|opted (?:for|to)|settled on|go-ahead|beschlossen|beschließt|beschloss|entschied|entschieden|genehmigt|vereinbart|abgelehnt|verabschiedet|einstimmig|angenommen|zugestimmt|stimmt zu|einigten sich|einigte sich|geeinigt|(?:a|ont|avons|est|été) décidé|décide de|a (?:retenu|accepté|refusé|approuvé|adopté|rejeté|voté)|(?:été|est|sont) (?:approuvée?s?|adoptée?s?|rejetée?s?|refusée?s?|acceptée?s?|votée?s?)|à l['’]unanimité|(?:se )?(?:decidió|decidieron|acordó|acordaron|aprobó|aprobaron|rechazó|rechazaron)|(?:fue|fueron|ha sido|han sido|queda|quedan) (?:aprobad|rechazad|aceptad|acordad)[oa]s?|por unanimidad|(?:ha|hanno) (?:deciso|approvato|respinto|accettato|votato)|si è deciso|(?:è stat[oa]|sono stat[ie]) (?:approvat|respint|decis|accettat)[oaie]|all['’]unanimità)(?![\p{L}])/iu;
/** "The committee moved it to Saturday 10 May". */
const moved =
  /(?<![\p{L}])(?:committee|board|council|members|meeting|we|Ausschuss|Vorstand) (?:(?:also|then|unanimously) )?(?:moved|changed|shifted) (?!to |on )[^.;,:]{1,60} to (?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)|(?:Jan|Feb|March|April|May|June|July|Aug|Sept|Oct|Nov|Dec)\p{L}{0,6} \d)/u;
/** "The open evening of 22 November is cancelled": in minutes a decision. */
const calledOff =
  /(?<![\p{L}])(?:(?:is|are|will be|has been|have been) (?:cancell?ed|called off|dropped|discontinued)|(?:entfällt|entfallen|fällt aus|fallen aus|(?:ist|wird|sind|werden) abgesagt)|(?:est|sont) annulée?s?|(?:queda|quedan|se) (?:cancelad[oa]s?|suspendid[oa]s?|cancela|suspende)|(?:è|sono) (?:annullat|cancellat)[oaie])(?![\p{L}])/iu;
/** What a person who is only named by the way did: "Roche, who voted against the plan, called it too dear". */
const relativeClause = /, (?:who|whom|whose) [^,;.]{1,200},/giu;
const undecided =
  /(?<![\p{L}])(?:not (?:yet )?(?:been )?(?:decided|agreed|approved|resolved|concluded|settled|finali[sz]ed|voted)|no decision|no conclusion|no consensus|no agreement|undecided|(?:to be|still|must be|needs? to be|has to be|have to be|should be|can be|could be|will be|be) (?:decided|agreed|approved|resolved)|decision (?:was |is |has been )?(?:deferred|postponed|pending)|deferred|postponed|to (?:postpone|defer|adjourn)|pushed back to|adjourned|tabled (?:until|to|for)|(?:let(?:'|’)?s |to |we )decide (?:that |this |it )?(?:tomorrow|later|next|then|on \p{Lu})|put off|on hold|vertagt|verschoben|zu (?:vertagen|verschieben)|zurückgestellt|noch nicht (?:entschieden|beschlossen|genehmigt)|keine (?:Entscheidung|Einigung)|kein Beschluss|offen geblieben|(?:wird|werden) [^.;]{1,80} (?:entschieden|beschlossen|abgestimmt)|reportée?s?|ajournée?s?|(?:a|est|sont) remise?s? à|pas encore (?:été )?(?:décidé|tranché|approuvé)e?s?|aucune décision|sera (?:décidé|tranché)e?|(?:se )?aplazó|aplazad[oa]s?|(?:se )?pospuso|pospuest[oa]s?|ninguna decisión|no se (?:ha decidido|decidió|tomó)|se decidirá|rinviat[oaie]|rimandat[oaie]|nessuna decisione|non (?:è|si è) (?:ancora )?(?:stat[oa] )?decis[oa]|si deciderà)(?![\p{L}])/iu;
/** What follows is the content of a decision. */
const decidedThat =
  /(?<![\p{L}])(?:decided|agreed|resolved|voted|approved|beschlossen|entschieden|vereinbart)(?: unanimously|,? einstimmig)?,? (?=(?:that|to|not to|dass|nicht)(?![\p{L}]))/iu;
/** A thing that is put off to a time is decided; a matter that is put off is not: "decided to postpone the renovation to 2027". */
const decidedOn = /(?<![\p{L}])(?:decided|agreed|resolved|voted|beschlossen|entschieden|vereinbart)(?![\p{L}])/iu;
const postponedThing =
  /(?<![\p{L}])to (?:postpone|defer) (?:the|this|its|all) [^.;]{3,80} (?:to|until) [\p{L} ]{0,20}\d|[^.;]{3,80} (?:auf|bis) [\p{L} ]{0,20}\d{1,4}[^.;]{0,20} zu (?:verschieben|vertagen)/iu;
const matter =
  /(?<![\p{L}])(?:matter|point|item|question|decision|vote|discussion|topic|motion|proposal|Entscheidung|Beschluss|Punkt|Thema|Frage|Abstimmung|Antrag|Vorschlag|TOP)(?![\p{L}])/iu;
/** A rule about approvals, unless it names a later time. */
const approving = /(?<!(?:to|yet) )be (?:approved|resolved)(?![\p{L}])/giu;
const later = /(?<![\p{L}])(?:later|next|meeting|session|then|until|once|tomorrow|später|nächste[rnms]?|sitzung)(?![\p{L}])/iu;
const unclear =
  /(?<![\p{L}])(?:unclear|unresolved|not clear|to be clarified|(?:not |un)known (?:who|how|whether|when|what)|(?:do not|don(?:'|’)t|does not|doesn(?:'|’)t) (?:yet )?know (?:yet )?(?:who|how|whether|when|what|if)|nobody knows|(?:is|are) (?:still )?(?:examining|checking|investigating|considering|clarifying) (?:whether|if|who|how)|prüf(?:t|en)(?: noch)?,? ob|remains open|left open|still open|(?:^|, )[Oo]ffen (?:ist|bleibt|sind)|(?:ist|bleibt|sind) (?:noch )?offen,|ungeklärt|noch offen|unklar|zu klären|on ne sait pas|n['’]est pas (?:encore )?(?:claire?|connue?)|pas clair|reste(?:nt)? (?:à (?:savoir|clarifier|définir|décider)|ouverte?s?|en suspens)|no está claro|(?:no|aún no|todavía no) se sabe|queda(?:n)? (?:por (?:saber|definir|decidir|aclarar)|pendientes?|abiert[oa]s?)|sin resolver|non è (?:ancora )?(?:chiaro|noto)|non si sa|resta(?:no)? da (?:chiarire|definire|decidere)|(?:è|sono|rimane|resta) (?:ancora )?apert[oaie]|ancora da (?:chiarire|definire|decidere)|^(?:who|whom|where|how|when|whether|what|which) [^;.,]{3,120} (?:is|are) (?:open|undecided))(?![\p{L}])/iu;
/** What is missing, or will be decided on a later day. */
const pending =
  /(?<![\p{L}])(?:(?:is|are) still (?:needed|missing|wanted)|no (?:new )?(?:name|volunteer|successor|candidate|sponsor|date|solution|contract|answer) (?:was|were|has been|have been|is|could be) (?:yet )?(?:found|named|given|signed|set|reached)|(?:nobody|no one) (?:has|have) (?:yet )?(?:been )?(?:named|found|appointed|chosen|assigned)|(?:nobody|no one) has (?:yet )?(?:taken (?:this|that|it|them) on|volunteered|offered)|(?:nobody|no one) volunteered|still (?:has|have) to be (?:found|raised|decided|agreed|clarified|set|paid)|still unknown|(?:will decide|will vote|will hear|will discuss|will rule|votes)(?: [^.;,:]{1,60})? (?:on|in) (?:\d{1,4}|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September|October|November|December)|(?:wird|werden) noch (?:[^.;,:]{1,40} )?gesucht|(?:has|have) (?:still )?not (?:yet )?(?:been )?(?:returned|paid|delivered|received|answered|replied|repaired|replaced|signed|granted|issued|confirmed|responded)|(?:has|have) not yet \p{Ll}{3,14}|(?:has|have) yet to \p{Ll}{2,14}|nothing (?:is|has been) (?:yet )?(?:signed|settled|agreed|decided|final)|fehlt noch|fehlen noch|(?:ist|bleibt) (?:noch )?offen|personne ne s['’]est (?:proposée?|portée?)|aucun volontaire|(?:décidera|votera|tranchera) le \d{1,2}|nadie se (?:ofreció|ha ofrecido)|no hay voluntarios|(?:decidirá|votará) el \d{1,2}|nessuno si è (?:offerto|proposto)|nessun volontario|(?:deciderà|voterà) (?:il |l['’])\d{1,2}|wird am \d{1,2}\. ?\p{L}{2,12}(?: \d{4})? (?:entscheiden|abstimmen)|entscheidet am \d{1,2})(?![\p{L}\p{N}])/iu;
const objected =
  /(?<![\p{L}])(?:disagreed|disagrees|objected|objects|dissented|abstained|opposed|voted against|against the votes? of|widersprach|widersprachen|enthielt sich|enthielten sich|stimmte dagegen|stimmten dagegen)(?![\p{L}])/iu;
/** In an article: who is against what it tells of. */
const opposed =
  /(?<![\p{L}])(?:(?:fears?|feared)(?! of)|petition|protest(?:s|ed|ers)?|opponents?|critics|critici[sz](?:es?|ed)|(?:is|are|was|were) (?:worried|against)|boycott|lawsuit|(?:Anwohner|Gegner|Kritiker)\p{L}{0,3} (?:fürchte|befürchte|kritisier|warne)\p{L}{1,2}|befürchte\p{L}{1,2}|Petition|Proteste?|Gegner|Kritiker|craignent|craint|pétition|opposants?|temen|recogida de firmas|temono|petizione)(?![\p{L}])/iu;
const supposed =
  /(?<![\p{L}])(?:if|unless|once|whether|would|might|(?<!(?:\d|in|of|by|until|since|last|next|early|late) )may(?! \d)|could|propos(?:es?|ed|ing)|suggest(?:s|ed|ing)?|recommend(?:s|ed|ing)?|wenn|falls|ob|könnte|vorgeschlagen|schlägt vor|schlug vor|pourrait|proposé de|propose de|podría|propuso|potrebbe|ha proposto)(?![\p{L}])/iu;
const prefixes: readonly (readonly [RegExp, 'decision' | 'action' | 'question' | 'risk'])[] = [
  [
    /^(?:decision|decided|decisions|resolved|resolution|agreed|motion|beschluss|entscheidung|entschieden)(?: ?#?\d{1,3})?(?: ?[:–-] ?)/iu,
    'decision',
  ],
  [
    /^(?:action|actions|action item|ai|todo|to do|to-do|task|aufgabe|next step)(?: ?#?\d{1,3})?(?: ?\([^()]{1,40}\))?(?: ?[:–-] ?)/iu,
    'action',
  ],
  [/^(?:open question|question|open issue|open point|open|offene frage|frage|offen)(?: ?#?\d{1,3})?(?: ?[:–-] ?)/iu, 'question'],
  [/^(?:risk|risiko|blocker|issue)(?: ?#?\d{1,3})?(?: ?[:–-] ?)/iu, 'risk'],
];
const collective =
  /^(?:the )?(?:board|committee|team|council|group|members?|meeting|management|company|panel|parties|vorstand|ausschuss|gremium|wir|we|all|everyone|they|both|alle|it|der|die|das)$/iu;

export type Stated = { kind: 'decision' | 'undecided' | 'objection' | 'action' | 'question' | 'risk' | null; text: string };

/**
 * What the sentence itself states. `text` is without the prefix that announces it.
 *
 * @param isDecision whether the section of the sentence lists decisions: then the whole sentence is what was decided
 */
export function statementOf(sentence: string, isDecision = false): Stated {
  for (const [prefix, kind] of prefixes) {
    const match = prefix.exec(sentence.slice(0, 80));
    if (match === null || match[0].length >= sentence.length) continue;
    const text = sentence.slice(match[0].length).trim();
    return { kind: kind === 'decision' && isOpen(text.slice(0, 1000), true) ? 'undecided' : kind, text };
  }
  const read = sentence.slice(0, 1500);
  if (/\?["'”’)]?$/.test(read.slice(-3))) return { kind: 'question', text: sentence };
  if (isOpen(read, isDecision)) return { kind: 'undecided', text: sentence };
  if (unclear.test(isDecision ? '' : read.slice(0, contentStart(read)))) return { kind: 'question', text: sentence };
  const main = read.replace(relativeClause, ',');
  const match = decided.exec(main) ?? moved.exec(main);
  if (match !== null && !supposed.test(main.slice(0, match.index)) && !isPersonal(main, match)) return { kind: 'decision', text: sentence };
  if (!isDecision && isPending(read)) return { kind: 'question', text: sentence };
  if (objected.test(read)) return { kind: 'objection', text: sentence };
  return { kind: null, text: sentence };
}

/** What is still missing or will be decided later: open, and a task where a person will do it. */
export function isPending(sentence: string): boolean {
  const read = sentence.slice(0, 1500);
  return pending.test(read) && !supposed.test(read);
}

export function isOpposed(sentence: string): boolean {
  return opposed.test(sentence.slice(0, 1500));
}

export function isCalledOff(sentence: string): boolean {
  const read = sentence.slice(0, 1500);
  const match = calledOff.exec(read);
  return match !== null && !supposed.test(read.slice(0, match.index));
}

/** Where the content of a decision begins: after "decided"; the end of the sentence if it has no such words. */
function contentStart(sentence: string): number {
  const match = decidedThat.exec(sentence);
  return match === null ? sentence.length : match.index + match[0].length;
}

/** Whether no decision was taken. "Decided that nothing will be approved" is one; "decided to postpone" and "decided that … will be approved later" are none. */
function isOpen(sentence: string, isDecision: boolean): boolean {
  const start = isDecision ? 0 : contentStart(sentence);
  if (decidedOn.test(sentence) && postponedThing.test(sentence) && !matter.test(sentence)) return false;
  if (undecided.test(sentence.slice(0, start))) return true;
  const content = sentence.slice(start);
  return undecided.test(later.test(content) ? content : content.replace(approving, ''));
}

/** "Anna agreed to write the report" is an action for Anna, not a decision of the board. "Ben rejected the idea" is about one person. */
function isPersonal(sentence: string, match: RegExpExecArray): boolean {
  const before = sentence.slice(0, match.index).trim();
  const last = before
    .split(' ')
    .slice(-3)
    .join(' ')
    .replace(/^(?:then|also|and|später|auch) /i, '');
  // "Petra voted against because of the warranty": the vote of one person.
  if (/^voted (?:for|against)/i.test(match[0])) return isNameLike(last.split(' ').at(-1)!) && !collective.test(last.split(' ').at(-1)!);
  if (/^agreed to/i.test(match[0])) return isNameLike(last) && !collective.test(last) && !/\bthe$/i.test(before.split(' ').at(-2) ?? '');
  return false;
}

const doing =
  /^(?<who>\p{Lu}[\p{L}'’.-]{0,30}(?: \p{Lu}[\p{L}'’.-]{0,30}){0,2}(?:(?:, | and | & | und )\p{Lu}[\p{L}'’.-]{0,30}(?: \p{Lu}[\p{L}'’.-]{0,30}){0,2}){0,4}) (?<verb>(?:also |then )?(?:will|to|shall|is to|are to|must|has to|have to|needs to|agreed to|volunteered to|offered to|promised to|is going to|is responsible for|takes on|takes over|takes|should|wird|werden|soll|sollen|muss|müssen|übernimmt|übernehmen|kümmert sich|prüft|klärt|erstellt|sendet|schickt|organisiert|informiert|bereitet|liefert|aktualisiert|bestellt|ruft)(?![\p{L}]))/u;
/** "Work is to start on 1 September": what happens, not what a person does. */
const happening =
  /^is to (?:start|begin|commence|end|finish|take place|happen|continue|last|cost|open|close|stay|remain|run|become|go|come|follow)(?![\p{L}])/u;
const requested =
  /^(?<who>\p{Lu}[\p{L}'’-]{1,30}(?: \p{Lu}[\p{L}'’-]{1,30})?), (?:please|can you|could you|would you|will you|bitte|kannst du|könntest du|können sie) /u;
const own =
  /^(?:(?:yes|ok|okay|sure|sorry|right|good|and|so|then|ja|gut|also|fine|no problem)[,.!]? )?(?:I(?:'|’)ll|I will|I can(?! only| not)|we(?:'|’)ll|we will|wir werden|will do|on it|doing (?:it|that|this)|I am going to|I(?:'|’)m going to|let me|ich werde|ich kümmere|ich schicke|ich mache|ich bringe|wir kümmern|ich erstelle|ich übernehme|ich kläre|ich prüfe|ich sende|ich bestelle|mache ich|erledige ich|je m['’]en occupe|lo hago yo|me encargo|ci penso io|me ne occupo)(?![\p{L}])/iu;
const needed =
  /^(?:(?:and|also|und)[, ]{1,2})?(?:I|we|ich|wir) (?:still |also |noch |auch )?(?:need|brauche|brauchen|benötige|benötigen)(?: still| noch)?(?![\p{L}])/iu;
const asking = /(?<![\p{L}])(?:please|kindly|bitte)(?![\p{L}])/iu;
const please = /^(?:(?:and|also|so|then)[, ]{1,2})?(?:please|kindly|could you|can you|would you|bitte|könnten sie|könnt ihr|kannst du) /iu;

/** "Frank Petersen holt bis Freitag drei Angebote ein": a known person, a verb, and a deadline. */
const dueWord =
  /(?<![\p{L}])(?:by|until|till|before|bis|spätestens|no later than|avant|d['’]ici|jusqu['’](?:au|à)|au plus tard|antes|hasta|para el|a más tardar|entro|prima del?|fino al?|non oltre)(?![\p{L}])/iu;
/** "Carmen hablará con el concejal": in French, Spanish and Italian the future tense. */
const future = /^(?:se |s['’]|si |non )?\p{Ll}{1,16}(?:era|dra|ira|ra|ront|rá|rán|rà|ranno)$/u;

export function dueAction(sentence: string, line: number, known: ReadonlySet<string>): Action | null {
  if (!dueWord.test(sentence.slice(0, 600))) return null;
  const found = presentAction(sentence, line, known);
  return found === null || found.due === null ? null : found;
}

/** A known person, and a verb that does not tell of the past. */
export function presentAction(sentence: string, line: number, known: ReadonlySet<string>): Action | null {
  const read = sentence.slice(0, 600);
  const who = leadingPerson(read, known);
  if (who === null) return null;
  const verb = /^\p{Ll}+/u.exec(read.slice(who.length + 1))?.[0] ?? '';
  // "Torsten fragt bei der Feuerwehr nach": asked of somebody, not a question.
  const asksSomebody = /^fragt (?:bei|beim) /.test(read.slice(who.length + 1));
  if ((pastWords.has(verb) && !asksSomebody) || /(?:te|ten|ed|ó|aron|ieron)$/.test(verb)) return null;
  return action(who, sentence, line);
}

/** "No conclusion, Sue to come back on this": an action of a known person in a later part of the sentence. */
export function clauseAction(sentence: string, line: number, known: ReadonlySet<string>): Action | null {
  const read = sentence.slice(0, 1500);
  for (const { index, 0: mark } of read.matchAll(/(?:[,;:]|\.\.\.|…| –| —| -|\band|\bund) (?:so |and |but |then )?(?=\p{Lu})/gu)) {
    const clause = read.slice(index + mark.length);
    const who = leadingPerson(clause, known);
    if (who === null) continue;
    const verb = doing.exec(clause)?.groups?.verb ?? '';
    if (
      /^(?:to|will|must|shall|is to|has to|needs to|wird|soll|muss|übernimmt)$/.test(verb) &&
      !/^(?:be|have|not) /.test(clause.slice(who.length + verb.length + 2))
    )
      return action(who, sentence, line);
  }
  return null;
}

const pastWords = new Set(
  'was were had said told reported explained thought felt left came went did has have is are berichtet berichtete a ont était avait fue ha han hanno è era erano war waren hatte hat haben ist sind fragt sagt erklärt meint and und oder or of'.split(
    ' ',
  ),
);

/** An action, recognised by the form of the sentence; null if it is not one. `me` is the speaker or author. */
export function actionOf(sentence: string, line: number, me: string | null, to: string | null): Action | null {
  const read = sentence.slice(0, 1500);
  const named = requested.exec(read);
  if (named !== null) return action(named.groups!.who!, sentence, line);
  const assigned = doing.exec(read);
  if (assigned !== null) {
    const people = assigned.groups!.who!.split(/, | and | & | und /);
    const verb = assigned.groups!.verb!;
    const certain = people.every((person) => isFirstName(person.split(' ')[0]!) || isNameLike(person));
    const known = people.every((person) => isFirstName(person.split(' ')[0]!));
    if (
      certain &&
      (known || /^(?:to|is to|agreed to|volunteered to|offered to|promised to|übernimmt|kümmert sich)$/.test(verb)) &&
      !/^(?:be|have|not) /.test(read.slice(assigned[0].length + 1)) &&
      (known || !happening.test(`${verb} ${read.slice(assigned[0].length + 1)}`))
    )
      return action(assigned.groups!.who!, sentence, line);
  }
  if (me !== null && own.test(read) && !/\?$/.test(read)) return action(me, sentence, line);
  if (to === null || /^(?:yes|ja|oui|sí|sì)[ ,!]/iu.test(read)) return null;
  if (!please.test(read) && !asking.test(read) && !needed.test(read)) return null;
  // "Then I collect 5 euros, please by Friday": in a chat, the speaker's own task.
  const isOwn = to.startsWith('the others') && /(?<![\p{L}])(?:ich|I)(?![\p{L}])/u.test(read);
  return action(isOwn ? me : to, sentence, line);
}

/** An entry of a list of actions: the person and the deadline may be at any usual place. */
export function listedAction(item: string, line: number, done: boolean, known: ReadonlySet<string>): Action {
  const read = item.slice(0, 1500);
  const who = ownerIn(read) ?? leadingPerson(read, known);
  return { ...action(who, item, line), done };
}

const somebody =
  /(?<![\p{L}])(?:someone|somebody|one of us|jemand) (?:still )?(?:has to|must|should|needs to|will have to|ought to|muss|soll|sollte)(?![\p{L}])/iu;
/** "An expert is to look at it": a person who is not named. */
const unnamed =
  /^(?:An?|Ein|Eine) \p{L}{3,20}(?: \p{L}{3,20})? (?:is to|has to|must|should|soll|muss) (?!be |cost|stay|remain|last|have |not |nicht )/u;
const tasks =
  'obtained|ordered|bought|checked|examined|inspected|repaired|organi[sz]ed|invited|written|sent|prepared|cleaned|renewed|replaced|updated|booked|contacted|informed|clarified|drawn up|hired|painted|collected|fixed|arranged|revised|reviewed|translated|printed|drafted|tested|asked|requested|commissioned|compared|installed|removed|measured';
const passive = new RegExp(
  `(?<![\\p{L}])(?:must|should|has to|have to|needs? to|is to|are to|ought to) (?:still |also |now )?be (?:${tasks})(?![\\p{L}])`,
  'iu',
);
const passiveGerman =
  /(?<![\p{L}])(?:muss|müssen|soll|sollen|sollte|sollten)(?![\p{L}])[^.;!?]{0,120} (?!beschlossen|entschieden|genehmigt|besprochen|vertagt)(?:\p{L}{0,12}ge\p{L}{2,14}|be\p{L}{3,14}|\p{L}{3,14}iert|erneuert|ersetzt|verschickt) werden(?![\p{L}])/iu;
const conditional = /^(?:if|unless|when|once|falls|wenn|sobald)(?![\p{L}])/iu;

const willDo =
  /^(?<who>\p{Lu}[\p{L}'’-]{1,30}(?: \p{Lu}[\p{L}'’-]{1,30})?) (?:will|wird) (?:ask|inform|send|get|talk|call|check|write|order|book|prepare|organi[sz]e|contact|find|buy|sign|draft|arrange|invite|collect|obtain|compare|speak|clarify|update|report|bring|draw|hire|install|repair|clean|paint|measure|translate|print|present|propose|revise|review|submit|apply)(?![\p{L}])/u;

const doesTask =
  /^ (?:orders|books|sends|prepares|organi[sz]es|contacts|buys|signs|drafts|arranges|invites|collects|obtains|brings|hires|installs|repairs|cleans|paints|measures|translates|prints|submits|clarifies|takes over|looks after|bestellt|besorgt|schickt|organisiert|bucht|kauft|misst|holt) (?!that |dass )/u;

/** "Ingo will ask three roofers by 15 December": a name that is known from nowhere else, what only a person does, and a deadline. */
export function namedAction(sentence: string, line: number): Action | null {
  const who = willDo.exec(sentence.slice(0, 200))?.groups?.who;
  if (who === undefined || !isNameLike(who)) return null;
  const found = action(who, sentence, line);
  return found.due === null ? null : found;
}

/** "Hanne orders the skip": a known person, and in the present tense what only somebody does who has a task. */
export function presentTask(sentence: string, line: number, known: ReadonlySet<string>): Action | null {
  const who = leadingPerson(sentence.slice(0, 600), known);
  if (who === null) return null;
  const rest = sentence.slice(who.length, who.length + 40);
  const verb = /^ ((?:se |s['’]|si )?\p{Ll}{2,20})(?![\p{L}])/u.exec(rest)?.[1] ?? '';
  return doesTask.test(rest) || future.test(verb) ? action(who, sentence, line) : null;
}

/** An action for which the text names nobody: "Someone has to order the tent", "offers should be obtained". */
export function unownedAction(sentence: string, line: number): Action | null {
  const read = sentence.slice(0, 600);
  if (conditional.test(read) || leadingPerson(read, new Set()) !== null) return null;
  return somebody.test(read) || unnamed.test(read) || passive.test(read) || passiveGerman.test(read) ? action(null, sentence, line) : null;
}

const ownerInside =
  /[,;:] (?<who>\p{Lu}[\p{L}'’-]{1,30}(?: \p{Lu}[\p{L}'’-]{1,30})?)(?:,| (?!(?:is|was|has|stays|remains|gets|ends|starts) )\p{Ll}{2,20}s )[^,;:]{0,200}(?<![\p{L}])(?:by|no later than) /u;

const nobody =
  /(?<![\p{L}])(?:(?:nobody|no one|no owner)(?: is| was| has been)?(?: yet)? (?:named|assigned)|niemand (?:benannt|zuständig))(?![\p{L}])/iu;

/** An entry of what was agreed with a person and a deadline, or for which it says that nobody is named; null for others: "The cellar gets a sensor, Ann orders it by 12 April". */
export function agreedAction(item: string, line: number, known: ReadonlySet<string>): Action | null {
  const led = dueAction(item, line, known);
  if (led !== null) return led;
  if (nobody.test(item.slice(0, 600))) return action(null, item, line);
  const who = ownerInside.exec(item.slice(0, 600))?.groups?.who;
  if (who === undefined || !isNameLike(who)) return null;
  const found = action(who, item, line);
  return found.due === null ? null : found;
}

const ownerForms: readonly RegExp[] = [
  /, (?<who>\p{Lu}[\p{L}'’-]{1,30}(?: \p{Lu}[\p{L}'’-]{1,30})?), (?:by|until|due|before|no later|bis|spätestens|\d)/u,
  /(?:owner|assignee|assigned to|responsible|resp\.?|lead|who|verantwortlich|zuständig|wer)(?: is)?[:=]? ?(?<who>@?\p{Lu}[\p{L}'’.-]{0,30}(?: \p{Lu}[\p{L}'’.-]{0,30}){0,2}(?:(?:, | and | & | und )\p{Lu}[\p{L}'’-]{0,30}){0,3})/u,
  /^\*{0,2}\[?@?(?<who>\p{Lu}[\p{L}'’.-]{0,30}(?: \p{Lu}[\p{L}'’.-]{0,30}){0,2}(?:(?:, | and | & |\/| \+ | und )\p{Lu}[\p{L}'’.-]{0,30}(?: \p{Lu}[\p{L}'’.-]{0,30}){0,2}){0,3})\]?\*{0,2} ?(?::|–|—|->|→| - )\*{0,2} ?/u,
  /@(?<who>[\p{L}][\p{L}\p{N}._-]{1,30})/u,
  /\((?<who>\p{Lu}[\p{L}'’.-]{0,30}(?: \p{Lu}[\p{L}'’.-]{0,30}){0,2}(?:(?:, | and | & |\/| und )\p{Lu}[\p{L}'’.-]{0,30}){0,3})(?:\)|, ?(?:by|due|until|bis|before|\d))/u,
  /(?: ?(?:–|—|->|→|\|)| -) (?<who>\p{Lu}[\p{L}'’.-]{0,30}(?: \p{Lu}[\p{L}'’.-]{0,30}){0,2})(?:$|[.]$|, | \(| by | bis |,? due )/u,
];

function ownerIn(item: string): string | null {
  for (const form of ownerForms) {
    const who = form.exec(item)?.groups?.who;
    if (who?.split(/, | and | & |\/| \+ | und /).every((name) => isOwner(name.trim()))) return who;
  }
  const assigned = doing.exec(item);
  const who = assigned?.groups?.who;
  if (who?.split(/, | and | & | und /).every((name) => isOwner(name))) return who;
  return requested.exec(item)?.groups?.who ?? null;
}

/** "Jürgen Wolf holt ein Angebot ein": a person that is known from elsewhere, or a common first name, before a small word. */
function leadingPerson(item: string, known: ReadonlySet<string>): string | null {
  const name = /^\p{Lu}[\p{L}'’-]{1,30}(?: \p{Lu}[\p{L}'’-]{1,30}){0,2}(?= \p{Ll})/u.exec(item)?.[0];
  if (name === undefined) return null;
  return known.has(name.toLowerCase()) || isFirstName(name.split(' ')[0]!) ? name : null;
}

function isOwner(name: string): boolean {
  if (/^(?:all|everyone|everybody|team|board|alle|vorstand)$/i.test(name)) return true;
  if (/^[A-ZÄÖÜ]{2,4}$/.test(name)) return !['API', 'PDF', 'CSV', 'TBD', 'TBC', 'ETA', 'EOD', 'EOW', 'URL', 'CEO', 'FAQ'].includes(name);
  return /^[\p{L}]/u.test(name) && (isNameLike(name) || /^\p{Ll}[\p{L}\p{N}._-]{1,30}$/u.test(name));
}

function action(who: string | null, what: string, line: number): Action {
  const due = findDeadline(what);
  return { who, what, due: due?.written ?? null, date: due?.date ?? null, line, done: false };
}
