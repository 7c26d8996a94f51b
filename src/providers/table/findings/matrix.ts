/** Three or more measures that are one quantity by kinds: the sum of each, their total, and the rows with the largest and smallest totals. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { amounts, totals } from '../column-words.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, percent } from '../figure-text.ts';
import { periodColumnsOf } from '../period-columns.ts';
import type { Finding } from '../table-profile.ts';

const maxColumns = 40;

export function matrixFindings(table: ColumnsInMemory): Finding[] {
  return [...sums(table), ...marks(table)];
}

/** Attendance lists and similar: columns with a mark or nothing, counted by row and by column. */
function marks(table: ColumnsInMemory): Finding[] {
  const plans = table.plans.filter(
    ({ values, meanChars, reads, filled }) =>
      reads !== 'number' && reads !== 'date' && filled > 0 && values.distinct === 1 && meanChars <= 3,
  );
  const mark = plans[0] === undefined ? '' : table.texts(plans[0]).find((text) => text !== '')!;
  const same = plans.filter((plan) => table.texts(plan).every((text) => text === '' || text === mark));
  if (same.length < 3 || table.labelPlan === undefined || same.every(({ filled }) => filled === table.count)) return [];
  const rows = table.rows.cells.map((_, at) => ({ at, count: same.filter((plan) => table.texts(plan)[at] !== '').length }));
  const ranked = rows.toSorted((a, b) => b.count - a.count);
  return [
    {
      kind: 'matrix',
      text: `'${mark}' by row: ${ranked
        .slice(0, maxColumns)
        .map(({ at, count }) => `${table.label(at)} ${exact(count)}`)
        .join(
          ', ',
        )}${ranked.length > maxColumns ? ' and more' : ''} (of ${countOf(same.length, 'column')}); by column: ${same.map(({ name, filled }) => `${name} ${exact(filled)}`).join(', ')} (of ${countOf(table.count, 'row')}).`,
    },
  ];
}

function sums(table: ColumnsInMemory): Finding[] {
  const plans = table.quantities();
  if (plans.length < 3 || plans.length > maxColumns || table.count < 2 || !plans.every(isKind) || periodColumnsOf(plans).length > 0)
    return [];
  const each = plans
    .map((plan) => ({
      name: plan.name,
      sum: clean(table.numbers(plan).reduce((total, value) => total + (Number.isNaN(value) ? 0 : value), 0)),
    }))
    .toSorted((a, b) => b.sum - a.sum);
  const whole = clean(each.reduce((total, { sum }) => total + sum, 0));
  const rows = table.rows.cells
    .map((_, at) => ({ at, sum: clean(plans.reduce((total, plan) => total + (table.numbers(plan)[at] || 0), 0)) }))
    .toSorted((a, b) => b.sum - a.sum);
  const [top, low] = [rows[0]!, rows.at(-1)!];
  return [
    {
      kind: 'matrix',
      text: `Over ${countOf(plans.length, 'column')} together ${exact(whole)}: ${each.map(({ name, sum }) => `${name} ${exact(sum)} (${percent(sum, whole)})`).join(', ')}. By row, most in ${table.periodOrRow(top.at)}: ${exact(top.sum)}, least in ${table.periodOrRow(low.at)}: ${exact(low.sum)}.`,
    },
  ];
}

/** A column named after the kind it counts, not after an amount. */
function isKind({ name, role, type, min, units }: ColumnPlan): boolean {
  const tokens = nameTokens(name);
  // "strings, translated, translators" count different things; "roll, pretzel, cake" are kinds of one.
  if (/(?:s|ed)$/.test(tokens.at(-1) ?? '')) return false;
  return role === 'measure' && type === 'integer' && min >= 0 && units.size === 0 && !has(tokens, amounts) && !has(tokens, totals);
}
