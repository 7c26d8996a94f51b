/** Days and amounts of earlier sentences that a later sentence replaces: "23 June, not 20 June", "the fair is moved to 14 September". */
import { amountsIn } from './amounts.ts';
import { findDates } from './dates.ts';
import type { Quote } from './facts.ts';
import type { Passage } from './passages.ts';
import { isMovedTo } from './statements.ts';
import { stem } from './stem.ts';

/** `written`: the day or amount in `text` that holds no more. */
export type Superseded = Quote & { written: string; by: Quote };

type Value = { kind: 'day' | 'amount'; key: string; written: string; index: number; end: number };
type Read = { passage: Passage; values: Value[]; stems: ReadonlySet<string>; clauses: { values: Value[]; stems: ReadonlySet<string> }[] };

const maxChanges = 60;
const maxFound = 200;
/** Messages before a correction that it may mean without a word in common. */
const near = 8;
const maxChain = 5;
const leastAmount = 10;
const longStem = 5;
const prefixChars = 6;

const notOld =
  /^(?: [\p{L}²³%]{1,9})?[,;:]? (?:and )?(?:not|nicht|statt|instead of|rather than|et non|non|au lieu du?|y no|e non)(?: (?:the|am|on|vom|le|den|auf|von))? $/iu;
const butNew = /^(?: [\p{L}²³%]{1,9})?,? (?:but|sondern|mais|sino|ma)(?: (?:the|am|on|auf|le|rather))? $/iu;
const negated = /(?<![\p{L}])(?:not|nicht|pas|no|non)(?: (?:the|am|on|auf|le|du))? $/iu;
const fromOld = /(?<![\p{L}])(?:from|vom|von|du|de|del|dal)(?: the| dem)? $/iu;
const toNew = /^(?: [\p{L}²³%]{1,9})? (?:to|auf|auf den|zum|au|à|al|a)(?: the| den)? $/iu;
const changing =
  /(?<![\p{L}])(?:mov|chang|shift|postpon|correct|verleg|verschob|änder|korrig|berichtig|report|déplac|cambi|spost)\p{L}{0,8}(?![\p{L}])/iu;
const dayOnly =
  /^,? (?:and |et )?(?:not|nicht|statt|instead of|pas|non)(?: the| am| den| on| le)? (\d{1,2})(?:st|nd|rd|th|\.)?(?![\p{L}\p{N}%]|[.,:]\d| ?[€$£%])/iu;
/** A new day of something, in a chat or a mail. */
const announcing =
  /(?<![\p{L}])(?:(?:new|final|fixed|confirmed|neue[rsnm]?|fester?|endgültige[rsn]?|nouvelle|définitive|nueva|nuova) (?:\p{L}{2,12} ){0,2}(?:date|day|Termin|Datum|Tag|fecha|data)|final|définitif|endgültig|definitivo|confirmed|bestätigt|confirmé|(?:is|are) now)(?![\p{L}])|^(?:(?:ok(?:ay)?|so|even better|better|well|gut|alors|dann)[,.! ]{1,3})(?:[^.!?]{0,40}[.!] )?(?:then|dann|alors|so) /iu;
