/** "in the second quarter of 2025 (April to June)", "du 1 au 14 février 2025": the period of the rows that a task is about. */
import { monthNumber } from '../../table/month-names.ts';
import { wordSet } from '../../table/word-set.ts';

const maxTaskChars = 8000;
const month = '(\\p{L}{3,10})\\.?';
const to = ' ?(?:to|through|until|till|bis|hasta|até|fino a|a|à|al|au|tot|–|-) ?';
const year = '(?:,? (?:of |de |del |di )?(\\d{4}))';
const days = new RegExp(
  `(?<!\\d)(\\d{1,2})(?:\\.|st|nd|rd|th)?${to}(\\d{1,2})(?:\\.|st|nd|rd|th)? (?:of |de |di )?${month}${year}?(?!\\p{L})`,
  'giu',
);
const months = new RegExp(
  `(?<![\\p{L}\\d])${month}${year}?${to}(?:the end of |ende |fin de |finales de )?${month}${year}?(?![\\p{L}\\d])`,
  'giu',
);
const single = new RegExp(`(?<![\\p{L}\\d]|\\d[. ]|\\d(?:st|nd|rd|th) |\\d\\. |\\d de )${month}${year}(?!\\d)`, 'giu');
const ends = new RegExp(
  `(?<!\\p{L})(?:end of|ende|fin de|finales de|fine di|final de|eind)(?: of| de)? ${month}${year}?(?![\\p{L}\\d])`,
  'giu',
);
const ordinals = [
  'first 1st erste erstes ersten 1er primer premier primo primeiro eerste',
  'second 2nd zweite zweites zweiten 2e segundo deuxième secondo tweede',
  'third 3rd dritte drittes dritten 3e tercer troisième terzo terceiro derde',
  'fourth 4th vierte viertes vierten 4e cuarto quatrième quarto vierde',
].map((names) => names.split(' '));
const quarters = new RegExp(
  `(?<![\\p{L}\\d])(?:(${ordinals.flat().join('|')}) (?:quarter|quartal|trimestre|kwartaal)|[QT]([1-4]))(?:/|,? (?:of |de |del |di |en )?)(\\d{4})(?!\\d)`,
  'giu',
);
const budgetWords = wordSet('budget budgets plan presupuesto presupuestado budgété prévu bilancio begroting orçamento etat haushalt');

export type Period = { from_day: string; to_day: string };

/** The one period that contains all others of the task; empty if there is none. */
export function periodIn(task: string): Period | Record<string, never> {
  const text = task.slice(0, maxTaskChars);
  const only = onlyYear(text);
  const found = [...dayRanges(text, only), ...monthRanges(text, only), ...quartersIn(text), ...monthsWithYear(text)];
  const periods = found.length > 0 ? found : yearToDate(text, only);
  const whole = periods.find(({ from_day: from, to_day: until }) => periods.every((each) => from <= each.from_day && each.to_day <= until));
  return whole ?? {};
}

function dayRanges(text: string, only: number | null): Period[] {
  return [...text.matchAll(days)].flatMap(([, from, until, name, written]) => {
    const [number, ofYear] = [monthNumber(name!), yearOf(written, only)];
    if (number === 0 || ofYear === null || Number(from) >= Number(until) || Number(until) > lastDay(ofYear, number)) return [];
    return [{ from_day: dayText(ofYear, number, Number(from)), to_day: dayText(ofYear, number, Number(until)) }];
  });
}

function monthRanges(text: string, only: number | null): Period[] {
  return [...text.matchAll(months)].flatMap(([, from, firstYear, until, written]) => {
    const [first, last] = [monthNumber(from!), monthNumber(until!)];
    const lastYear = yearOf(written ?? firstYear, only);
    if (first === 0 || last === 0 || lastYear === null) return [];
    return between(Number(firstYear ?? lastYear), first, lastYear, last);
  });
}

function quartersIn(text: string): Period[] {
  return [...text.matchAll(quarters)].flatMap(([, word, digit, written]) => {
    const number = digit === undefined ? ordinals.findIndex((names) => names.includes(word!.toLowerCase())) + 1 : Number(digit);
    return between(Number(written), number * 3 - 2, Number(written), number * 3);
  });
}

function monthsWithYear(text: string): Period[] {
  return [...text.matchAll(single)].flatMap(([, name, written]) => {
    const number = monthNumber(name!);
    return number === 0 ? [] : between(Number(written), number, Number(written), number);
  });
}

/** A budget "at the end of May" is that of the year up to May. */
function yearToDate(text: string, only: number | null): Period[] {
  if (!(text.toLowerCase().match(/\p{L}+/gu) ?? []).some((word) => budgetWords.has(word))) return [];
  return [...text.matchAll(ends)].flatMap(([, name, written]) => {
    const [number, ofYear] = [monthNumber(name!), yearOf(written, only)];
    return number === 0 || ofYear === null ? [] : between(ofYear, 1, ofYear, number);
  });
}

function between(firstYear: number, first: number, lastYear: number, last: number): Period[] {
  const period = { from_day: dayText(firstYear, first, 1), to_day: dayText(lastYear, last, lastDay(lastYear, last)) };
  return period.from_day < period.to_day ? [period] : [];
}

/** The only year in the task, such as that of "budget_2025.csv". */
function onlyYear(text: string): number | null {
  const years = new Set([...text.matchAll(/(?<!\d)(?:19|20)\d\d(?!\d)/g)].map(([found]) => found));
  return years.size === 1 ? Number([...years][0]) : null;
}

function yearOf(written: string | undefined, only: number | null): number | null {
  return written === undefined ? only : Number(written);
}

function lastDay(ofYear: number, number: number): number {
  return new Date(Date.UTC(ofYear, number, 0)).getUTCDate();
}

function dayText(ofYear: number, number: number, day: number): string {
  return `${ofYear}-${String(number).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}
