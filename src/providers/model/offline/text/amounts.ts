/** Figures of a text as numbers with their unit, so that rules can reckon with them. */
import { exact } from '../figure.ts';
import { numberOf } from './compare-fields.ts';
import { figuresWithPlaces } from './figures-in-text.ts';

export type Amount = {
  value: number;
  /** The currency as a code, "%", or the noun in lower case without its plural; empty if there is none. */
  unit: string;
  written: string;
  index: number;
};

const currencies: readonly (readonly [RegExp, string])[] = [
  [/^(?:€|eur|euros?)$/i, 'EUR'],
  [/^(?:\$|usd|dollars?)$/i, 'USD'],
  [/^(?:£|gbp|pounds?)$/i, 'GBP'],
  [/^(?:chf|francs?|franken)$/i, 'CHF'],
  [/^(?:%|percent|per cent|prozent|pour cent|per cento|por ciento)$/i, '%'],
];
const scales: readonly (readonly [RegExp, number])[] = [
  [/^(?:thousand|k|tsd\.?)$/i, 1e3],
  [/^(?:millions?|millionen|millones|millón|milioni|milione|mio\.?|m)$/i, 1e6],
  [/^(?:billion|milliarden|milliards?|miliardi|mrd\.?|bn)$/i, 1e9],
];
const digits = /\d[\d.,'’]*/;
const spacedThousands = /(?<=\d)[ \u00a0\u202f](?=\d{3}(?!\d))/gu;
const form =
  /^(€|\$|£|[A-Z]{3})? ?(\d[\d.,'’]{0,20})(?:[ \u00a0-]?(thousand|million|billion|Millionen|Milliarden|Mio\.?|Mrd\.?|Tsd\.?|bn|millions|millones|millón|milioni|milione|milliards?|miliardi|[km](?![\p{L}])))?(?: d[ei]| d['’])?(?:[ \u00a0\u202f-]?(%|€|\$|£|per cent|pour cent|per cento|por ciento|\p{L}{1,20}))?$/u;

/** In the order of the text; without dates, times and names such as "page 3". Reads the first 4,000 characters. */
export function amountsIn(text: string): Amount[] {
  return figuresWithPlaces(text).flatMap(({ written, index }) => {
    const found = form.exec(written.slice(0, 60).replace(spacedThousands, ''));
    const value = found === null ? null : numberOf(found[2]!.replaceAll('’', "'"));
    if (value === null) return [];
    const [, lead, , scale, tail] = found!;
    return [{ value: exactly(value * scaleOf(scale)), unit: unitOf(lead ?? tail ?? ''), written, index }];
  });
}

export function isMoney({ unit }: Pick<Amount, 'unit'>): boolean {
  return unit === 'EUR' || unit === 'USD' || unit === 'GBP' || unit === 'CHF';
}

/** The value in the notation of an amount of the text: 283200 like "293,200 euros" is "283,200 euros". */
export function inNotationOf({ written }: Pick<Amount, 'written'>, value: number): string {
  const plain = written.replace(spacedThousands, '');
  const scale = scaleOf(form.exec(plain.slice(0, 60))?.[3]);
  return plain.replace(digits, exact(exactly(value / scale)));
}

/** "From 3.2 to 4.7 million euros": the first figure takes scale and unit of the second. */
export function likeSecond(first: Amount, second: Amount): Amount {
  const scale = (written: string) => scaleOf(form.exec(written.slice(0, 60))?.[3]);
  return scale(first.written) === 1 && first.unit === '' && second.unit !== ''
    ? { ...first, unit: second.unit, value: exactly(first.value * scale(second.written)) }
    : first;
}

/** Without the rounding errors of binary fractions. */
export function exactly(value: number): number {
  return Number(value.toPrecision(12));
}

function scaleOf(word: string | undefined): number {
  return word === undefined ? 1 : (scales.find(([rule]) => rule.test(word))?.[1] ?? 1);
}

/** A currency by its code; any other word in the singular. */
export function unitOf(word: string): string {
  const known = currencies.find(([rule]) => rule.test(word))?.[1];
  const lower = word.toLowerCase();
  return known ?? (lower.length > 3 && lower.endsWith('s') ? lower.slice(0, -1) : lower);
}
