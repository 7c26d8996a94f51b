/** What later messages of a chat change: decisions that they replace or revoke, and tasks that pass from one person to another. */
import { sentencesOf } from '../sentences.ts';
import type { Action } from './actions.ts';
import { amountsIn } from './amounts.ts';
import { findDates } from './dates.ts';
import type { Quote } from './facts.ts';
import { isSettled, statementOf } from './statements.ts';
import { stem, stemsOf } from './stem.ts';
import type { Unit } from './units.ts';

export type Replaced = Quote & { by: Quote };
export type Handover = { from: string; to: string; text: string; line: number };

const revoking =
  /(?<![\p{L}])(?:forget (?:the|that|it|about|what)|scrap(?:ped)?|cancel(?:l?ed)?|call(?:ed)? off|(?:is|are) off|instead|after all|on second thoughts?|changed (?:my|our) minds?|change of plans?|no longer (?:valid|true|applies|on|happening|meet\p{L}{0,3})|(?:switch|move|moved|changed?|postponed|brought forward) (?:it |that |this |them |the \p{L}{2,20} )?to|take (?:that|it) back|won['’]t happen|doch (?:nicht|lieber|kein\p{L}{0,2})|stattdessen|statt|anstelle|anstatt|vergiss|vergesst|abgesagt|gestrichen|abgeblasen|fällt aus|Planänderung|gilt nicht mehr|verschoben|verlegt|finalement|à la place|au lieu|oublie[zr]?|annulée?s?|on annule|laisse tomber|reportée?s?|déplacée?s?|ne vaut plus|al final|en lugar|en vez|olvid\p{L}{1,3}|cancelad[oa]s?|invece|alla fine|annullat[oa]|toch niet|in plaats van|afgelast)(?![\p{L}])/iu;
/** Wishes, conditions and reports of others change nothing yet. */
const unsettled =
  /\?|(?<![\p{L}])(?:if|unless|would|might|could|maybe|perhaps|I['’]d (?:rather|prefer)|I prefer|I think|wenn|falls|vielleicht|würde\p{L}{0,2}|könnte\p{L}{0,2}|ich finde|ich glaube|si|peut-être|je préfère(?:rais)?|je pense|pourrait|quizás|prefiero|creo|forse|preferirei|penso|misschien)(?![\p{L}])/iu;
const proposing =
  /(?<![\p{L}])(?:let['’]s|lasst uns|wollen wir|shall we|how about|what about|on (?:pourrait|prendrait)|je propose|propongo|facciamo)(?![\p{L}])/iu;
const pointing = /(?<![\p{L}])(?:that|it|this|das|es|ça|cela|eso|quello|dat|second thoughts?|change of plans?|Planänderung)(?![\p{L}])/iu;
/** "I cancelled my train" changes no decision. */
const ofSelf = /^(?:but |and |aber |und |mais |et )?(?:I|I['’]m|ich|je|j['’]ai|yo|io)(?![\p{L}])/iu;
const generic = new Set(
  'agreed agree decided decide great shall take takes make makes then with this that have will please sounds good fine okay sure instead after forget'
    .split(' ')
    .map(stem),
);
const maxMessages = 2_000;
const maxReplaced = 60;
/** Messages after a decision in which "forget that" still means it. */
const near = 5;

/** The decisions that hold at the end, and those that a later message replaced. */
export function withoutReplaced(decisions: readonly Quote[], units: readonly Unit[]): { decisions: Quote[]; replaced: Replaced[] } {
  const spoken = units.filter(({ kind }) => kind === 'speech').slice(0, maxMessages);
  const names = new Set(spoken.map(({ key }) => stem(key.toLowerCase().split(' ')[0]!)));
  let current = decisions.map((quote) => ({ quote, stems: matterOf(quote.text, names) }));
  const replaced: Replaced[] = [];
  for (const [at, unit] of spoken.entries()) {
    const text = unit.text.slice(0, 1000);
    const own = current.find(({ quote }) => quote.line === unit.line || quote.text.includes(unit.text));
    // Of a message that is no decision yet, only the sentence that revokes counts.
    const read = own === undefined ? (sentencesOf(text).find(isRevocation) ?? '') : text;
    const isRevoking = own === undefined ? read !== '' : revoking.test(read);
    const stems = matterOf(read, names);
    // A proposal changes something once the others agree: then it is among the decisions.
    if (own === undefined && (!isRevoking || proposing.test(read))) continue;
    const earlier = current.filter((each) => each !== own && each.quote.line < unit.line && !each.quote.text.includes(unit.text));
    const meant = isRevoking ? meantBy(read, stems, unit.line, earlier, spoken[at - near]?.line ?? 0) : sameMatter(text, stems, earlier);
    if (meant === null || isConfirmation(stems, meant) || replaced.length === maxReplaced) continue;
    const by = own?.quote ?? { text: `${unit.key}: ${unit.text}`.slice(0, 300), line: unit.line };
    replaced.push({ ...meant.quote, by });
    current = current.filter((each) => each !== meant);
    if (own === undefined) current.push({ quote: by, stems });
  }
  return { decisions: current.map(({ quote }) => quote).toSorted((a, b) => a.line - b.line), replaced };
}

function isRevocation(sentence: string): boolean {
  return revoking.test(sentence) && !unsettled.test(sentence) && !declining.test(sentence) && !ofSelf.test(sentence);
}

/** "Agreed, canteen instead of the barn", after that was decided. */
function isConfirmation(stems: ReadonlySet<string>, { quote, stems: held }: Held): boolean {
  return revoking.test(quote.text) && [...stems].every((each) => held.has(each));
}

type Held = { quote: Quote; stems: ReadonlySet<string> };

/** The decision with most words in common; without any, the last one right before a message that says "forget that". */
function meantBy(text: string, stems: ReadonlySet<string>, line: number, earlier: readonly Held[], since: number): Held | null {
  const ranked = earlier
    .map((held) => ({ held, common: commonOf(held.stems, stems) }))
    .filter(({ common }) => common > 0)
    .toSorted((a, b) => b.common - a.common || b.held.quote.line - a.held.quote.line);
  if (ranked.length > 0) return ranked[0]!.held;
  const before = earlier.filter(({ quote }) => quote.line >= since && quote.line < line);
  return before.length === 1 && pointing.test(text) && stems.size <= 3 ? before[0]! : null;
}

/** "Decided: the fee is 8 euros", later "Decided: the fee is 6 euros": one matter with another figure or day. */
function sameMatter(text: string, stems: ReadonlySet<string>, earlier: readonly Held[]): Held | null {
  if (statementOf(text).kind !== 'decision' && !sentencesOf(text).some(isSettled)) return null;
  const words = new Set([...stems].filter((each) => !/\d/.test(each)));
  return (
    earlier.findLast(({ quote, stems: other }) => {
      const own = [...other].filter((each) => !/\d/.test(each));
      const smaller = Math.min(own.length, words.size);
      return smaller >= 2 && own.filter((each) => words.has(each)).length === smaller && differs(quote.text, text);
    }) ?? null
  );
}

/** One figure of one unit each, or one day each, that are not the same. */
function differs(first: string, second: string): boolean {
  const [a, b] = [amountsIn(first), amountsIn(second)];
  if (a.length === 1 && b.length === 1 && a[0]!.unit === b[0]!.unit && a[0]!.value !== b[0]!.value) return true;
  const days = (text: string) => findDates(text).map(({ iso, monthDay }) => iso?.slice(5) ?? monthDay ?? '');
  const [c, d] = [days(first), days(second)];
  return c.length === 1 && d.length === 1 && c[0] !== d[0];
}

/** What a message is about: its words without names of speakers and words of every decision, and its figures. */
function matterOf(text: string, names: ReadonlySet<string>): Set<string> {
  const plain = text.replace(/(?:^| – )[^:–]{1,40}: /g, ' ').replace(/ \(\d{4}-\d{2}-\d{2}\)$/, '');
  const stems = [...stemsOf(plain)].filter((each) => each.length > 3 && !generic.has(each) && !names.has(each) && !/\d/.test(each));
  return new Set([...stems, ...amountsIn(plain).map(({ value, unit }) => `${value} ${unit}`)]);
}

function commonOf(first: ReadonlySet<string>, second: ReadonlySet<string>): number {
  return [...second].filter((each) => first.has(each)).length;
}

const name = '(?<NAME>\\p{Lu}[\\p{L}\\u0027’-]{1,30})';
const taking =
  "(?:take|takes|took|taking|do|does|handle|handles|übernehme|übernimmt|übernahm|mache|macht|reprends|reprend|prends|prend|fais|fait|m['’]occupe|s['’]occupe|asumo|asume|hago|hace|prendo|prende|faccio|fa)";
const takenFrom = new RegExp(
  `(?<![\\p{L}])${taking}(?![\\p{L}])[^.;!?]{0,80}?(?<![\\p{L}])(?:from|instead of|in place of|von|statt|anstelle von|de la part de|à la place de|au lieu de|de|en lugar de|al posto di|da) @?${name.replace('NAME', 'from')}(?![\\p{L}])`,
  'u',
);
const speaking = /^(?:(?:ok|okay|yes|ja|oui|sí|sì|well|then|also|alors|gut|fine)[,.!]? )?(?:I|ich|je|yo|io)(?![\p{L}])/iu;
const other = new RegExp(`^@?${name.replace('NAME', 'who')} (?:will |wird |va )?${taking}(?![\\p{L}])`, 'u');
const declining =
  /(?<![\p{L}])(?:I (?:can(?:['’]t|not)|won['’]t|am not able)|ich (?:kann|schaffe)[^.;!?]{0,60} (?:nicht|doch nicht)|ich kann nicht|je ne peux pas|je ne pourrai pas|no puedo|no podré|non posso|non riesco)(?![\p{L}])/iu;
const takingIt =
  /(?<![\p{L}])(?:(?:I(?:['’]ll| will| can)|ich|je|yo|io) (?:can |kann |peux |puedo |posso )?(?:take|do|get|handle|bring|order|übernehme|mache|übernehmen|machen|le (?:fais|prends|ferai)|m['’]en (?:occupe|charge)|me encargo|ci penso|lo (?:hago|faccio|prendo))(?![\p{L}]))/iu;

/** Who took a task over from whom: said in one message, or offered right after somebody says that it is not possible. */
export function handoversIn(units: readonly Unit[]): Handover[] {
  const spoken = units.filter(({ kind }) => kind === 'speech').slice(0, maxMessages);
  const speakers = new Set(spoken.flatMap(({ key }) => [key, key.split(' ')[0]!]));
  const found: Handover[] = [];
  for (const [at, { key, text, line }] of spoken.entries()) {
    if (found.length === maxReplaced) break;
    const read = text.slice(0, 600);
    if (/\?["”)]?$/.test(read)) continue;
    const sentence = sentencesOf(read).find((each) => takenFrom.test(each));
    const from = sentence === undefined ? undefined : takenFrom.exec(sentence)?.groups?.from;
    const to = sentence === undefined ? undefined : speaking.test(sentence) ? key : other.exec(sentence)?.groups?.who;
    if (from !== undefined && to !== undefined && from !== to && speakers.has(from)) {
      found.push({ from, to, text: read, line });
      continue;
    }
    const before = spoken.slice(Math.max(0, at - near), at).findLast((each) => each.key !== key && declining.test(each.text.slice(0, 600)));
    if (before !== undefined && takingIt.test(read) && !declining.test(read))
      found.push({ from: before.key, to: key, text: `${before.text.slice(0, 300)} – ${key}: ${read}`, line });
  }
  return found;
}

/** The tasks with the person who has them at the end; the message of the handover is no task of its own. */
export function withHandovers<Task extends Action>(tasks: readonly Task[], handovers: readonly Handover[]): Task[] {
  let current = [...tasks];
  for (const { from, to, text, line } of handovers) {
    const words = stemsOf(text);
    const own = current.filter(({ who, line: at, done }) => who !== null && firstOf(who) === firstOf(from) && at < line && !done);
    const meant = own.toSorted((a, b) => commonOf(stemsOf(b.what), words) - commonOf(stemsOf(a.what), words))[0];
    if (meant === undefined || commonOf(stemsOf(meant.what), words) === 0) continue;
    current = current.map((task) => (task === meant ? { ...task, who: `${to} (took over from ${from}, line ${line})` } : task));
    current = current.filter((task) => task.line !== line || task.who === null || firstOf(task.who) !== firstOf(to));
  }
  return current;
}

function firstOf(who: string): string {
  return who.replace('@', '').split(' ')[0]!.toLowerCase();
}
