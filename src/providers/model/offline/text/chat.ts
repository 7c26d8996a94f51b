/** Chat logs: the day of each message, what the others agreed to, and questions that were left without an answer. */
import { sentencesOf } from '../sentences.ts';
import { amountsIn, isMoney } from './amounts.ts';
import { handoversIn, withHandovers, withoutReplaced } from './chat-changes.ts';
import { findDates, isDay } from './dates.ts';
import { addOnce } from './fact-list.ts';
import type { DateFact, Quote, TextFacts } from './facts.ts';
import type { Message } from './messages.ts';
import { isSettled } from './statements.ts';
import { stemsOf } from './stem.ts';
import type { Unit } from './units.ts';

const maxMessages = 2_000;
/** So many different numbers beside a constant one are days of one month. */
const fewestDays = 3;
const maxQuoteChars = 300;
/** "[12/05/2026, 18:02:11] Nora: …", "12.05.26, 18:02 - Nora: …", "2026-05-12 18:02 Nora: …". */
const stamped =
  /^[[(]?(?<a>\d{1,4})[./-](?<b>\d{1,2})[./-](?<c>\d{2,4}),? \d{1,2}:\d{2}(?::\d{2})?(?: ?[AaPp][Mm])?[\])]?(?: ?[-–] ?| )(?<from>[^:]{1,40}): /;

