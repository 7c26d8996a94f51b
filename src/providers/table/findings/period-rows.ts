/** Tables whose columns are periods (Jan, Feb … or 2021, 2022 …): the course of each row. */
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { exact, listed } from '../figure-text.ts';
import { quantile } from '../number-column.ts';
import { periodColumnsOf } from '../period-columns.ts';
import type { Finding } from '../table-profile.ts';
import { signed } from './rank.ts';

const maxRows = 12;
const minForOdd = 5;
const oddTimes = 3;

export function periodRowFindings(table: ColumnsInMemory): Finding[] {
  const plans = periodColumnsOf(table.plans).filter(({ reads, units }) => reads === 'number' && units.size < 2);
  if (plans.length < 3 || table.labelPlan === undefined || table.count > 500) return [];
  const rows = [...table.rows.cells.keys()].map((at) => ({
    name: table.label(at),
    cells: plans.map((plan) => ({ period: plan.name, value: table.numbers(plan)[at]! })).filter(({ value }) => !Number.isNaN(value)),
  }));
  const complete = rows.filter(({ cells }) => cells.length >= 3);
  const same = complete.filter(({ cells }) => cells.every(({ value }) => value === cells[0]!.value));
  const odd = complete.flatMap(({ name, cells }) => oddOf(cells).map(({ period, value, usual }) => ({ name, period, value, usual })));
  const findings: Finding[] = [];
  if (odd.length > 0)
    findings.push({
      kind: 'period_odd',
      text: `Far from the row's own usual value: ${listed(odd.slice(0, maxRows).map(({ name, period, value, usual }) => `${name} ${exact(value)} in ${period} (median ${exact(usual)})`))}${odd.length > maxRows ? ' and more' : ''}.`,
    });
  if (same.length > 0 && same.length < complete.length)
    findings.push({
      kind: 'period_same',
      text: `The same value in all of these columns: ${listed(same.slice(0, maxRows).map(({ name, cells }) => `${name} ${exact(cells[0]!.value)}`))}${same.length > maxRows ? ' and more' : ''}.`,
    });
  const steady = complete.filter((row) => !same.includes(row)).flatMap(({ name, cells }) => steadyOf(name, cells));
  if (steady.length > 0) findings.push({ kind: 'period_steady', text: `Without a turn: ${listed(steady.slice(0, maxRows), maxRows)}.` });
  if (complete.length > 2 && complete.length <= maxRows) {
    const each = complete
      .filter(({ cells }) => cells[0]!.value > 0 && !same.some(({ cells: own }) => own === cells))
      .map(({ name, cells }) => {
        const [from, to] = [cells[0]!, cells.at(-1)!];
        const top = cells.reduce((best, cell) => (cell.value > best.value ? cell : best));
        return `${name} ${exact(from.value)} to ${exact(to.value)} (${signed((to.value - from.value) / from.value)}; highest ${exact(top.value)} in ${top.period})`;
      });
    if (each.length > 0)
      findings.push({ kind: 'period_each', text: `Each from its first to its last of these columns: ${each.join('; ')}.` });
  }
  return findings;
}

type Cell = { period: string; value: number };

/** Values of three times the row's median or a third of it, if the other values are close to the median. */
function oddOf(cells: readonly Cell[]): (Cell & { usual: number })[] {
  if (cells.length < minForOdd) return [];
  const sorted = Float64Array.from(cells, ({ value }) => value).sort();
  const usual = clean(quantile(sorted, 0.5));
  const spread = quantile(sorted, 0.75) - quantile(sorted, 0.25);
  if (usual <= 0) return [];
  return cells
    .filter((cell, i) => {
      const { value } = cell;
      // Up or down by half and back again, between similar neighbours.
      const [before, after] = [cells[i - 1]?.value ?? Number.NaN, cells[i + 1]?.value ?? Number.NaN];
      if (before > 0 && Math.abs(after - before) < before * 0.15 && Math.abs(value - before) > before * 0.5 && spread < usual * 0.15)
        return true;
      return (value > usual * oddTimes || value < usual / oddTimes) && Math.abs(value - usual) > spread * oddTimes;
    })
    .slice(0, 2)
    .map((cell) => ({ ...cell, usual }));
}

/** "Salaries rise from 18,000 to 19,650 in every step". */
function steadyOf(name: string, cells: readonly Cell[]): string[] {
  if (cells.length < 4) return [];
  const steps = cells.slice(1).map(({ value }, i) => value - cells[i]!.value);
  const word = steps.every((step) => step > 0) ? 'rises' : steps.every((step) => step < 0) ? 'falls' : null;
  return word === null ? [] : [`${name} ${word} with every column, from ${exact(cells[0]!.value)} to ${exact(cells.at(-1)!.value)}`];
}
