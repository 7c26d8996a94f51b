/** Times of day in the form 8:30: working hours from start to end. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import { type ColumnsInMemory, clean } from '../columns-in-memory.ts';
import { countOf, exact, listed, round } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';

const begins = new Set('start begin beginn from von in anfang kommen arrival login'.split(' '));
const ends = new Set('end ende to bis out finish stop gehen departure logout'.split(' '));
const pauses = new Set('break pause breaks pausen lunch'.split(' '));
const maxGroups = 8;

export function clockFindings(table: ColumnsInMemory): Finding[] {
  const clocks = table.plans.filter(
    (plan) => plan.reads === 'text' && plan.meanChars >= 3 && plan.meanChars <= 8.5 && isClock(table, plan),
  );
  if (clocks.length === 0) return [];
  const begin = clocks.find(({ name }) => has(nameTokens(name), begins));
  const end = clocks.find(({ name }) => has(nameTokens(name), ends));
  return begin !== undefined && end !== undefined && begin !== end ? worked(table, begin, end) : [];
}

function worked(table: ColumnsInMemory, begin: ColumnPlan, end: ColumnPlan): Finding[] {
  const from = table.texts(begin).map(minutesOf);
  const to = table.texts(end).map(minutesOf);
  const pausePlan = table.plans.find(({ name }) => has(nameTokens(name), pauses));
  const pause = (at: number) => {
    if (pausePlan === undefined) return 0;
    if (pausePlan.reads !== 'number') return minutesOf(table.texts(pausePlan)[at]!) ?? 0;
    const value = table.numbers(pausePlan)[at]!;
    // Breaks of up to three are hours, larger ones minutes.
    return Number.isNaN(value) ? 0 : pausePlan.max <= 3 ? value * 60 : value;
  };
  const rows = [...from.keys()].filter((at) => from[at] !== null && to[at] !== null);
  if (rows.length < 2) return [];
  const overnight = rows.filter((at) => to[at]! < from[at]!);
  const minutes = new Map(rows.map((at) => [at, to[at]! - from[at]! + (to[at]! < from[at]! ? 1440 : 0) - pause(at)]));
  const sum = [...minutes.values()].reduce((total, each) => total + each, 0);
  const less = pausePlan === undefined ? '' : ` less ${pausePlan.name}`;
  const longest = rows.toSorted((a, b) => minutes.get(b)! - minutes.get(a)!)[0]!;
  const findings: Finding[] = [
    {
      kind: 'worked',
      text: `From ${begin.name} to ${end.name}${less} there are ${exact(clean(sum / 60))} hours (${clock(sum)}) over ${countOf(rows.length, 'row')}, ${round(sum / 60 / rows.length)} on average; most in ${table.rowName(longest)}: ${exact(clean(minutes.get(longest)! / 60))}.`,
    },
  ];
  if (overnight.length > 0)
    findings.push({
      kind: 'overnight',
      text: `${end.name} is before ${begin.name} in ${listed(
        overnight.map((at) => table.rowName(at)),
        5,
      )}; read as ending on the next day, which may be a mistake.`,
    });
  const group = table.plans.find(
    ({ reads, values, filled, type }) =>
      reads === 'text' && type === 'text' && values.distinct >= 2 && values.distinct <= 40 && values.distinct <= filled / 2,
  );
  if (group !== undefined && group !== begin && group !== end) {
    const sums = new Map<string, number>();
    for (const at of rows) {
      const key = table.texts(group)[at]!;
      if (key !== '') sums.set(key, (sums.get(key) ?? 0) + minutes.get(at)!);
    }
    const ranked = [...sums].sort((a, b) => b[1] - a[1]);
    findings.push({
      kind: 'worked_by',
      text: `Hours by ${group.name}: ${ranked
        .slice(0, maxGroups)
        .map(([key, total]) => `${key} ${exact(clean(total / 60))}`)
        .join(', ')}${ranked.length > maxGroups ? ` and ${ranked.length - maxGroups} more` : ''}.`,
    });
  }
  return findings;
}

function isClock(table: ColumnsInMemory, plan: ColumnPlan): boolean {
  const texts = table.texts(plan).filter((text) => text !== '');
  return texts.length >= 2 && texts.filter((text) => minutesOf(text) !== null).length >= texts.length * 0.9;
}

/** 8:30 and 08:30:00 as minutes; null for anything else. */
function minutesOf(text: string): number | null {
  const match = /^(\d{1,3}):([0-5]\d)(?::([0-5]\d))?$/.exec(text);
  return match === null ? null : Number(match[1]) * 60 + Number(match[2]) + Number(match[3] ?? 0) / 60;
}

function clock(minutes: number): string {
  const whole = Math.round(minutes);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
