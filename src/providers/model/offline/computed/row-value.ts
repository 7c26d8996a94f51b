/** The value of each row that a question names without a formula: how late, how long, how much it is worth, by columns that have it. */

import { isDoneName, isDueName } from '../../../table/findings/due-dates.ts';
import type { RowValue } from '../../../table/queries/query.ts';
import { wordSet } from '../../../table/word-set.ts';
import { type Column, likeness } from './columns-meant.ts';
import { type ValueKind, valueKindWords } from './vocabulary.ts';

const delayNames = wordSet('delay late lateness verspätung retard retraso ritardo');
const waitNames = wordSet('wait waiting wartezeit attente espera attesa queue');
const durationNames = wordSet('duration dauer durée duración durata turnaround length elapsed');
const beginNames = wordSet(
  'start started begin beginn opened received eingang registered ordered created arrival arrived checkin admitted called departure abfahrt reçu début inicio inizio ankunft aufnahme pickup',
);
const endNames = wordSet(
  'end ended ende finish finished closed released freigabe completed resolved done delivered departure left returned discharged entlassung fin fine reported shipped erledigt abgeschlossen',
);
const waitFrom = wordSet(
  'scheduled appointment arrival arrived checkin registered requested received ordered termin ankunft anmeldung rendez-vous arrivée cita llegada',
);
const waitTo = wordSet('called seen started start begin admitted served aufgerufen beginn behandlung appelé début treated');
const scheduledNames = wordSet('scheduled appointment termin rendez-vous cita');
const soldNames = wordSet('sold verkauft verkaufte vendu vendus vendue vendues vendido vendidos venduto venduti');
const quantityNames = wordSet(
  'quantity qty units pieces count number sold amount menge anzahl stück stk tickets seats pieces litres kg hours nights verkauft quantité pièces cantidad unidades quantità pezzi',
);
const priceNames = wordSet('price preis prix precio prezzo fare rate tarif tariff');
const worthNames = wordSet(
  'revenue turnover sales umsatz erlös amount total betrag montant importe importo einnahmen recette takings value',
);
const plannedNames = wordSet(
  'planned plan booked expected budget target soll geplant gebucht prévu prévus prévue reserved ordered scheduled system forecast',
);
const actualNames = wordSet('actual counted boarded ist gezählt real réel compté delivered received shown measured');

/** Null if no column, or no single pair of columns, has it. */
/** @param context further words of the task, where those of the question do not tell columns apart */
export function valueOfKind(
  kind: ValueKind,
  columns: readonly Column[],
  words: readonly string[],
  context: readonly string[],
): RowValue | null {
  if (kind === 'lateness') return columnCalled(columns, delayNames) ?? lateness(columns, words, context);
  if (kind === 'waiting') return columnCalled(columns, waitNames) ?? spanOf(columns, words, waitFrom, waitTo);
  if (kind === 'duration') return columnCalled(columns, durationNames) ?? duration(columns, words);
  if (kind === 'revenue') return revenue(columns);
  return difference(columns);
}

/** The kinds that the words name, the most telling first. */
export function valueKindsIn(words: readonly string[]): ValueKind[] {
  return valueKindWords.filter(([, names]) => words.some((word) => names.has(word))).map(([kind]) => kind);
}

/** The columns with a plan and what came of it: the planned and the actual departure, not the planned one and the actual arrival. */
export function planAndActual(columns: readonly Column[], words: readonly string[], context: readonly string[]): [Column, Column] | null {
  const moments = columns.filter(({ kind }) => kind === 'date' || kind === 'clock');
  const dues = moments.filter(({ name }) => isDueName(name));
  const pairs = dues.flatMap((due) => {
    const others = moments.filter((each) => each.kind === due.kind && !dues.includes(each) && !isBeginning(each, moments));
    const done = others.filter(({ name }) => isDoneName(name));
    const candidates = (done.length > 0 && !due.tokens.some((token) => scheduledNames.has(token)) ? done : others).map((each) => ({
      each,
      shared: each.tokens.filter((token) => due.tokens.includes(token)).length,
    }));
    const best = Math.max(-1, ...candidates.map(({ shared }) => shared));
    const alike = candidates.filter(({ shared }) => shared === best);
    // What is scheduled begins then: the first time after it is the actual one, not the end.
    const closest =
      alike.length > 1 && due.tokens.some((token) => scheduledNames.has(token))
        ? alike.toSorted((a, b) => startOf(a.each) - startOf(b.each)).slice(0, 1)
        : alike;
    return closest.length === 1 ? [[due, closest[0]!.each] as [Column, Column]] : [];
  });
  if (pairs.length < 2) return pairs[0] ?? null;
  return closestPair(pairs, words) ?? closestPair(pairs, context);
}