/** The messages with their days; a day is null where day and month could be either way round in the whole log. */
export function readChat(text: string): Message[] {
  const found = text
    .split('\n')
    .slice(0, maxMessages)
    .flatMap((written, i) => {
      const groups = stamped.exec(written.trim().slice(0, 120))?.groups;
      return groups === undefined ? [] : [{ a: groups.a!, b: groups.b!, c: groups.c!, from: groups.from!, line: i + 1 }];
    });
  const short = found.filter(({ a }) => a.length <= 2);
  // A chat of several days in a row has one month and many days.
  const [firsts, seconds] = [new Set(short.map(({ a }) => Number(a))), new Set(short.map(({ b }) => Number(b)))];
  const isDayFirst = [...firsts].some((first) => first > 12) || (firsts.size >= fewestDays && seconds.size === 1);
  const isMonthFirst = [...seconds].some((second) => second > 12) || (seconds.size >= fewestDays && firsts.size === 1);
  return found.map(({ a, b, c, from, line }) => {
    const [year, month, day] = a.length === 4 ? [a, b, c] : isDayFirst ? [c, b, a] : [c, a, b];
    const iso = `${year.padStart(4, '20')}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
    const isCertain = a.length === 4 || isDayFirst !== isMonthFirst;
    return { from, line, iso: isCertain && isDay(iso) ? iso : null };
  });
}

/** The day of the first message of a chat. */
export function firstDay({ kind, messages }: TextFacts): DateFact | null {
  const [first] = messages;
  if (kind !== 'transcript' || first === undefined || first.iso === null) return null;
  return { written: first.iso, iso: first.iso, note: '', text: first.from, line: first.line };
}

/** What was agreed in a chat, and what was left open: not every question. */
export function addChat(facts: TextFacts, units: readonly Unit[]): void {
  const agreed = agreedIn(units);
  for (const quote of agreed) addOnce(facts.decisions, quote);
  // What is a part of a proposal with its answers is told with these.
  facts.decisions = facts.decisions
    .filter((quote) => agreed.includes(quote) || !agreed.some(({ text }) => text.includes(quote.text)))
    .toSorted((first, second) => first.line - second.line);
  facts.decisions = facts.decisions.flatMap((quote) => withRequest(quote, units)).map((quote) => withMessage(quote, units));
  const { decisions, replaced } = withoutReplaced(facts.decisions, units);
  facts.decisions = decisions.map((quote) => withDay(quote, facts.messages));
  facts.replaced = replaced.map((quote) => ({ ...withDay(quote, facts.messages), by: withDay(quote.by, facts.messages) }));
  facts.actions = withoutAssents(facts.actions).filter((action) => !isMereOffer(action, units));
  facts.actions = facts.actions.map((action) => ({ ...action, what: withMessageBefore(action.what, action.line, units) }));
  facts.handovers = handoversIn(units);
  facts.actions = withHandovers(facts.actions, facts.handovers);
  const closing = closingIn(units);
  const isOpen = (quote: Quote) => !isClosed(quote, closing);
  const open = [...unansweredIn(units), ...unsureIn(units)].filter(isOpen);
  facts.questions = [...facts.questions.filter(({ text }) => !/\?["”)]?$/.test(text)), ...open].toSorted((a, b) => a.line - b.line);
  const told = new Set(facts.replaced.map(({ by }) => by.line));
  facts.undecided = facts.undecided.filter(
    (quote) => !told.has(quote.line) && isOpen(quote) && !open.some(({ text }) => text.includes(quote.text)),
  );
  facts.actions = facts.actions.map((action) =>
    isOpen({ text: action.what, line: action.line }) && !isReported(action, facts.actions, units) ? action : { ...action, done: true },
  );
}

/** "I can get two tents": nobody asked for it right before. */
function isMereOffer({ what, who, line }: TextFacts['actions'][number], units: readonly Unit[]): boolean {
  if (!/^(?:[\p{L}]{1,5}[,.!]? )?(?:I can|ich kann|je peux) /iu.test(what)) return false;
  const before = units.filter((unit) => unit.kind === 'speech' && unit.line < line).slice(-near);
  return !before.some(({ key, text }) => key !== who && (text.includes('?') || seeking.test(text)));
}

const seeking = /(?<![\p{L}])(?:who|wer|qui|needs? (?:someone|somebody)|brauch\p{L}{1,3} jemand\p{L}{0,2})(?![\p{L}])/iu;
const asks = /(?<![\p{L}])(?:please|pls|needs?|bitte|brauch\p{L}{1,3}|wer|who|qui)(?![\p{L}])/iu;
const bare =
  /^(?:(?:ok|okay|ja|yes)[,.!]? )?(?:booked|ordered|reserved|approved|confirmed|paid|sent|done|gebucht|bestellt|reserviert|genehmigt|bezahlt|verschickt|erledigt|réservé|commandé|payé|envoyé|fait)(?![\p{L}])/iu;

/** "Booked, Friday 8 am" names no matter: the request that it answers does. An answer of one word without such a request is no decision. */
function withRequest(quote: Quote, units: readonly Unit[]): Quote[] {
  if (!bare.test(quote.text)) return [quote];
  const at = units.findIndex(({ kind, line }) => kind === 'speech' && line === quote.line);
  const own = units[at];
  if (own === undefined) return [quote];
  const request = units
    .slice(Math.max(0, at - near), at)
    .findLast(({ key, text }) => key !== own.key && (text.includes(own.key.split(' ')[0]!) || text.includes('?')));
  if (request === undefined) return quote.text.split(' ').length < fewestWords ? [] : [quote];
  return [{ ...quote, text: `${written(request)} – ${written(own)}` }];
}

/** "Decided: the Hill offer, with wax. 350 plus tax.": with what follows of the same message, as long as it begins with a figure or names a day. */
function withMessage(quote: Quote, units: readonly Unit[]): Quote {
  const own = units.find(({ kind, line, text }) => kind === 'speech' && line === quote.line && text.includes(quote.text));
  const after = own === undefined ? '' : own.text.slice(own.text.indexOf(quote.text) + quote.text.length).trim();
  let { text } = quote;
  for (const sentence of sentencesOf(after.slice(0, maxQuoteChars))) {
    if (asks.test(sentence) || !(/^\d/.test(sentence) || findDates(sentence).length > 0)) break;
    text += ` ${sentence}`;
  }
  return { ...quote, text };
}

const fewestWords = 3;
const maxAnswers = 16;
const reporting =
  /(?<![\p{L}])(?:rang back|called back|got back|answered|replied|says?|said|confirmed|closed|is out|hat (?:zurückgerufen|geantwortet|zugesagt)|sagt|a répondu|a rappelé)(?![\p{L}])/iu;

const finished = /(?<![\p{L}])(?:closed|finished|is out|abgeschlossen|fertig|terminée?)(?![\p{L}])/iu;
const inquiring =
  /(?<![\p{L}])(?:ask|call|ring|phone|contact|frag\p{L}{0,3}|anruf\p{L}{0,3}|demand\p{L}{0,3}|appel\p{L}{0,4})(?![\p{L}])/iu;

/** Whether the person of a task says later that it is done: "booked", "the landlord rang back". */
function isReported({ who, what, line }: TextFacts['actions'][number], tasks: TextFacts['actions'], units: readonly Unit[]): boolean {
  if (who === null) return false;
  const stems = stemsOf(what);
  const later = units.filter((unit) => unit.kind === 'speech' && unit.line > line && unit.key === who.replace('@', ''));
  const next = tasks.find((task) => task.who === who && task.line > line)?.line ?? Number.POSITIVE_INFINITY;
  return later.slice(0, maxAnswers).some(({ text, line: at }) => {
    const [first] = text.slice(0, 400).split(/[.!?:] /);
    if (bare.test(text) && at - line <= maxAnswers && at <= next) return true;
    return (
      (inquiring.test(what) ? reporting : finished).test(first!) &&
      !/\?/.test(first!) &&
      [...stemsOf(first!)].some((each) => stems.has(each))
    );
  });
}

/** "Hall is sorted", "Getränke sind erledigt", "le gâteau, c'est fait": not "is it done?", "not done yet", "when it is done". */
const closing =
  /(?<![\p{L}])(?:done|sorted|booked|ordered|paid|taken care of|erledigt|gebucht|bestellt|bezahlt|besorgt|c['’]est (?:fait|réglé|réservé|payé)|(?:está|ya está|queda) (?:hecho|hecha|reservad[oa]|pagad[oa])|hecho|listo|(?:è|già) (?:fatto|fatta|prenotat[oa]|pagat[oa])|fatto|(?:está|já está) (?:feito|feita|tratado|pago|paga)|feito|geregeld|gedaan|besteld|betaald)(?![\p{L}])/iu;
const notClosing =
  /\?|(?<![\p{L}])(?:by|please|pls|bitte|not|isn['’]t|n['’]t|yet|never|nobody|if|when|once|until|unless|to be|will be|should be|must be|needs?|nicht|noch|nie|wenn|sobald|bis|muss|müssen|soll|pas|encore|quand|dès|doit|no|aún|todavía|cuando|debe|non|ancora|quando|deve|não|ainda|niet|nog|als|zodra|moet)(?![\p{L}])/iu;
/** "Done" alone, or with so few words, closes what stands right before it. */
const maxBare = 4;
const maxClosings = 300;

type Closing = { line: number; stems: ReadonlySet<string>; bareAfter: number | null };

/** The sentences that say that something is done; of a bare one, the line of the message before it. */
function closingIn(units: readonly Unit[]): Closing[] {
  const spoken = units.filter(({ kind }) => kind === 'speech').slice(0, maxMessages);
  return spoken
    .flatMap((unit, at) =>
      sentencesOf(unit.text.slice(0, 1000))
        .flatMap((each) => each.split(/(?<=[.!]) /))
        .flatMap((sentence): Closing[] => {
          if (!closing.test(sentence) || notClosing.test(sentence)) return [];
          const words = sentence.split(' ').length;
          return [
            {
              line: unit.line,
              stems: stemsOf(withoutDates(sentence.replace(closing, ' '))),
              bareAfter: words <= maxBare ? (spoken[at - 1]?.line ?? null) : null,
            },
          ];
        }),
    )
    .slice(0, maxClosings);
}

/** A day that two sentences have in common is no matter. */
function withoutDates(text: string): string {
  return findDates(text).reduce((rest, { written: date }) => rest.replace(date, ' '), text);
}

/** Whether a later message names the matter as done, with half of its own words or more, or says only "done" right after it. */
function isClosed({ text, line }: Quote, closings: readonly Closing[]): boolean {
  const matter = stemsOf(text.replace(/(?:^| – )[^:–]{1,40}: /g, ' '));
  return closings.some(
    ({ line: later, stems, bareAfter }) =>
      later > line && (stems.size === 0 ? bareAfter === line : [...stems].filter((stem) => matter.has(stem)).length * 2 >= stems.size),
  );
}

const proposing =
  /(?:^|[.!?,;] )(?:so |then |and )?(?:shall (?:I|we)|should (?:I|we)|let(?:'|’)s|how about|what about|I(?:'|’)d say|I (?:suggest|propose)|why don(?:'|’)t we|soll(?:en)? (?:ich|wir)|wollen wir|ich schlage vor|lasst uns|on (?:fait|prend|réserve)|je propose|propongo|reservo|quedamos|facciamo|prenoto)(?![\p{L}])/iu;
const deferring =
  /(?<![\p{L}])(?:later|decide|think about|not me|me neither|I(?:'|’)ll come back to|(?:I )?can(?:'|’)t(?:,|\.|$| (?:that|make|do|come))|no idea|tbd|I(?:'|’)ll know|don(?:'|’)t know|not sure|let(?:'|’)s see|we(?:'|’)ll see|ask again|später|weiß nicht|keine Ahnung|mal sehen|nicht ich|plus tard|sais pas|más tarde|no sé|più tardi|non so|non lo so)(?![\p{L}])/iu;
const agreeing =
  /^(?:yes|yep|yeah|fine|ok|okay|sure|fair enough|agreed|sounds good|deal|perfect|great|works for me|good idea|booked|ordered|done|👍|ja|gut|passt|einverstanden|gebucht|abgemacht|gerne?|oui|d['’]accord|ça marche|sí|vale|perfecto|sì|va bene|perfetto)(?![\p{L}])/iu;
const takingOn =
  /^(?:(?:ok|okay|yes|ja|oui|sí|sì|well|then|but)[,.!]? )?(?:I can(?! only|not|['’]t)|I(?:'|’)ll(?! come back)|I will|I have (?:one|a )|ich kann|ich habe (?:eine[ns]?|noch)|ich bringe|ich mache|je peux|j['’]en ai|yo puedo|puedo|posso|ci penso)(?![\p{L}])/iu;
/** Messages after a proposal or a question that may answer it. */
const near = 5;

/** Proposals to which another speaker agreed, with who agreed. */
function agreedIn(units: readonly Unit[]): Quote[] {
  const spoken = units.filter(({ kind }) => kind === 'speech');
  return spoken.flatMap((unit, at): Quote[] => {
    if (!proposing.test(unit.text.slice(0, 1000)) || deferring.test(unit.text.slice(0, 1000))) return [];
    const answers = followers(spoken, at).filter(({ text }) => agreeing.test(text));
    if (!answers.some(({ key }) => key !== unit.key)) return [];
    return [{ text: [unit, ...answers].map(written).join(' – '), line: unit.line }];
  });
}

/** Questions that nobody answered, or whose answer was put off. */
function unansweredIn(units: readonly Unit[]): Quote[] {
  const spoken = units.filter(({ kind }) => kind === 'speech');
  return spoken.flatMap((unit, at): Quote[] => {
    // "Who takes the Saturday shift? I am at a wedding."
    if (!/\?["”)]?(?: [^?]{0,60})?$/.test(unit.text.slice(-70)) || !unit.text.includes('?')) return [];
    const isLast = /\?["”)]?$/.test(unit.text.slice(-2));
    const next = spoken[at + 1];
    if (next !== undefined && next.key !== unit.key && sentencesOf(next.text.slice(0, 1000)).some(isSettled)) return [];
    const answers = followers(spoken, at);
    const putOff = answers.findLastIndex(({ text }) => deferring.test(text.slice(0, 500)));
    // "Who brings the grill?" – "Not me" – "I can bring the big one".
    if (putOff !== -1 && answers.slice(putOff + 1).some(({ key, text }) => key !== unit.key && takingOn.test(text.slice(0, 500))))
      return [];
    if ((answers.some(({ key }) => key !== unit.key) || !isLast) && putOff === -1) return [];
    return [{ text: [unit, ...answers.slice(0, putOff + 1)].map(written).join(' – '), line: unit.line }];
  });
}

/** "Or the power supply. Not sure.": what nobody knows. */
function unsureIn(units: readonly Unit[]): Quote[] {
  return units
    .filter(
      ({ kind, text }) =>
        kind === 'speech' && /(?:^|[.!,] )(?:I(?:'|’)m |I am )?not sure(?: yet)?[.!]?$/i.test(text.slice(-60)) && text.length > 20,
    )
    .map((unit) => ({ text: written(unit), line: unit.line }));
}

/** A decision with the day of its message. */
function withDay(quote: Quote, messages: readonly Message[]): Quote {
  const day = messages.findLast(({ line }) => line <= quote.line)?.iso ?? null;
  return day === null ? quote : { ...quote, text: `${quote.text} (${day})` };
}

/** "Will do" after a request to the same person is no task of its own. */
function withoutAssents(actions: TextFacts['actions']): TextFacts['actions'] {
  return actions.filter(
    ({ who, what, due, line }) =>
      !(brief.test(what) || (due === null && what.split(' ').length <= maxAssent && /^I(?:'|’)ll |^ich /iu.test(what))) ||
      !actions.some((other) => other.who === who && other.line < line && other.line >= line - near && !brief.test(other.what)),
  );
}

/** The messages up to the next question or proposal. */
function followers(spoken: readonly Unit[], at: number): Unit[] {
  const after = spoken.slice(at + 1, at + 1 + near);
  // The first one may answer and ask at once: "Yes please! Divide by 4?".
  // "Agreed, we take the one for 340" settles a matter of its own.
  const end = after.findIndex(
    ({ text }, i) =>
      sentencesOf(text.slice(0, 1000)).some(isSettled) ||
      (i > 0 && text.includes('?') && !agreeing.test(text)) ||
      (proposing.test(text.slice(0, 1000)) && !deferring.test(text.slice(0, 1000))),
  );
  return end === -1 ? after : after.slice(0, end);
}

const maxAssent = 8;
const brief =
  /^(?:(?:ok|okay|sorry|yes|sure)[,.!]? )?(?:will do|on it|doing (?:it|that|this)|mache ich|erledige ich|lo hago yo|me encargo|ci penso io|me ne occupo)(?![\p{L}])/iu;
const pronoun = /(?<![\p{L}])(?:him|her|them|it|that|this|ihn|ihm|ihr|das|es)(?![\p{L}])/iu;

/** A task that names its matter only by a pronoun is told with what its message says before, or else with the message before. */
function withMessageBefore(what: string, line: number, units: readonly Unit[]): string {
  if (!brief.test(what) && !pronoun.test(what)) return what;
  // "Agreed, we take the one for 340. Jakub please order it": the message itself says what is meant.
  const own = units.find((unit) => unit.kind === 'speech' && unit.line === line)?.text ?? '';
  const at = own.indexOf(what);
  if (at > 0) return own.slice(Math.max(0, at - maxQuoteChars), at + what.length);
  const spoken = units.filter((unit) => unit.kind === 'speech' && unit.line < line).slice(-near);
  const last = spoken.at(-1);
  const isRefusal = last !== undefined && deferring.test(last.text.slice(0, 500));
  // After "Not me, mine is broken" the question before says what is meant.
  const before = (isRefusal ? spoken.findLast(({ text }) => text.includes('?')) : undefined) ?? last;
  return before === undefined ? what : `${written(before)} – ${what}`;
}

const paying =
  /(?<![\p{L}])(?:pays?|paid|owes?|money|transfer(?:red)?|each|shares?|bezahl\p{L}{0,2}|zahl\p{L}{0,2}|überweis\p{L}{0,3}|pro Person|paie|payé|chacun|paga\p{L}{0,2}|cada uno|ciascuno)(?![\p{L}])/iu;

/** What is said of payments, each with its speaker. */
export function paymentsIn(units: readonly Unit[]): Quote[] {
  return units
    .filter(({ kind, text }) => kind === 'speech' && (paying.test(text.slice(0, 1000)) || amountsIn(text).some(isMoney)))
    .map((unit) => ({ text: written(unit), line: unit.line }));
}

function written({ key, text }: Unit): string {
  return `${key}: ${text.length > maxQuoteChars ? `${text.slice(0, maxQuoteChars)}…` : text}`;
}
