/** Classifies sentences of minutes, mails, notes and articles: a decision, a postponement, an open question, an objection, a risk. */
import { isNameLike } from './names.ts';

const decided =
  /(?<![\p{L}])(?:decided|decides|agreed (?:that|to|on|upon|unanimously|by)|(?:it was|was|were|have|has|is|are|all|we|unanimously|formally) agreed|approved|approves|resolved (?:to|that)|adopted|voted (?:on \p{L}{0,9} ?\d{1,2}\.? \p{L}{3,9} (?:\d{4} )?)?(?:to|for|against|in favou?r)|(?:motion|proposal|resolution|amendment)(?:[^.;!?]{0,80} (?:was|is))? carried|carried (?:unanimously|by \d{1,3} votes?|\d{1,3} (?:to|:|-|–) \d{1,3})|rejected|turned down|declined|voted down|(?:did|does|do|could) not (?:approve|accept|adopt|support|ratify|agree (?:to|on|with))|signed off|ratified|chose to|opted (?:for|to)|settled on|go-ahead|beschlossen|beschließt|beschloss|entschied|entschieden|genehmigt|vereinbart|abgelehnt|verabschiedet|einstimmig|angenommen|zugestimmt|stimmt zu|einigten sich|einigte sich|geeinigt|(?:a|ont|avons|est|été) décidé|(?:décide(?:nt)?|decide(?:n)?|decidono)(?:, [^,;.]{1,60},)? (?:de|d['’]|que|di|che)|a (?:retenu|accepté|refusé|approuvé|adopté|rejeté|voté)|(?:été|est|sont) (?:approuvée?s?|adoptée?s?|rejetée?s?|refusée?s?|acceptée?s?|votée?s?)|à l['’]unanimité|(?:se )?(?:decidió|decidieron|acordó|acordaron|aprobó|aprobaron|rechazó|rechazaron)|(?:fue|fueron|ha sido|han sido|queda|quedan) (?:aprobad|rechazad|aceptad|acordad)[oa]s?|por unanimidad|(?:ha|hanno) (?:deciso|approvato|respinto|accettato|votato)|si è deciso|(?:è stat[oa]|sono stat[ie]) (?:approvat|respint|decis|accettat)[oaie]|all['’]unanimità|besloten|(?:werd|is|zijn|werden) (?:[^.;:]{1,60} )?(?:goedgekeurd|afgewezen|aangenomen)|unaniem|(?:foi|foram) (?:aprovad|rejeitad|decidid)[oa]s?|decidiu(?:-se)?|decidiram|por unanimidade)(?![\p{L}])/iu;
/** "The committee moved it to Saturday 10 May". */
const moved =
  /(?<![\p{L}])(?:committee|board|council|members|meeting|we|Ausschuss|Vorstand) (?:(?:also|then|unanimously) )?(?:moved|changed|shifted) (?!to |on )[^.;,:]{1,60} to (?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)|(?:Jan|Feb|March|April|May|June|July|Aug|Sept|Oct|Nov|Dec)\p{L}{0,6} \d)/u;
/** "The fair is moved to Sunday, 14 September", "Der Schluss wird auf 30. April gesetzt": settled with its new day. */
const movedTo =
  /(?<![\p{L}])(?:(?:is|are|has been|have been|was|were) (?:moved|changed|postponed|put back|brought forward|shifted|rescheduled) to [^.;:]{0,24}\d|(?:wird|werden|wurden?|ist|sind) [^.;:?]{0,80}(?<![\p{L}])auf (?:[^;:?]{0,12}(?<![\p{L}]))?\d{1,2}\.[^;:?]{0,24}(?<![\p{L}])(?:verlegt|verschoben|vorverlegt|gesetzt|festgelegt|geändert)|(?:est|sont|a été|ont été) (?:reportée?s?|déplacée?s?|avancée?s?|fixée?s?) au [^.;:]{0,16}\d)/iu;
/** "5 ja, 1 nein", "9 for, 2 against", "7 voix pour": the count of a vote. */
const voted =
  /(?<![\p{L}\p{N}])\d{1,4} (?:ja(?:-stimmen)?|dafür|votes? (?:for|in favou?r)|in favou?r|for,? \d{1,4} against|voix pour|pour,? \d{1,4} contre|votos a favor|voti a favore)(?![\p{L}])/iu;

export function isMovedTo(sentence: string): boolean {
  return movedTo.test(sentence.slice(0, 1500)) && !/\?$/.test(sentence.slice(-2));
}

/** "The open evening of 22 November is cancelled": in minutes a decision. */
const calledOff =
  /^(?:Dropped|Cancell?ed|Called off|Abgesagt|Gestrichen|Annulée?|Cancelad[oa]|Annullat[oa]) (?:for|because|until|this|due|wegen|bis|pour|por|per)(?![\p{L}])|(?<![\p{L}])(?:(?:is|are|will be|has been|have been) (?:cancell?ed|called off|dropped|discontinued)|(?:entfällt|entfallen|fällt aus|fallen aus|(?:ist|wird|sind|werden) abgesagt)|(?:est|sont) annulée?s?|(?:queda|quedan|se) (?:cancelad[oa]s?|suspendid[oa]s?|cancela|suspende)|(?:è|sono) (?:annullat|cancellat)[oaie])(?![\p{L}])/iu;
/** What a person who is only named by the way did: "Roche, who voted against the plan, called it too dear". */
const relativeClause = /, (?:who|whom|whose) [^,;.]{1,200},/giu;
const undecided =
  /(?<![\p{L}])(?:not (?:yet )?(?:been )?(?:decided|agreed|approved|resolved|concluded|settled|finali[sz]ed|voted)|no decision|no conclusion|no consensus|no agreement|undecided|(?:to be|still|must be|needs? to be|has to be|have to be|should be|can be|could be|will be|be) (?:decided|agreed|approved|resolved)|decision (?:on [^.;,]{1,60} )?(?:is|was) (?:expected|due|awaited)|decision (?:was |is |has been )?(?:deferred|postponed|pending)|deferred|postponed|to (?:postpone|defer|adjourn)|pushed back to|adjourned|tabled (?:until|to|for)|(?:let(?:'|’)?s |to |we )decide (?:that |this |it )?(?:tomorrow|later|next|then|on \p{Lu})|put off|on hold|vertagt|verschoben|zu (?:vertagen|verschieben)|zurückgestellt|noch nicht (?:entschieden|beschlossen|genehmigt)|keine (?:Entscheidung|Einigung)|kein Beschluss|offen geblieben|(?:wird|werden) [^.;]{1,80} (?:entschieden|beschlossen|abgestimmt)|reportée?s?|ajournée?s?|(?:a|est|sont) remise?s? à|pas encore (?:été )?(?:décidé|tranché|approuvé)e?s?|aucune décision|sera (?:décidé|tranché)e?|(?:se )?aplazó|aplazad[oa]s?|(?:se )?pospuso|pospuest[oa]s?|ninguna decisión|no se (?:ha decidido|decidió|tomó)|se decidirá|rinviat[oaie]|rimandat[oaie]|nessuna decisione|non (?:è|si è) (?:ancora )?(?:stat[oa] )?decis[oa]|si deciderà|uitgesteld|verdaagd|doorgeschoven|nog niet (?:besloten|beslist)|(?:foi|foram) adiad[oa]s?|adiad[oa] para)(?![\p{L}])/iu;
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
/** A valve or a door that was left open is no open question. */
const opened =
  /(?<![\p{L}])(?:valves?|doors?|gates?|windows?|hatch(?:es)?|lids?|taps?|cocks?|covers?|vents?|drawers?|shutters?|flaps?|Ventile?|Türe?n?|Tore?|Fenster|Luken?|Deckel|Klappen?|Hähne?|Hahn|vannes?|portes?|fenêtres?|trappes?|robinets?|couvercles?|válvulas?|puertas?|ventanas?|valvol[ae]|port[ae]|finestr[ae])(?![\p{L}])/iu;
const standing = /(?<![\p{L}])(?:remains open|left open|still open|offen|ouverte?s?|abiert[oa]s?|apert[oaie])(?![\p{L}])/iu;
const unclear =
  /(?<![\p{L}])(?:unclear|unresolved|stays? open|bleib(?:t|en) offen|not clear|to be clarified|(?:not |un)known (?:who|how|whether|when|what)|(?:do not|don(?:'|’)t|does not|doesn(?:'|’)t) (?:yet )?know (?:yet )?(?:who|how|whether|when|what|if)|nobody knows|(?:is|are) (?:still )?(?:examining|checking|investigating|considering|clarifying) (?:whether|if|who|how)|prüf(?:t|en)(?: noch)?,? ob|remains open|left open|still open|(?:^|, )[Oo]ffen (?:ist|bleibt|sind)|(?:ist|bleibt|sind) (?:noch )?offen,|ungeklärt|noch offen|noch nicht (?:klar|bekannt|geklärt|sicher)|unklar|zu klären|on ne sait pas|n['’]est pas (?:encore )?(?:claire?|connue?)|pas clair|reste(?:nt)? (?:à (?:savoir|clarifier|définir|décider)|ouverte?s?|en suspens)|no está claro|(?:no|aún no|todavía no) se sabe|queda(?:n)? (?:por (?:saber|definir|decidir|aclarar)|pendientes?|abiert[oa]s?)|sin resolver|non è (?:ancora )?(?:chiaro|noto)|non si sa|resta(?:no)? da (?:chiarire|definire|decidere)|(?:è|sono|rimane|resta) (?:ancora )?apert[oaie]|ancora da (?:chiarire|definire|decidere)|onduidelijk|nog niet duidelijk|(?:blijft|is) nog open|não (?:está|é) (?:ainda )?claro|(?:está|fica|continua) em aberto|^(?:who|whom|where|how|when|whether|what|which) [^;.,]{3,120} (?:is|are) (?:open|undecided))(?![\p{L}])/iu;
/** What is missing, or will be decided on a later day. */
const pending =
  /(?<![\p{L}])(?:(?:is|are) still (?:needed|missing|wanted)|(?:successor|replacement|volunteers?|helpers?|candidates?|treasurer|secretary|chair) (?:is|are) (?:wanted|sought|needed|looked for)|(?:Nachfolge(?:r|rin)?|Helfer|Freiwillige|Ersatz) (?:wird|werden) gesucht|(?:is|are) missing, who(?:ever)?|no (?:new )?(?:name|volunteer|successor|candidate|sponsor|date|solution|contract|answer) (?:was|were|has been|have been|is|could be) (?:yet )?(?:found|named|given|signed|set|reached)|(?:nobody|no one) (?:has|have) (?:yet )?(?:been )?(?:named|found|appointed|chosen|assigned)|(?:nobody|no one) has (?:yet )?(?:taken (?:this|that|it|them) on|volunteered|offered)|(?:nobody|no one) volunteered|still (?:has|have) to be (?:found|raised|decided|agreed|clarified|set|paid)|still unknown|(?:will decide|will vote|will hear|will discuss|will rule|votes)(?: [^.;,:]{1,60})? (?:on|in) (?:\d{1,4}|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September|October|November|December)|(?:wird|werden) noch (?:[^.;,:]{1,40} )?gesucht|(?:has|have) (?:still )?not (?:yet )?(?:been )?(?:returned|paid|delivered|received|answered|replied|repaired|replaced|signed|granted|issued|confirmed|responded)|(?:has|have) not yet \p{Ll}{3,14}|(?:has|have) yet to \p{Ll}{2,14}|(?:hat|haben|ist|sind|wurden?) (?:[^.;,:]{1,60} )?noch (?:nicht|keinen?|keine[rmn]?) [^.;,:]{1,60}|n['’](?:a|ont|est|sont)? ?pas encore|ne (?:sont|s['’]est) pas encore|(?:todavía|aún) no (?:ha|han|está|están|se)|non (?:ha|hanno|è|sono) ancora|(?:heeft|hebben|is|zijn) (?:[^.;,:]{1,60} )?nog (?:niet|geen)|ainda não (?:foi|foram|pagou|pagaram|há|está|estão)|(?:they|he|she|\p{Lu}\p{L}{2,20}) (?:will )?(?:answers?|repl(?:y|ies)|decides?|lets? us know|gets? back to us|comes? back to us) (?:to us )?by|(?:cannot|can['’]t) say yet|nothing (?:is|has been) (?:yet )?(?:signed|settled|agreed|decided|final)|fehlt noch|fehlen noch|manque(?:nt)? encore|liegt noch bei|liegen noch bei|(?:ist|bleibt) (?:noch )?offen|personne ne s['’]est (?:proposée?|portée?)|aucun volontaire|(?:décidera|votera|tranchera) le \d{1,2}|nadie se (?:ofreció|ha ofrecido)|no hay voluntarios|(?:decidirá|votará) el \d{1,2}|nessuno si è (?:offerto|proposto)|nessun volontario|(?:deciderà|voterà) (?:il |l['’])\d{1,2}|wird am \d{1,2}\. ?\p{L}{2,12}(?: \d{4})? (?:entscheiden|abstimmen)|entscheidet am \d{1,2})(?![\p{L}\p{N}])/iu;
const objected =
  /(?<![\p{L}])(?:disagreed|disagrees|objected|objects|dissented|abstained|opposed|voted against|against the votes? of|a voté contre|s['’]est abstenue?|votó en contra|se abstuvo|ha votato contro|si è astenut[oa]|stemde tegen|votou contra|widersprach|widersprachen|enthielt sich|enthielten sich|stimmte dagegen|stimmten dagegen)(?![\p{L}])/iu;
/** In an article: who is against what it tells of. */
const opposed =
  /(?<![\p{L}])(?:(?:fears?|feared)(?! of)|petition|(?:an? |the )complaint|demand(?:s|ed)? that|protest(?:s|ed|ers)?|opponents?|critics|critici[sz](?:es?|ed)|(?:is|are|was|were) (?:worried|against)|boycott|lawsuit|(?:Anwohner|Gegner|Kritiker)\p{L}{0,3} (?:fürchte|befürchte|kritisier|warne)\p{L}{1,2}|befürchte\p{L}{1,2}|Petition|Proteste?|Gegner|Kritiker|craignent|craint|pétition|opposants?|temen|recogida de firmas|temono|petizione)(?![\p{L}])/iu;
const supposed =
  /(?<![\p{L}])(?:if|unless|once|whether|would|might|(?<!(?:\d|in|of|by|until|since|last|next|early|late) )may(?! \d)|could|propos(?:es?|ed|ing)|suggest(?:s|ed|ing)?|recommend(?:s|ed|ing)?|wenn|falls|ob|könnte|vorgeschlagen|schlägt vor|schlug vor|pourrait|proposé de|propose de|podría|propuso|potrebbe|ha proposto)(?![\p{L}])/iu;
const prefixes: readonly (readonly [RegExp, 'decision' | 'action' | 'question' | 'risk'])[] = [
  [/^(?:=>|⇒|→) ?/u, 'decision'],
  [
    /^(?:decision|decided|decisions|resolved|resolution|agreed|motion|beschluss|entscheidung|entschieden)(?: ?#?\d{1,3})?(?: ?[:–-] ?)/iu,
    'decision',
  ],
  [
    /^(?:action|actions|action item|ai|todo|to do|to-do|task|aufgabe|next step)(?: ?#?\d{1,3})?(?: ?\([^()]{1,40}\))?(?: ?[:–-] ?)/iu,
    'action',
  ],
  // "ACTION Ada: two offers by May": the name stays with the task.
  [
    /^(?:ACTION|Action|TODO|AUFGABE|Aufgabe|TÂCHE|Tâche) (?=\p{Lu}[\p{L}'’.-]{1,30}(?: \p{Lu}[\p{L}'’.-]{1,30})? ?(?::|–|—|->|→))/u,
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
  // "The form asks 'do you smoke?'" asks nothing itself.
  if (/\?\)?$/.test(read.slice(-2)) || (/\?["'”’]$/.test(read.slice(-2)) && /^["'“‘„]/.test(read)))
    return { kind: 'question', text: sentence };
  const shift = movedTo.exec(read);
  if (shift !== null && !supposed.test(read.slice(0, shift.index)) && !matter.test(read)) return { kind: 'decision', text: sentence };
  if (isOpen(read, isDecision)) return { kind: 'undecided', text: sentence };
  if (unclear.test(isDecision ? '' : read.slice(0, contentStart(read))) && !(opened.test(read) && standing.test(read)))
    return { kind: 'question', text: sentence };
  const main = read.replace(relativeClause, ',');
  const match = decided.exec(main) ?? moved.exec(main) ?? voted.exec(main);
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

/** In mails and chats: "so we go for 14 September", "agreed, we take the stronger one", "no posters this year, agreed". */
const settling =
  /^agreed[,:] \p{L}|^(?:booked|reserved|ordered|gebucht|reservado|prenotato|réservé|bestellt|commandé)(?:[:,]| \d) ?|, agreed[.!]?$|^(?:(?:ok|okay|so|also|alors)[,.!]? )?(?:decision (?:on|about|for) [^:]{2,40}|final|Entscheidung zu[mr]? [^:]{2,40}|décision (?:pour|sur) [^:]{2,40}|endgültig|définitif|confirmed(?: with \p{L}{2,20})?|bestätigt|confirmé): |[.!,] (?:final|endgültig|définitif)[.!]?$|^(?:even )?(?:better|besser),? [^.?!]{0,20}\d[^.?!]{0,20} (?:then|dann)(?![\p{L}])|(?:^|[.!] )(?:then|dann|alors) (?!\p{Ll}{1,3} )[\p{L} ]{2,30} (?:on|am|le) [\p{L}]{0,10} ?\d|(?<![\p{L}])(?:(?<!(?:if|when|should|shall|can|could|unless) )we(?:['’]ll| will)? (?:go|are going) (?:for|with|ahead with)|we (?:accept|take) the|is (?:now )?settled|wir nehmen|wir machen es|on prend|nous prenons|nos quedamos con|prendiamo)(?![\p{L}])/iu;

export function isSettled(sentence: string): boolean {
  const read = sentence.slice(0, 1500);
  const match = settling.exec(read);
  return match !== null && !/\?$/.test(read) && !/^(?:That|This|It) /.test(read) && !supposed.test(read.slice(0, match.index));
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
  if (
    /^(?:voted|a voté|ha votato|votó|stimmte|stemde)(?: (?:for|against|contre|pour|contro|a favore|en contra|a favor|dagegen|dafür|tegen|voor))(?![\p{L}])/iu.test(
      sentence.slice(match.index, match.index + 40),
    )
  )
    return isNameLike(last.split(' ').at(-1)!) && !collective.test(last.split(' ').at(-1)!);
  if (/^agreed to/i.test(match[0])) return isNameLike(last) && !collective.test(last) && !/\bthe$/i.test(before.split(' ').at(-2) ?? '');
  return false;
}
