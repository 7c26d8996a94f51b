/** Changes between two times that a sentence states for one thing: "40,000 a year, up from 26,000 in 2021". The difference is computed. */
import { exact, markdownTable, percent, safe } from '../../figure.ts';
import { type Amount, exactly, inNotationOf, likeSecond } from '../amounts.ts';
import type { Passage } from '../passages.ts';
import { stemsInCommon, stemsOf } from '../stem.ts';
import type { Told } from './told.ts';

type Change = { from: Amount; to: Amount; passage: Passage };

const year = /(?<!\d)(?:19|20)\d{2}(?!\d)/g;
/** Between the later and the earlier figure. */
const earlierFollows =
  /(?:(?:up|down|increased|decreased|risen|fallen) from|against|compared (?:with|to)|instead of|after|gegenüber|statt|nach|au lieu de|contre|en lugar de|frente a|invece di|contro) (?:only |just |about |rund |etwa )?$/iu;
const fromLead = /(?<![\p{L}])(?:from|von) (?:about |rund |etwa )?$/iu;
const toLead = / (?:to|auf) (?:about |rund |etwa )?$/iu;
const maxBetween = 80;
const shown = 8;

/** Null where no sentence states such a change. */
export function changesOf(clause: string, passages: readonly Passage[]): Told | null {
  const all = passages.flatMap(changesIn);
  const wanted = stemsOf(clause);
  const close = all.filter(({ passage }) => stemsInCommon(passage.text, wanted) > 0);
  const found = (close.length > 0 ? close : all).slice(0, shown);
  if (found.length === 0) return null;
  return {
    short: found.map(({ from, to, passage }) => `${difference(from, to)} (line ${passage.line})`).join(' | '),
    lines: [
      markdownTable(
        ['Change', 'As written', 'Line'],
        found.map(({ from, to, passage }) => [safe(difference(from, to)), safe(passage.text), exact(passage.line)]),
      ),
    ],
  };
}

export function changesIn(passage: Passage): Change[] {
  const { text, amounts } = passage;
  return amounts.slice(0, -1).flatMap((first, i): Change[] => {
    const second = amounts[i + 1]!;
    const end = first.index + first.written.length;
    const between = text.slice(end, second.index);
    if (between.length > maxBetween || first.value === second.value) return [];
    // "From 58 million to 122 million pounds": the first figure leaves its unit to the second.
    const isRange = fromLead.test(text.slice(Math.max(0, first.index - 12), first.index)) && toLead.test(between);
    if (isRange && (isSameUnit(first, second) || isSameUnit(second, first)))
      return [{ from: likeSecond(first, second), to: second, passage }];
    if (!isSameUnit(first, second)) return [];
    if (earlierFollows.test(between)) return [{ from: second, to: first, passage }];
    const [one, other] = [
      yearIn(between),
      yearIn(text.slice(second.index + second.written.length, second.index + second.written.length + maxBetween)),
    ];
    if (one === null || other === null || one === other) return [];
    return [one < other ? { from: first, to: second, passage } : { from: second, to: first, passage }];
  });
}

/** Whether the units are one; "46 pairs, against 19": the second figure leaves its unit to the first. */
function isSameUnit(first: Amount, second: Amount): boolean {
  return first.unit === second.unit || (second.unit === '' && first.unit !== '%');
}

function yearIn(text: string): number | null {
  const found = text.match(year);
  return found?.length === 1 ? Number(found[0]) : null;
}

export function difference(from: Amount, to: Amount): string {
  const change = exactly(to.value - from.value);
  const sign = change < 0 ? '−' : '+';
  const share = from.value === 0 || from.unit === '%' ? '' : `, ${sign}${percent(Math.abs(change), from.value)}`;
  return `${from.written} to ${to.written}: ${sign}${inNotationOf(to, Math.abs(change))}${share}`;
}
