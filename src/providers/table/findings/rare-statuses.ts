/** Common features of the rows with a rare status or level: one path, one machine, one period. */

import { cellText } from '../cell.ts';
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, exact, percent } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';

export const stateWords = new Set(
  'decision stage phase entscheidung verdict answer antwort stance status statuscode state level severity result outcome response error errors fault alarm code zustand stufe ergebnis fehler'.split(
    ' ',
  ),
);
const minRows = 3;
const rareShare = 0.35;
const nearlyAll = 0.8;
const maxFindings = 4;

export function rareFindings(table: ColumnsInMemory): Finding[] {
  const states = table.plans.filter(
    ({ reads, type, name, values }) =>
      (reads === 'text' || type === 'boolean') &&
      values.exact &&
      values.distinct >= 2 &&
      values.distinct <= 15 &&
      has(nameTokens(name), stateWords),
  );
  return [
    ...failedRequests(table),
    ...states.slice(0, 1).flatMap((state) => byGroup(table, state)),
    ...states.flatMap((state) => ofState(table, state)).slice(0, maxFindings),
  ];
}

/** Statuses of HTTP: the share of all from 400 on. */
function failedRequests(table: ColumnsInMemory): Finding[] {
  const status = table.plans.find(({ name, role, reads }) => name === 'status' && role === 'code' && reads === 'text');
  if (status === undefined) return [];
  const codes = table.texts(status).filter((text) => text !== '');
  if (codes.length === 0 || !codes.every((code) => /^[1-5]\d\d$/.test(code))) return [];
  const counts = new Map<string, number>();
  for (const code of codes) if (code >= '400') counts.set(code, (counts.get(code) ?? 0) + 1);
  const failed = codes.filter((code) => code >= '400').length;
  const each = [...counts].sort().map(([code, count]) => `${code} ×${exact(count)}`);
  const server = codes.filter((code) => code >= '500').length;
  return [
    {
      kind: 'rare_state',
      text: `${exact(failed)} of ${countOf(codes.length, 'request')} (${percent(failed, codes.length)}) failed with a status of 400 or more${each.length === 0 ? '' : `: ${each.join(', ')}; ${exact(server)} of them with 500 or more`}.`,
    },
  ];
}

/** Frequency of each state in each group: "status by agent: Ida answered 12, missed 6". */
function byGroup(table: ColumnsInMemory, state: ColumnPlan): Finding[] {
  if (state.values.distinct > 5 || state.filled < table.count * 0.9 || table.count < 8) return [];
  const groups = table.plans.filter(
    ({ reads, type, values, filled, index }) =>
      index !== state.index &&
      reads === 'text' &&
      type === 'text' &&
      values.distinct >= 2 &&
      values.distinct <= 8 &&
      filled >= table.count * 0.9,
  );
  return groups.slice(0, 2).map((group) => {
    const counts = new Map<string, Map<string, number>>();
    for (const [at, text] of table.texts(group).entries()) {
      const own = counts.get(text) ?? new Map<string, number>();
      if (text !== '') counts.set(text, own);
      const value = table.texts(state)[at]!;
      if (value !== '') own.set(value, (own.get(value) ?? 0) + 1);
    }
    const each = [...counts].map(([key, own]) => {
      const all = [...own.values()].reduce((sum, count) => sum + count, 0);
      const parts = [...own].sort((a, b) => b[1] - a[1]).map(([value, count]) => `${value} ${exact(count)} (${percent(count, all)})`);
      return `${key} ${parts.join(', ')}`;
    });
    return { kind: 'rare_state', text: `${state.name} by ${group.name}: ${each.join('; ')}.` };
  });
}

function ofState(table: ColumnsInMemory, state: ColumnPlan): Finding[] {
  const texts = table.texts(state);
  const others = table.plans.filter(
    ({ reads, type, role, values, filled }) =>
      reads === 'text' &&
      (type === 'text' || role === 'code') &&
      values.distinct >= 2 &&
      values.distinct <= 60 &&
      filled >= table.count * 0.8,
  );
  const dates = table.plans.filter(({ reads, dateDoubt }) => reads === 'date' && !dateDoubt);
  return [...new Set(texts)].flatMap((value): Finding[] => {
    const rows = [...texts.keys()].filter((at) => texts[at] === value);
    if (value === '' || rows.length < minRows || rows.length > table.count * rareShare) return [];
    const common = others
      .filter((plan) => plan !== state)
      .flatMap((plan) => {
        const own = table.texts(plan);
        const counts = new Map<string, number>();
        for (const at of rows) counts.set(own[at]!, (counts.get(own[at]!) ?? 0) + 1);
        const [top] = [...counts].sort((a, b) => b[1] - a[1]);
        const all = own.filter((text) => text === top![0]).length;
        if (top![0] === '' || top![1] < rows.length * nearlyAll || all > table.count * 0.6) return [];
        return [
          `${plan.name} ${cellText(top![0], 60)} in ${top![1] === rows.length ? 'all' : exact(top![1])} of them (which ${exact(all)} rows have)`,
        ];
      });
    const when = dates.slice(0, 1).flatMap((plan) => stretch(table, plan, rows));
    const reported = [...common, ...when];
    if (reported.length === 0) return [];
    return [
      {
        kind: 'rare_state',
        text: `${state.name} ${cellText(value, 40)} (${countOf(rows.length, 'row')}, ${percent(rows.length, table.count)}): ${reported.join('; ')}.`,
      },
    ];
  });
}

/** First and last time, if that is a small part of the whole period. */
function stretch(table: ColumnsInMemory, plan: ColumnPlan, rows: number[]): string[] {
  const ms = table.dates(plan);
  const all = [...ms].filter((each) => !Number.isNaN(each));
  const own = rows.filter((at) => !Number.isNaN(ms[at]!)).toSorted((a, b) => ms[a]! - ms[b]!);
  if (own.length < rows.length || all.length < 2) return [];
  const span = all.reduce((most, each) => Math.max(most, each), -Infinity) - all.reduce((least, each) => Math.min(least, each), Infinity);
  const [first, last] = [own[0]!, own.at(-1)!];
  if (span <= 0 || ms[last]! - ms[first]! > span * 0.25) return [];
  return [`all between ${table.texts(plan)[first]} (row ${table.row(first)}) and ${table.texts(plan)[last]} (row ${table.row(last)})`];
}