/** The pair that most of the words mean; null if they mean none more than the others. */
function closestPair(pairs: readonly [Column, Column][], words: readonly string[]): [Column, Column] | null {
  const score = (pair: readonly Column[]) =>
    pair.reduce((sum, column) => sum + words.reduce((own, word) => own + likeness(word, column), 0), 0);
  const ranked = pairs.map((pair) => ({ pair, score: score(pair) })).toSorted((a, b) => b.score - a.score);
  return ranked[0]!.score > ranked[1]!.score ? ranked[0]!.pair : null;
}

function startOf({ profile }: Column): number {
  return profile.dates === undefined ? 0 : Date.parse(profile.dates.first.slice(0, 10));
}

/** The first date of every row is its beginning. */
function isBeginning({ profile: { dates }, kind }: Column, moments: readonly Column[]): boolean {
  const others = moments.filter(({ profile }) => profile.dates !== undefined && profile.dates !== dates);
  return (
    kind === 'date' &&
    others.length > 1 &&
    others.every(({ profile }) => dates!.first <= profile.dates!.first && dates!.last <= profile.dates!.last)
  );
}

function lateness(columns: readonly Column[], words: readonly string[], context: readonly string[]): RowValue | null {
  const pair = planAndActual(columns, words, context);
  return pair === null ? null : { kind: 'difference', of: pair[1].name, less: pair[0].name };
}

function columnCalled(columns: readonly Column[], names: ReadonlySet<string>): RowValue | null {
  const found = columns.filter(({ kind, tokens }) => kind === 'number' && tokens.some((token) => names.has(token)));
  return found.length === 1 ? { kind: 'column', of: found[0]!.name } : null;
}

function spanOf(columns: readonly Column[], words: readonly string[], from: ReadonlySet<string>, to: ReadonlySet<string>): RowValue | null {
  const moments = columns.filter(({ kind }) => kind === 'date' || kind === 'clock');
  const called = (names: ReadonlySet<string>, except: Column | undefined) => {
    const found = moments.filter((each) => each !== except && each.tokens.some((token) => names.has(token)));
    const named = found.filter((each) => words.some((word) => likeness(word, each) > 0));
    return found.length === 1 ? found[0] : named.length === 1 ? named[0] : undefined;
  };
  const begin = called(from, undefined);
  const end = called(to, begin);
  if (begin === undefined || end === undefined || begin.kind !== end.kind) return null;
  return { kind: 'difference', of: end.name, less: begin.name };
}

function duration(columns: readonly Column[], words: readonly string[]): RowValue | null {
  const dates = columns.filter(({ kind, name }) => kind === 'date' && !isDueName(name));
  const [a, b] = dates;
  const named = spanOf(
    columns.filter(({ name }) => !isDueName(name)),
    words,
    beginNames,
    endNames,
  );
  if (named !== null || dates.length !== 2) return named;
  const [first, last] = a!.profile.dates!.first <= b!.profile.dates!.first ? [a!, b!] : [b!, a!];
  return { kind: 'difference', of: last.name, less: first.name };
}

/** Only where no column has the amounts. */
function revenue(columns: readonly Column[]): RowValue | null {
  const numbers = columns.filter(({ kind }) => kind === 'number');
  const called = (names: ReadonlySet<string>) => numbers.filter(({ tokens }) => tokens.some((token) => names.has(token)));
  const prices = called(priceNames);
  const amounts = called(worthNames).filter((column) => !prices.includes(column) && !called(quantityNames).includes(column));
  if (amounts.length > 0) return amounts.length === 1 ? { kind: 'column', of: amounts[0]!.name } : null;
  const sold = called(soldNames).filter((column) => !prices.includes(column));
  const quantities = sold.length > 0 ? sold : called(quantityNames).filter((column) => !prices.includes(column));
  if (prices.length !== 1 || quantities.length !== 1) return null;
  return { kind: 'product', of: quantities[0]!.name, times: prices[0]!.name };
}

function difference(columns: readonly Column[]): RowValue | null {
  const numbers = columns.filter(({ kind }) => kind === 'number');
  const called = (names: ReadonlySet<string>) => numbers.filter(({ tokens }) => tokens.some((token) => names.has(token)));
  const [planned, actual] = [called(plannedNames), called(actualNames)];
  if (planned.length !== 1 || actual.length !== 1 || planned[0] === actual[0]) return null;
  return { kind: 'difference', of: actual[0]!.name, less: planned[0]!.name };
}

/** What a mean price is weighted by, and the sums of money. */
export function pricesAndQuantities(columns: readonly Column[]): { value: RowValue; weight: string } | null {
  const value = revenue(columns);
  if (value?.kind === 'product') return { value, weight: value.of };
  const numbers = columns.filter(({ kind }) => kind === 'number');
  const quantities = numbers.filter(
    ({ tokens, name }) =>
      tokens.some((token) => soldNames.has(token) || quantityNames.has(token)) && value?.kind === 'column' && value.of !== name,
  );
  return value?.kind === 'column' && quantities.length === 1 ? { value, weight: quantities[0]!.name } : null;
}

export function isPriceWord(word: string): boolean {
  return priceNames.has(word) || word === 'prices' || word === 'preise' || word.endsWith('preis');
}
