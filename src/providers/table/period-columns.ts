/** Columns of a table that are periods of one series: Jan, Feb … in several languages, 2021, 2022 …, Q1, KW 7, dates. */
import type { ColumnPlan } from './column-evidence.ts';
import { nameTokens } from './column-role.ts';
import { rateUnits } from './column-words.ts';
import { parseDate } from './date-format.ts';
import { monthNumber, monthOfName } from './month-names.ts';

/** With fewer months beside each other, a foreign name may be another word. */
const minMonths = 3;

/** The columns that are periods; a foreign name of a month counts only beside other months. */
export function periodColumnsOf<Column extends Pick<ColumnPlan, 'name'>>(columns: readonly Column[]): Column[] {
  const isSeries = columns.filter(({ name }) => isMonth(name)).length >= minMonths;
  return columns.filter(({ name }) => isPeriod(name) || (isSeries && isMonth(name)));
}

export function isPeriod(name: string): boolean {
  const text = name.trim();
  if (/^(?:19|20)\d\d$/.test(text) || monthOfName(text) > 0) return true;
  return (
    /^[QWH]\d{1,2}$/i.test(text) ||
    /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Mo|Di|Mi|Do|Fr|Sa|So)$/.test(text) ||
    parseDate(text, 'day_first') !== null
  );
}

/** Whether a column is of a part of a year: "Jan", "ene", "Budget Q1", "2025-03". */
export function isPartOfYear(plan: ColumnPlan, columns: readonly ColumnPlan[]): boolean {
  const tokens = nameTokens(plan.name);
  if (tokens.some((token) => /^[qhw]\d{1,2}$/.test(token) || monthOfName(token) > 0)) return true;
  const named = columns.filter(({ name }) => nameTokens(name).some(isMonth));
  if (named.length >= minMonths && named.includes(plan)) return true;
  return isPeriod(plan.name) && !/^(?:19|20)\d\d$/.test(plan.name.trim());
}

/** A column of a series has the role of the others: "abr" may be added up if "mar" may. */
export function rolesOfSeries(plans: ColumnPlan[]): ColumnPlan[] {
  const series = periodColumnsOf(plans.filter(({ reads }) => reads === 'number'));
  if (!series.some(({ role }) => role === 'measure')) return plans;
  return plans.map((plan) =>
    series.includes(plan) && (plan.role === 'unclear' || plan.role === 'rate') && !rateUnits.has(plan.unit)
      ? { ...plan, role: 'measure' }
      : plan,
  );
}

/** "ene", "Avril", "dic 2025", "mei-25". */
function isMonth(name: string): boolean {
  return monthIn(name) > 0;
}

/** 1 to 12 for a column of a month, 0 for another one. */
export function monthIn(name: string): number {
  const word = /^(\p{L}{3,10})\.?(?:[ _./-]?(?:\d{4}|\d{2}))?$/u.exec(name.trim().slice(0, 40))?.[1];
  return word === undefined ? 0 : monthNumber(word);
}
