/** Finds actions in sentences of minutes, mails, chats and notes: who does what by when. */
import { type FoundDate, findDeadline } from './dates.ts';
import { isFirstName, isNameLike } from './names.ts';
import type { Unit } from './units.ts';

export type Action = {
  /** As written; null if nobody is named. */
  who: string | null;
  what: string;
  due: string | null;
  date: FoundDate | null;
  line: number;
  done: boolean;
};

const doing =
  /^(?<who>\p{Lu}[\p{L}'’.-]{0,30}(?: \p{Lu}[\p{L}'’.-]{0,30}){0,2}(?:(?:, | and | & | und )\p{Lu}[\p{L}'’.-]{0,30}(?: \p{Lu}[\p{L}'’.-]{0,30}){0,2}){0,4}) (?<verb>(?:also |then |still |now )?(?:will|to|shall|is to|are to|must|has to|have to|needs to|agreed to|volunteered to|offered to|promised to|(?:is|are) going to|(?:was|were|is|has been) asked to|undertakes to|undertook to|is responsible for|takes on|takes over|takes|should|wird|werden|soll|sollen|muss|müssen|übernimmt|übernehmen|kümmert sich|zal|zullen|moet|moeten|gaat|vai|vão|prüft|klärt|erstellt|sendet|schickt|organisiert|informiert|bereitet|liefert|aktualisiert|bestellt|ruft)(?![\p{L}]))/u;
/** "Work is to start on 1 September": what happens, not what a person does. */
const happening =
  /^is to (?:start|begin|commence|end|finish|take place|happen|continue|last|cost|open|close|stay|remain|run|become|go|come|follow)(?![\p{L}])/u;
const requested =
  /^(?<who>\p{Lu}[\p{L}'’-]{1,30}(?: \p{Lu}[\p{L}'’-]{1,30})?)(?<comma>,)? (?:please|pls|plz|can you|could you|would you|will you|bitte|kannst du|könntest du|können sie|tu peux|peux-tu|pourrais-tu) /u;
