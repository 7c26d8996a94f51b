/** Columns that depend on others: products, sums, shares, running balances, spans between dates. Rows that violate the rule are named. */
import { type ColumnPlan, readNumber } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { exact, listed, percent, round } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';
import { plannedFindings } from './plan-and-actual.ts';
import { spanFindings } from './spans.ts';

const maxColumns = 12;
const maxParts = 60;
const minRows = 4;
/** With fewer rows a repeated share may be chance, unless all rows differ. */
const minForShare = 8;
const maxRows = 50_000;
const minShareOfRows = 0.85;
const roundingUnits = 20;
const firstChecked = 200;
const shown = 5;
const discountWords = new Set('discount rabatt discount_pct nachlass'.split(' '));
/** A column that is the sum of others in nearly all rows; `broken` are the positions of the other rows. */
export type TotalColumn = { total: ColumnPlan; parts: readonly ColumnPlan[]; broken: readonly number[] };

/** @param totals is filled with the columns that are sums of others */
export function relationFindings(table: ColumnsInMemory, totals: TotalColumn[] = []): Finding[] {
  const all = table
    .quantities()
    .filter(({ units, values }) => units.size < 2 && values.distinct > 1)
    .slice(0, maxParts);
  const plans = all.slice(0, maxColumns);
  if (table.count < minRows || table.count > maxRows) return [...plannedFindings(table), ...spanFindings(table)];
  return [...formulas(table, plans, all, totals), ...balances(table, plans), ...plannedFindings(table), ...spanFindings(table)];
}

/** `parts` are the columns that are added. */
type Rule = { says: string; of: (at: number) => number; show: (at: number) => string; of2: ColumnPlan[]; parts?: readonly ColumnPlan[] };

function formulas(table: ColumnsInMemory, plans: ColumnPlan[], all: ColumnPlan[], totals: TotalColumn[]): Finding[] {
  const findings: Finding[] = [];
  const explained = new Set<ColumnPlan>();
  for (const target of [...new Set([...all.filter(isTotal), ...plans.toReversed()])]) {
    const others = plans.filter((plan) => plan !== target && !explained.has(plan));
    const found = firstRule(table, target, [
      ...products(table, others),
      ...sums(table, others),
      ...rowSum(table, target, others.length + 1 < maxColumns ? others : all.filter((plan) => plan !== target)),
      ...shares(table, target, others),
    ]);
    if (found === null) continue;
    explained.add(target);
    findings.push(textOf(table, target, found));
    if (found.rule.parts !== undefined) totals.push({ total: target, parts: found.rule.parts, broken: found.broken });
  }
  return findings.slice(0, 4);
}

function isTotal({ name }: ColumnPlan): boolean {
  return /^(?:total|sum|summe|gesamt)/i.test(name.trim());
}

/** The rule that holds in nearly all rows, and the positions of the others. */
type Held = { rule: Rule; broken: number[]; rows: number };

function firstRule(table: ColumnsInMemory, target: ColumnPlan, rules: Iterable<Rule>): Held | null {
  const written = table.numbers(target);
  const tolerance = 0.51 * 10 ** -decimalsOf(table, target);
  let best: Held | null = null;
  for (const rule of rules) {
    const broken: number[] = [];
    let rows = 0;
    let unequalRows = 0;
    for (let at = 0; at < table.count; at++) {
      const value = rule.of(at);
      if (Number.isNaN(value) || Number.isNaN(written[at]!)) continue;
      rows++;
      if (Math.abs(value - written[at]!) > tolerance + Math.abs(value) * 1e-9) broken.push(at);
      else if (
        Math.abs(written[at]!) > tolerance * 4 &&
        rule.of2.every((plan) => table.numbers(plan)[at] !== 0 && table.numbers(plan)[at] !== written[at])
      )
        unequalRows++;
      if (broken.length > 3 && broken.length > table.count * (1 - minShareOfRows)) break;
      // A rule that fails for half of the first rows does not hold; the rest of a long table need not be read.
      if (at === firstChecked && broken.length > firstChecked / 2) break;
    }
    // One row of five may be wrong, or of four where three and more columns are added; with so few rows the others must fit exactly.
    const fewest = (rule.parts?.length ?? 0) >= 3 ? minRows : minRows + 1;
    const allowed = Math.max(rows * (1 - minShareOfRows), rows >= fewest && unequalRows >= fewest - 1 ? 1 : 0);
    if (rows < minRows || unequalRows < 3 || broken.length > allowed) continue;
    if (best === null || broken.length < best.broken.length) best = { rule, broken, rows };
    if (broken.length === 0) break;
  }
  return best;
}

function textOf(table: ColumnsInMemory, target: ColumnPlan, { rule, broken, rows }: Held): Finding {
  const written = table.numbers(target);
  if (broken.length === 0) return { kind: 'relation', text: `${target.name} = ${rule.says} in all ${exact(rows)} rows.` };
  const wrong = broken
    .slice(0, shown)
    .map((at) => `${table.rowName(at)}: ${rule.show(at)} = ${exact(clean(rule.of(at)))}, written ${exact(written[at]!)}`);
  return {
    kind: 'relation_broken',
    text: `${target.name} = ${rule.says} in ${exact(rows - broken.length)} of ${exact(rows)} rows, but not in ${wrong.join('; ')}${broken.length > shown ? ` and ${broken.length - shown} more` : ''}.${rule.parts === undefined && rule.of2?.length !== 2 ? '' : sumWithout(table, target, rule, broken)}`,
  };
}

