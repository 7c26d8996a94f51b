/** "from January to June 2024": the months between which a task compares. */
import { monthOfName } from '../../table/month-names.ts';

const between =
  /(?<![\p{L}])(\p{L}{3,9})\.?(?: (\d{4}))? ?(?:to|until|till|through|and|vs\.?|versus|with|bis|und|gegenüber|mit|–|-) ?(?:the end of |ende )?(\p{L}{3,9})\.?(?: (\d{4}))?(?![\p{L}\d])/giu;
const maxTaskChars = 8000;

/** Months as `2024-01`, or `01` without a year; empty if the task names none. */
export function monthsIn(task: string): { from_month?: string; to_month?: string } {
  for (const [, first, firstYear, last, lastYear] of task.slice(0, maxTaskChars).matchAll(between)) {
    const [from, to] = [monthOfName(first!), monthOfName(last!)];
    if (from === 0 || to === 0 || from === to) continue;
    const text = (month: number, year: string | undefined) => `${year === undefined ? '' : `${year}-`}${String(month).padStart(2, '0')}`;
    // "January to June 2024" means one year.
    return { from_month: text(from, firstYear ?? (from < to ? lastYear : undefined)), to_month: text(to, lastYear) };
  }
  return {};
}