const own =
  /^(?:(?:yes|ok|okay|sure|sorry|right|good|and|so|then|ja|gut|also|fine|no problem)[,.!]? )?(?:I(?:'|’)ll|I will|I can(?! only| not|['’]t|not)|we(?:'|’)ll|we will|wir werden|will do|on it|doing (?:it|that|this)|I am going to|I(?:'|’)m going to|let me(?! (?:think|see|know|sleep|guess))|ich werde|ich kümmere|ich schicke|ich mache|ich bringe|wir kümmern|ich erstelle|ich übernehme|ich kläre|ich prüfe|ich sende|ich bestelle|mache ich|erledige ich|je m['’]en occupe|lo hago yo|me encargo|ci penso io|me ne occupo)(?![\p{L}])/iu;
const ownTask =
  /^(?:(?:I|and I) (?:print|bring|buy|book|send|order|pay|collect|call|ring|ask|write|prepare|check|organi[sz]e|make|take|get|do|fetch|pick|invite|clean|fix|draw|design|cook|bake|borrow|hire|rent|reserve|contact|arrange|drive|transfer|sign|update|post|phone|look|find|clear|talk|speak|report)|[Ii]ch (?:bringe|mache|kaufe|bestelle|schicke|buche|hole|drucke|rufe|frage|kläre|prüfe|zahle|überweise|reserviere|schreibe|besorge|organisiere)|[Jj]e (?:m['’]occupe|réserve|prends|envoie|appelle|demande|apporte|achète|prépare|fais|contacte|commande|imprime))(?![\p{L}])/u;
const needed =
  /^(?:(?:and|also|und)[, ]{1,2})?(?:I|we|ich|wir) (?:still |also |noch |auch )?(?:need|brauche|brauchen|benötige|benötigen)(?: still| noch)?(?![\p{L}])/iu;
/** "I'll know then", "I will fight": no task. */
const feeling =
  /^(?:[\p{L}]{1,5}[,.!]? )?(?:I(?:'|’)ll|I will|I(?:'|’)m going to|ich werde|we(?:'|’)ll|we will) (?:know|see|be|have|think|fight|miss|never|love|hate|wait|survive|stay|need|nie|[^.;!?]{0,60}(?<![\p{L}])(?:vermissen|wissen|sehen|sein|haben|kämpfen)[.!]?$)(?![\p{L}])/iu;
/** "Everybody packs the own desk by Wednesday". */
const everybody =
  /(?:^|[.!?] )(?<who>everybody|everyone|all of you|jede[rs]?|alle|tout le monde|chacun) (?!is |are |was |had |has |ist |sind |war |knows |else )\p{Ll}/iu;
const fewestWords = 4;
const asking = /(?<![\p{L}])(?:please|pls|plz|kindly|bitte)(?![\p{L}])/iu;
const please =
  /^(?:(?:and|also|so|then)[, ]{1,2})?(?:please|pls|plz|kindly|could you|can you|would you|bitte|könnten sie|könnt ihr|kannst du) /iu;

/** "Frank Petersen holt bis Freitag drei Angebote ein": a known person, a verb, and a deadline. */
const dueWord =
  /(?<![\p{L}])(?:by|until|till|before|deadline|bis|spätestens|Frist|no later than|avant|d['’]ici|jusqu['’](?:au|à)|au plus tard|antes|hasta|para el|a más tardar|entro|prima del?|fino al?|non oltre|vóór|uiterlijk|até)(?![\p{L}])/iu;
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
  const rest = read.slice(who.length + 1);
  const verb = /^\p{Ll}+/u.exec(rest)?.[0] ?? '';
  // "Torsten fragt bei der Feuerwehr nach": asked of somebody, not a question.
  const asksSomebody = /^(?:fragt|fragen) (?!ob |was |wie |wann |wer |wo |warum |nach |sich )[\p{L}]/u.test(rest);
  if ((pastWords.has(verb) && !asksSomebody) || correcting.test(rest) || /(?:te|ten|ed|ó|aron|ieron)$/.test(verb)) return null;
  return action(who, sentence, line);
}

/** "Must correct the figure of the last page": it is corrected by these words. */
const correcting = /^(?:muss|möchte|will|must|has to|wants to) [^.;:]{0,60}(?:berichtigen|korrigieren|richtigstellen|correct)(?![\p{L}])/iu;

/** "No conclusion, Sue to come back on this": an action of a known person in a later part of the sentence. */
export function clauseAction(sentence: string, line: number, known: ReadonlySet<string>): Action | null {
  const read = sentence.slice(0, 1500);
  const first = leadingPerson(read, known);
  for (const { index, 0: mark } of read.matchAll(/(?:[,;:]|\.\.\.|…| –| —| -|\band|\bund) (?:so |and |but |then )?(?=\p{Lu})/gu)) {
    const clause = read.slice(index + mark.length);
    const who = leadingPerson(clause, known);
    // "Ada and Bo speak with him": the second of two people begins no clause.
    if (who === null || (first !== null && index < first.length)) continue;
    const verb = doing.exec(clause)?.groups?.verb ?? '';
    if (
      /^(?:to|will|must|shall|is to|has to|needs to|wird|soll|muss|übernimmt)$/.test(verb) &&
      !/^(?:be|have|not) /.test(clause.slice(who.length + verb.length + 2))
    )
      return action(who, sentence, line);
    const task = presentTask(clause, line, known) ?? dueAction(clause, line, known);
    if (task !== null) return { ...task, what: sentence };
  }
  return null;
}

const mention = /(?<![\p{L}\p{N}._%+-])@(?<who>\p{L}[\p{L}\p{N}_-]{0,30})/gu;
const requesting =
  /(?<![\p{L}])(?:please|pls|plz|kindly|(?:can|could|would|will) you|bitte|kannst du|könntest du|könnt ihr|kümmerst du|machst du|bringst du|peux[- ]tu|pourrais[- ]tu|pouvez[- ]vous|stp|svp|s['’]il (?:te|vous) plaît|merci de|puedes|podrías|por favor|puoi|potresti|per favore|kun je|wil je|alsjeblieft)(?![\p{L}])/iu;
const maxMentioned = 4;

/** "@Ada please book the room", "@Ada @Bo can you bring chairs?", "@Ada send the list by Friday": a mention with a request or a deadline. */
function mentionedIn(sentence: string): string | null {
  const names = [...sentence.matchAll(mention)].map(({ groups }) => groups!.who!);
  if (names.length === 0 || names.length > maxMentioned) return null;
  const isTask = requesting.test(sentence) || (/^@/.test(sentence) && !sentence.endsWith('?') && findDeadline(sentence) !== null);
  return isTask && sentence.split(' ').length >= names.length + 2 ? names.join(', ') : null;
}

const atEnd = /, (?<who>\p{Lu}[\p{L}'’-]{1,30})[?.!]{0,2}$/u;
const ofPerson = /^(?:[Cc]ould|[Cc]an|[Ww]ould|[Kk]ann|[Kk]önnte|[Pp]eut|[Pp]ourrait|¿?[Pp]uede|[Pp]uò) (?<who>\p{Lu}[\p{L}'’-]{1,30}) /u;

/** "Can you book the room, Ada?", "Could Ada book the room?": of a person whom the text knows. */
function askedOf(sentence: string, met: ReadonlySet<string>): string | null {
  const who =
    (requesting.test(sentence) ? atEnd.exec(sentence.slice(-60))?.groups?.who : undefined) ?? ofPerson.exec(sentence)?.groups?.who;
  return who !== undefined && met.has(who.toLowerCase()) ? who : null;
}

const pastWords = new Set(
  'fällt findet meint schlägt sieht bemerkt weist erinnert will notes thinks says wonders trouve pense propose signale constate was were had said told reported explained thought felt left came went did has have is are berichtet berichtete a ont était avait fue ha han hanno è era erano war waren hatte hat haben ist sind fragt sagt erklärt meint and und oder or of'.split(
    ' ',
  ),
);

/** "Dear Ann, please call": the words after it are the sentence. */
const salutation =
  /^(?:Dear|Hello|Hi|Hey|Good (?:morning|afternoon|evening)|Liebe[rs]?|Hallo|Guten (?:Morgen|Tag|Abend)|Sehr geehrte[rs]?|Chère?|Bonjour|Salut|Hola|Estimad[oa]|Ciao|Gentile) [^,.!?]{0,60}, /u;
/** Words of politeness, and hints that ask for nothing. */
const courtesy =
  /(?<![\p{L}])(?:please (?:find|see) (?:attached|enclosed|below)|please (?:note|be aware|be advised|accept|excuse|forgive|forget|don['’]t hesitate|do not hesitate)|bitte (?:beachten|entschuldigen|verzeihen)|anbei (?:finden|erhalten)|veuillez (?:trouver|noter|agréer))(?![\p{L}])/iu;

/** An action, recognised by the form of the sentence; null if it is not one. `me` is the speaker or author. */
export function actionOf(
  sentence: string,
  line: number,
  me: string | null,
  to: string | null,
  met: ReadonlySet<string> = new Set(),
): Action | null {
  const read = sentence.slice(0, 1500).replace(salutation, '');
  if (courtesy.test(read)) return null;
  const mentioned = mentionedIn(read);
  if (mentioned !== null) return action(mentioned, sentence, line);
  const asked = askedOf(read, met);
  if (asked !== null) return action(asked, sentence, line);
  const each = everybody.exec(read);
  if (each !== null && dueWord.test(read)) {
    const found = action(each.groups!.who!, read.slice(each.index).replace(/^[.!?] /, ''), line);
    if (found.due !== null) return found;
  }
  const named = requested.exec(read);
  // "Jakub please order it": without a comma only for a person of the text.
  if (named !== null && (named.groups!.comma !== undefined || met.has(named.groups!.who!.toLowerCase())))
    return action(named.groups!.who!, sentence, line);
  const assigned = doing.exec(read);
  if (assigned !== null) {
    const people = assigned.groups!.who!.split(/, | and | & | und /);
    const verb = assigned.groups!.verb!;
    const certain = people.every((person) => isFirstName(person.split(' ')[0]!) || isNameLike(person));
    const known = people.every((person) => isFirstName(person.split(' ')[0]!) || met.has(person.toLowerCase()));
    if (correcting.test(read.slice(assigned.groups!.who!.length + 1))) return null;
    // "Had to refund the group", "Spoke to Okafor": in speech, a sentence without its "I".
    const isVerb = me !== null && verb === 'to' && !known;
    if (
      certain &&
      !isVerb &&
      (known || /^(?:to|is to|agreed to|volunteered to|offered to|promised to|übernimmt|kümmert sich)$/.test(verb)) &&
      !/^(?:be|have|not) /.test(read.slice(assigned[0].length + 1)) &&
      (known || !happening.test(`${verb} ${read.slice(assigned[0].length + 1)}`))
    )
      return action(assigned.groups!.who!, sentence, line);
  }
  if (me !== null && own.test(read) && !feeling.test(read) && !/\?$/.test(read)) return action(me, sentence, line);
  // "I print the flyers before the 12th": in the present tense, with a deadline.
  if (me !== null && ownTask.test(read) && dueWord.test(read) && !/\?$/.test(read)) {
    const found = action(me, sentence, line);
    if (found.due !== null) return found;
  }
  if (to === null || /^(?:yes|ja|oui|sí|sì)[ ,!]/iu.test(read)) return null;
  // "Hut please!" wishes for something.
  const isWish = read.split(' ').length < fewestWords;
  const needs =
    needed.test(read) && (!to.startsWith('the others') || findDeadline(read)?.date === null || !/^(?:and |also )?I need in /i.test(read));
  if (!please.test(read) && (!asking.test(read) || isWish) && !needs) return null;
  // "Then I collect 5 euros, please by Friday": in a chat, the speaker's own task.
  const isOwn = to.startsWith('the others') && /(?<![\p{L}])(?:ich|I)(?![\p{L}])/u.test(read);
  // "The tent is booked. please bring chairs": in a chat, what is asked for is only the last part.
  const from = please.test(read) ? -1 : read.slice(0, asking.exec(read)?.index ?? 0).search(/[.!] [^.!]{0,200}$/);
  return action(isOwn ? me : to, from === -1 ? sentence : sentence.slice(from + 2), line);
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
  /^(?<who>\p{Lu}[\p{L}'’-]{1,30}(?: \p{Lu}[\p{L}'’-]{1,30})?) (?:(?:will|wird) (?:ask|inform|send|get|talk|call|check|write|order|book|prepare|organi[sz]e|contact|find|buy|sign|draft|arrange|invite|collect|obtain|compare|speak|clarify|update|report|bring|draw|hire|install|repair|clean|paint|measure|translate|print|present|propose|revise|review|submit|apply)|asks|gets|sends|calls|checks|writes|orders|books|prepares|organi[sz]es|contacts|finds|buys|drafts|arranges|invites|collects|obtains|compares|brings|rings|fetches|makes|does|repairs|clarifies|s['’]occupe|fragt|klärt|holt|schreibt|schickt|macht|besorgt|erstellt|kümmert sich)(?![\p{L}])/u;

const doesTask =
  /^ (?:orders|books|sends|prepares|organi[sz]es|contacts|buys|signs|drafts|arranges|invites|collects|obtains|brings|hires|installs|repairs|cleans|paints|measures|translates|prints|submits|clarifies|takes over|looks after|redet mit|reden mit|sprechen mit|führt ein Gespräch|führen ein Gespräch|bestellt|besorgt|schickt|verschickt|organisiert|bucht|kauft|misst|holt|klärt|prüft|schreibt|reserviert|recherchiert|druckt|verteilt|repariert|aktualisiert|kümmert sich|fragt (?:bei|beim)|spricht mit) (?!that |dass )/u;

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

const personName = "(?:\\p{Lu}\\.(?:-?\\p{Lu}\\.)? ?)?\\p{Lu}[\\p{L}'’-]{1,30}(?: \\p{Lu}[\\p{L}'’-]{1,30}){0,2}";
const leading = new RegExp(`^${personName}(?:(?: und | and | et | & )${personName})?(?= (?!und |and |et )\\p{Ll})`, 'u');
const inBrackets = new RegExp(`\\((?<who>${personName}(?:(?: und | and | et |, )${personName})?)(?<more>, [^()]{1,60})?\\)`, 'gu');
const counted =
  /(?<![\p{L}])(?:ja|nein|dafür|dagegen|Enthaltung(?:en)?|Stimmen?|votes?|for|against|abstain\p{L}{0,4}|abstentions?|voix|pour|contre)(?![\p{L}])/u;

const byAgent = new RegExp(`(?<![\\p{L}])(?:to|must|should|will|shall) be (?:${tasks}) by (?<who>${personName})(?![\\p{L}])`, 'u');

/** "Permit to be requested by Priya this week": a known person does it. */
export function agentAction(sentence: string, line: number, known: ReadonlySet<string>): Action | null {
  const who = byAgent.exec(sentence.slice(0, 600))?.groups?.who;
  return who !== undefined && (known.has(who.toLowerCase()) || isFirstName(who.split(' ')[0]!)) ? action(who, sentence, line) : null;
}

/** "The invitations go out on 3 May (Ada)", "keys for all (Bo, with the office, by 6 May)": the doer in brackets, with a day. */
export function bracketedActions(sentence: string, line: number, known: ReadonlySet<string>): Action[] {
  return sentence
    .slice(0, 1500)
    .split('; ')
    .flatMap((clause): Action[] => {
      const [found, ...others] = [...clause.matchAll(inBrackets)];
      const who = found?.groups?.who;
      if (who === undefined || others.length > 0) return [];
      const people = who.split(/ und | and | et |, /);
      const isDue = dueWord.test(found!.groups!.more ?? '') && people.every(isNameLike);
      const isKnown = people.every((each) => known.has(each.toLowerCase()) || isFirstName(each.split(' ')[0]!));
      const before = clause.slice(0, found!.index).trim();
      if (!isDue && !(isKnown && found!.index + found![0].length >= clause.trimEnd().length - 1 && !counted.test(before))) return [];
      if (before.split(' ').length < 2) return [];
      const task = action(people[0]!, clause, line);
      return task.due === null ? [] : [{ ...task, who }];
    });
}

/** "Jürgen Wolf holt ein Angebot ein": a person that is known from elsewhere, or a common first name, before a small word. */
function leadingPerson(item: string, known: ReadonlySet<string>): string | null {
  const name = leading.exec(item.slice(0, 160))?.[0];
  if (name === undefined) return null;
  const people = name.split(/ und | and | et | & /);
  return people.every((each) => known.has(each.toLowerCase()) || isFirstName(each.split(' ')[0]!)) ? name : null;
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

const listLead =
  /(?<![\p{L}])(?:(?:we|I) (?:still )?need|please (?:send|bring|provide|let (?:us|me) have)|(?:wir|ich) (?:brauchen?|benötigen?)|bitte (?:senden|schicken|bringen)|il (?:nous|me) (?:faut|manque)|nous avons besoin)(?![\p{L}])[^:]{0,80}:$/iu;
const wholeList =
  /(?<![\p{L}])(?:everything|all (?:of )?(?:these|this|that|documents|papers)|alles|alle Unterlagen|le tout|tous ces)(?![\p{L}])/iu;
const maxListed = 20;

/** "Before we decide we need: 1. the receipt, 2. the photos": each item is asked of the reader, until the day that the text after the list names. */
export function requestedList(units: readonly Unit[], lead: Unit, to: string | null): Action[] {
  const isLead =
    lead.kind === 'heading' ? listLead.test(`${lead.text}:`) : lead.kind === 'sentence' && listLead.test(lead.text.slice(-200));
  if (to === null || !isLead) return [];
  const at = units.indexOf(lead);
  const after = units.slice(at + 1, at + 1 + maxListed);
  const end = after.findIndex(({ kind }) => kind !== 'item');
  const items = end === -1 ? after : after.slice(0, end);
  const told = end === -1 ? undefined : after.slice(end, end + 4).find(({ kind, text }) => kind === 'sentence' && wholeList.test(text));
  const due = told === undefined ? null : findDeadline(told.text);
  return items.map(({ text, line, checked }) => ({
    who: to,
    what: text,
    due: due?.written ?? null,
    date: due?.date ?? null,
    line,
    done: checked,
  }));
}