/** The sum and the mean of a column as its parts or its factors give them. */
function sumWithout(table: ColumnsInMemory, target: ColumnPlan, rule: Rule, broken: readonly number[]): string {
  if (target.role !== 'measure') return '';
  const written = table.numbers(target);
  const known = [...written].filter((value) => !Number.isNaN(value));
  const sum = clean(known.reduce((total, value) => total + value, 0));
  const right = clean(broken.reduce((total, at) => total + rule.of(at) - written[at]!, sum));
  return ` With the ${rule.parts === undefined ? 'product' : 'sum'}${broken.length === 1 ? '' : 's'} there, ${target.name} adds up to ${exact(right)} (mean ${round(right / known.length)}) instead of ${exact(sum)}.`;
}

function* products(table: ColumnsInMemory, plans: ColumnPlan[]): Generator<Rule> {
  for (const [a, b] of pairs(plans)) {
    const [x, y] = [table.numbers(a), table.numbers(b)];
    yield { says: `${a.name} × ${b.name}`, of: (at) => x[at]! * y[at]!, show: (at) => `${exact(x[at]!)} × ${exact(y[at]!)}`, of2: [a, b] };
    if (has(nameTokens(a.name), discountWords) || has(nameTokens(b.name), discountWords)) continue;
    const discount = plans.find((plan) => plan !== a && plan !== b && has(nameTokens(plan.name), discountWords));
    if (discount === undefined) continue;
    const d = table.numbers(discount);
    const scale = discount.max > 1 || discount.unit === '%' ? 100 : 1;
    const less = (at: number) => (Number.isNaN(d[at]!) ? 0 : d[at]! / scale);
    yield {
      says: `${a.name} × ${b.name} less ${discount.name}`,
      of: (at) => x[at]! * y[at]! * (1 - less(at)),
      show: (at) => `${exact(x[at]!)} × ${exact(y[at]!)} less ${percent(less(at), 1)}`,
      of2: [a, b],
    };
  }
}

function* sums(table: ColumnsInMemory, plans: ColumnPlan[]): Generator<Rule> {
  for (const [a, b] of pairs(plans)) {
    const [x, y] = [table.numbers(a), table.numbers(b)];
    yield {
      says: `${a.name} + ${b.name}`,
      of: (at) => x[at]! + y[at]!,
      show: (at) => `${exact(x[at]!)} + ${exact(y[at]!)}`,
      of2: [a, b],
      parts: [a, b],
    };
    yield { says: `${a.name} − ${b.name}`, of: (at) => x[at]! - y[at]!, show: (at) => `${exact(x[at]!)} − ${exact(y[at]!)}`, of2: [a, b] };
    // Points of a league: three for a win and one for a draw.
    for (const [k, [big, more], [small, less]] of [
      [3, [a, x], [b, y]],
      [2, [a, x], [b, y]],
    ] as const)
      if (Number.isInteger(a.max) && Number.isInteger(b.max))
        yield {
          says: `${k} × ${big.name} + ${small.name}`,
          of: (at) => k * more[at]! + less[at]!,
          show: (at) => `${k} × ${exact(more[at]!)} + ${exact(less[at]!)}`,
          of2: [big, small],
        };
    yield { says: `${b.name} − ${a.name}`, of: (at) => y[at]! - x[at]!, show: (at) => `${exact(y[at]!)} − ${exact(x[at]!)}`, of2: [a, b] };
  }
}

/** A column that is the sum of three or more columns beside it. */
function* rowSum(table: ColumnsInMemory, target: ColumnPlan, plans: ColumnPlan[]): Generator<Rule> {
  const before = plans.filter(({ index, role }) => index < target.index && role === 'measure');
  for (const parts of [before, plans.filter(({ role }) => role === 'measure'), plans]) {
    if (parts.length < 3) continue;
    const columns = parts.map((plan) => table.numbers(plan));
    const of = (at: number) => columns.reduce((sum, numbers) => sum + (Number.isNaN(numbers[at]!) ? 0 : numbers[at]!), 0);
    yield {
      says: listed(
        parts.map(({ name }) => name),
        12,
      )
        .replace(/ and (?=[^,]*$)/, ' + ')
        .replaceAll(', ', ' + '),
      of,
      show: () => 'the sum',
      of2: [],
      parts,
    };
  }
}