const deadline = /(?<![\p{L}])(?:by|until|till|deadline|bis|spätestens|Frist|avant|jusqu['’]au|hasta|entro)(?![\p{L}])/iu;
const bareBooking = /^(?:booked|reserved|ordered|gebucht|reserviert|bestellt|réservé|commandé)(?![\p{L}])/iu;
const generic = new Set(
  'over into about after before until only more less than hands handed hand come comes coming give take need make work booked order ordered done bring send call called open close start sign look want keep know check plan between zwischen entre date days week weeks year month time confirmed final better even then that this also will with from have must there today tomorrow please still monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi vendredi samedi dimanche wird werden damit bleibt verlegt verschoben gesetzt moved changed entsprechend now neuer termin january february march april june july august september october november december januar februar märz juni juli oktober dezember'
    .split(' ')
    .map(stem),
);

/**
 * What a later sentence replaces, each with that sentence.
 *
 * @param decisions in them, and in deadlines, a day falls when its matter is moved to another day
 */
export function supersededIn(passages: readonly Passage[], decisions: readonly Quote[], kind: 'chat' | 'mails' | 'other'): Superseded[] {
  const isChat = kind === 'chat';
  const read = (isChat ? messagesOf(passages) : passages).filter(({ text }) => /\d/.test(text)).map(readPassage);
  const decided = new Set(decisions.map(({ line }) => line));
  const found: Superseded[] = [];
  let changes = 0;
  const add = ({ passage }: Read, { written }: Value, by: Passage) => {
    const { text, line } = passage;
    if (found.length < maxFound && !found.some((known) => known.line === line && known.written === written && known.text === text))
      found.push({ text, line, written, by: { text: by.text, line: by.line } });
  };
  for (const [at, change] of read.entries()) {
    if (changes === maxChanges) break;
    const { passage, values } = change;
    // A thread of mails may begin with the newest.
    const before =
      kind === 'mails'
        ? read.filter((each) => each.passage.line !== passage.line)
        : read.slice(0, at).filter((each) => each.passage.line !== passage.line);
    const wrong = wrongFigure(change, before);
    if (wrong !== null) add(wrong.earlier, wrong.value, passage);
    const pairs = [...pairsIn(passage.text, values), ...oldFigure(change, read.slice(Math.max(0, at - 2), at))];
    const isMove =
      pairs.length === 0 && kind !== 'mails' && (isMovedTo(passage.text) || (isChat && announcing.test(passage.text.slice(0, 600))));
    if (pairs.length === 0 && !isMove) continue;
    changes++;
    for (const old of pairs)
      for (const earlier of before)
        for (const value of earlier.values)
          if (
            isSame(value, old) &&
            (sharesAny(around(earlier.passage), change.stems) || (isChat && passage.at - earlier.passage.at <= near))
          )
            add(earlier, value, passage);
    if (isMove) moved(change, before, decided, isChat, add);
  }
  return found.map((each) => ({ ...each, by: lastOf(each.by, found) }));
}

/** What replaced a day may have been replaced itself. */
function lastOf(by: Quote, found: readonly Superseded[]): Quote {
  let last = by;
  for (let i = 0; i < maxChain; i++) {
    const next = found.find(({ line, by: later }) => line === last.line && later.line > last.line);
    if (next === undefined) return last;
    last = next.by;
  }
  return last;
}

/** The sentences of one message of a chat as one. */
function messagesOf(passages: readonly Passage[]): Passage[] {
  return [...Map.groupBy(passages, ({ line }) => line).values()].map((each) => ({
    ...each[0]!,
    text: each.map(({ text }) => text).join(' '),
  }));
}

/** The words of a sentence and of the one before it under the same heading. */
function around({ text, before, section }: Passage): Set<string> {
  return stemsIn(before !== null && before.section === section ? `${before.text} ${text}` : text);
}

function moved(
  change: Read,
  before: readonly Read[],
  decided: ReadonlySet<number>,
  isChat: boolean,
  add: (earlier: Read, value: Value, by: Passage) => void,
): void {
  const days = new Set(change.values.flatMap(({ kind, key }) => (kind === 'day' ? [key] : [])));
  const dated = change.clauses.filter(({ values }) => values.some(({ kind }) => kind === 'day'));
  const clauses = isChat && dated.length > 1 ? dated : [{ values: change.values, stems: change.stems }];
  for (const clause of clauses) {
    if (!clause.values.some(({ kind }) => kind === 'day')) continue;
    const old = new Map<string, string>();
    for (const earlier of before)
      for (const part of earlier.clauses)
        for (const value of part.values) {
          if (value.kind !== 'day' || days.has(value.key)) continue;
          const isDecided = decided.has(earlier.passage.line);
          const isDue = deadline.test(earlier.passage.text.slice(Math.max(0, value.index - 30), value.index));
          const isOnly = earlier.clauses.filter(({ values }) => values.some(({ kind }) => kind === 'day')).length === 1;
          const own = isChat && !isOnly ? part.stems : earlier.stems;
          const stems = isDecided && !isChat ? new Set([...own, ...stemsIn(earlier.passage.section)]) : isChat ? own : part.stems;
          if (
            (isChat || isDecided || isDue) &&
            (sharesMatter(stems, clause.stems, isChat || isDecided) || (isDecided && namesSubject(change.passage.text, earlier.passage)))
          ) {
            if (part.values.length === 1) old.set(value.key, earlier.passage.section);
            add(earlier, value, change.passage);
          }
        }
    // The same day of the same matter, in other words: "booked for 27 June".
    for (const earlier of before)
      for (const value of earlier.values) {
        const section = value.kind === 'day' ? old.get(value.key) : undefined;
        if (section === undefined) continue;
        const isSameMatter = isChat
          ? bareBooking.test(earlier.passage.text)
          : section !== '' && section === earlier.passage.section && sharesMatter(around(earlier.passage), clause.stems, false);
        if (isSameMatter) add(earlier, value, change.passage);
      }
  }
}

const movedSubject =
  /(?:^|[.,;:!] |damit (?:wird|ist) )(?:the |der |die |das |le |la |les |l['’])(?<what>\p{L}[\p{L}'’-]{2,25}(?: (?!is |are |was |has |wird |ist |est )[\p{L}'’-]{2,25}){0,2}) (?:is|are|was|were|has|have|wird|werden|ist|est|sont|auf)(?![\p{L}])/iu;

/** "The open day is moved": whether the earlier sentence, or its heading, names just that. */
function namesSubject(text: string, { text: earlier, section }: Passage): boolean {
  const what = movedSubject.exec(text.slice(0, 400))?.groups?.what?.toLowerCase();
  return what !== undefined && (earlier.toLowerCase().includes(what) || section.toLowerCase().includes(what));
}

function readPassage(passage: Passage): Read {
  const text = passage.text.slice(0, 1000);
  const dates = findDates(text).flatMap(({ iso, monthDay, written, index }): Value[] => {
    const key = iso?.slice(5) ?? monthDay;
    return key === null || key === undefined || key.length !== 5 ? [] : [{ kind: 'day', key, written, index, end: index + written.length }];
  });
  const amounts = amountsIn(text)
    .filter(({ index, written }) => !dates.some((date) => index < date.end && index + written.length > date.index))
    .map(({ value, written, index }): Value => ({ kind: 'amount', key: String(value), written, index, end: index + written.length }));
  const values = [...dates, ...amounts].toSorted((a, b) => a.index - b.index);
  let from = 0;
  const clauses = text.split(/(?<=[.;,!?]) /).map((part) => {
    const [start, end] = [from, from + part.length];
    from = end + 1;
    return { values: values.filter(({ index }) => index >= start && index < end), stems: stemsIn(part) };
  });
  return { passage, values, stems: stemsIn(text), clauses };
}

/** The old values that a sentence names beside the new ones. */
function pairsIn(text: string, values: readonly Value[]): Value[] {
  const old: Value[] = [];
  for (const [i, first] of values.entries()) {
    const second = values[i + 1];
    const day = first.kind === 'day' ? dayOnly.exec(text.slice(first.end, first.end + 40)) : null;
    if (day !== null) old.push({ ...first, key: `${first.key.slice(0, 3)}${day[1]!.padStart(2, '0')}` });
    if (second === undefined || second.kind !== first.kind || second.key === first.key) continue;
    const between = text.slice(first.end, second.index);
    const lead = text.slice(Math.max(0, first.index - 16), first.index);
    if (notOld.test(between)) old.push(second);
    else if (butNew.test(between) && negated.test(lead)) old.push(first);
    else if (toNew.test(between) && fromOld.test(lead) && changing.test(text)) old.push(first);
  }
  return old.filter(({ kind, key }) => kind === 'day' || Math.abs(Number(key)) >= leastAmount || key.includes('.'));
}

const oldLabel =
  /(?<![\p{L}])(?:first|old|previous|earlier|erste[rsnm]?|alte[rsnm]?|bisherige[rsnm]?|ancien(?:ne)?|premier|première) (?:figure|quotation|quote|offer|price|amount|estimate|Angebot|Preis|Betrag|Summe|devis|prix|montant|offre)(?: (?:of|was|war|von|de|über))?[ (:]{1,2}$/iu;
const newLabel =
  /(?<![\p{L}])(?:new|second|neue[rsnm]?|zweite[rsnm]?|nouveau|nouvelle|deuxième) (?:figure|quotation|quote|offer|price|amount|estimate|Angebot|Preis|Betrag|Summe|devis|prix|montant|offre)(?![\p{L}])/iu;

/** "The first figure (1,200) was only for the roof. New quotation: 1,500": the first one. */
function oldFigure({ passage, values }: Read, before: readonly Read[]): Value[] {
  if (!newLabel.test(passage.text) || !values.some(({ kind }) => kind === 'amount')) return [];
  return before.flatMap(({ passage: earlier, values: old }) =>
    earlier.at < passage.at - 3
      ? []
      : old.filter(({ kind, index }) => kind === 'amount' && oldLabel.test(earlier.text.slice(Math.max(0, index - 40), index))),
  );
}

const rightIs =
  /(?<![\p{L}])(?:richtig (?:ist|sind|wäre[n]?|lautet)|korrekt (?:ist|sind)|the (?:right|correct) (?:figure|number|amount|sum|total) (?:is|was)|(?:le chiffre|le montant|la somme) (?:exacte?|juste|correcte?) est|correct (?:is|are))(?![\p{L}])/iu;
const leastTail = 5;

/** "The cash book must be corrected … The correct figure is 820 euros": the only earlier figure of that unit and size of the same matter. */
function wrongFigure({ passage, values }: Read, before: readonly Read[]): { earlier: Read; value: Value } | null {
  const amounts = values.filter(({ kind }) => kind === 'amount');
  const [now] = amounts;
  if (now === undefined || amounts.length > 1 || !rightIs.test(passage.text)) return null;
  const unit = passage.amounts.find(({ written }) => written === now.written)?.unit ?? '';
  const words = wordsIn(passage.before === null ? passage.text : `${passage.before.text} ${passage.text}`);
  const found = before.flatMap((earlier) =>
    earlier.passage.amounts
      .filter((each) => each.unit === unit && unit !== '' && isNearSize(each.value, Number(now.key)))
      .flatMap(({ written }) => earlier.values.filter((value) => value.written === written))
      .filter(() =>
        wordsIn(earlier.passage.text).some((own) => words.some((word) => word === own || (own.length >= leastTail && word.endsWith(own)))),
      )
      .map((value) => ({ earlier, value })),
  );
  return found.length === 1 ? found[0]! : null;
}

function wordsIn(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/\p{L}{5,30}/gu) ?? [])].filter(
    (word) => !generic.has(stem(word)) && !/^(?:euros?|franken)$/.test(word),
  );
}

function isNearSize(old: number, now: number): boolean {
  return old !== now && old > now / 2 && old < now * 2;
}

function isSame(value: Value, old: Value): boolean {
  return value.kind === old.kind && value.key === old.key;
}

function stemsIn(text: string): Set<string> {
  const words = text.toLowerCase().split(/[^\p{L}]+/u);
  return new Set(
    words
      .filter((word) => word.length > 3)
      .map(stem)
      .filter((each) => !generic.has(each)),
  );
}

function sharesAny(first: ReadonlySet<string>, second: ReadonlySet<string>): boolean {
  return [...second].some((each) => first.has(each));
}

/** Two words in common, or a long one, or two that begin alike: "Anmeldung", "Anmeldeschluss"; with `isAny` one short word is enough. */
function sharesMatter(first: ReadonlySet<string>, second: ReadonlySet<string>, isAny: boolean): boolean {
  const common = [...second].filter((each) => first.has(each));
  if (common.length > 1 || common.some((each) => isAny || each.length >= longStem)) return true;
  const heads = [...second].flatMap((each) => {
    const head = closingOf.exec(each)?.groups?.head;
    return head !== undefined ? [head] : each.length > prefixChars ? [each.slice(0, prefixChars)] : [];
  });
  return [...first].some((each) => heads.some((head) => each.startsWith(head)));
}

/** "meldeschlu": what the deadline is for. */
const closingOf = /^(?<head>\p{L}{4,14}?)[es]?(?:schlu|fris|termi)\p{L}{0,2}$/u;