/** One column is the same share of another in nearly all rows: tax of net, commission of sales. */
function* shares(table: ColumnsInMemory, target: ColumnPlan, plans: ColumnPlan[]): Generator<Rule> {
  const written = table.numbers(target);
  for (const base of plans) {
    const numbers = table.numbers(base);
    const ratios = [...numbers.keys()].map((at) => written[at]! / numbers[at]!).filter((ratio) => Number.isFinite(ratio) && ratio !== 0);
    if (
      ratios.length < minRows ||
      (ratios.length < minForShare && target.values.distinct < ratios.length) ||
      base.values.distinct < 3 ||
      target.values.distinct < 3
    )
      continue;
    const ratio = Number(ratios.sort((a, b) => a - b)[ratios.length >> 1]!.toPrecision(3));
    if (ratio === 0 || ratio === 1 || ratio < 0) continue;
    // Small whole numbers are near to any share of each other; then the share must be exact.
    const typical = [...written]
      .filter((value) => !Number.isNaN(value))
      .map(Math.abs)
      .sort((a, b) => a - b)[ratios.length >> 1]!;
    const rough = typical < roundingUnits * 10 ** -decimalsOf(table, target);
    const exactly = rough ? [...numbers.keys()].filter((at) => Math.abs(numbers[at]! * ratio - written[at]!) < 1e-9).length : ratios.length;
    if (exactly < ratios.length * minShareOfRows) continue;
    yield {
      says: `${exact(clean(ratio * 100))} % of ${base.name}`,
      of: (at) => numbers[at]! * ratio,
      show: (at) => `${exact(clean(ratio * 100))} % of ${exact(numbers[at]!)}`,
      of2: [base],
    };
  }
}

/** A balance that goes on from row to row. */
function balances(table: ColumnsInMemory, plans: ColumnPlan[]): Finding[] {
  const levels = plans.filter(({ role }) => role === 'level');
  for (const level of levels) {
    const balance = table.numbers(level);
    const tolerance = 0.51 * 10 ** -decimalsOf(table, level);
    const changes: { says: string; of: (at: number) => number }[] = plans
      .filter((plan) => plan !== level)
      .map((plan) => ({ says: plan.name, of: (at: number) => table.numbers(plan)[at]! }));
    for (const [a, b] of pairs(plans.filter((plan) => plan !== level))) {
      const value = (plan: ColumnPlan, at: number) => (Number.isNaN(table.numbers(plan)[at]!) ? 0 : table.numbers(plan)[at]!);
      changes.push({ says: `${a.name} − ${b.name}`, of: (at) => value(a, at) - value(b, at) });
      changes.push({ says: `${b.name} − ${a.name}`, of: (at) => value(b, at) - value(a, at) });
    }
    for (const { says, of } of changes) {
      for (const step of [1, -1]) {
        const broken: number[] = [];
        let rows = 0;
        for (let at = 0; at < table.count; at++) {
          const before = balance[at - step];
          const value = before === undefined ? Number.NaN : before + of(at);
          if (Number.isNaN(value) || Number.isNaN(balance[at]!)) continue;
          rows++;
          if (Math.abs(value - balance[at]!) > tolerance) broken.push(at);
        }
        if (rows < minRows || broken.length > Math.max(rows * 0.2, rows >= 6 ? 2 : 0)) continue;
        const ends = `${endsOf(balance, of, step)} Lowest ${exact(level.min)}, highest ${exact(level.max)}.`;
        if (broken.length === 0) return [{ kind: 'balance', text: `${level.name} follows from ${says} in every row.${ends}` }];
        const wrong = broken
          .slice(0, shown)
          .map(
            (at) =>
              `${table.rowName(at)} (${exact(balance[at - step]!)} and ${exact(clean(of(at)))} make ${exact(clean(balance[at - step]! + of(at)))}, written ${exact(balance[at]!)})`,
          );
        return [
          {
            kind: 'balance_broken',
            text: `${level.name} follows from ${says} in ${exact(rows - broken.length)} of ${exact(rows)} rows, but not in ${listed(wrong, shown)}.${ends}`,
          },
        ];
      }
    }
  }
  return [];
}

/** Where a balance starts and ends. The first row may be the opening balance itself, without an entry. */
function endsOf(balance: Float64Array, of: (at: number) => number, step: number): string {
  const known = [...balance.keys()].filter((at) => !Number.isNaN(balance[at]!));
  const [first, last] = step === 1 ? [known[0]!, known.at(-1)!] : [known.at(-1)!, known[0]!];
  const start = Number.isNaN(of(first))
    ? `${exact(balance[first]!)} in its first row`
    : `${exact(clean(balance[first]! - of(first)))} before the first entry`;
  const sum = known.reduce((total, at) => total + (Number.isNaN(of(at)) ? 0 : of(at)), 0);
  return ` It starts at ${start} and ends at ${exact(balance[last]!)}; the entries together make ${exact(clean(sum))}.`;
}

function* pairs<T>(items: readonly T[]): Generator<[T, T]> {
  for (let a = 0; a < items.length; a++) for (let b = a + 1; b < items.length; b++) yield [items[a]!, items[b]!];
}

function decimalsOf(table: ColumnsInMemory, plan: ColumnPlan): number {
  let most = 0;
  for (const cells of table.rows.cells.slice(0, 500)) most = Math.max(most, readNumber(plan, cells[plan.index] ?? null)?.decimals ?? 0);
  return Math.min(most, 8);
}
