/** How many rows are late, by how much, in which groups, on which days, and with which remarks. */
import { has, nameTokens } from '../column-role.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, exact, listed, partOf, percent, round, rowList } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';
import { wordSet } from '../word-set.ts';
import { duplicateRows } from './rows.ts';

export type Grouping = { name: string; keys: readonly string[] };
export type Lateness = {
  done: string;
  due: string;
  /** Of each row; null where a time is missing or unreadable. */
  minutes: readonly (number | null)[];
  groupings: readonly Grouping[];
  /** A limit of the task in minutes; a row is late beyond it. */
  tolerance?: number | undefined;
};

export const remarkNames = wordSet(
  'remark remarks note notes comment comments reason cause bemerkung bemerkungen grund anmerkung obs observation observations remarque motivo nota',
);
const dayMinutes = 24 * 60;
const shown = 10;
const minRows = 3;
/** Groups that are all told; of more, the first with most late rows. */
const [allGroups, firstGroups, maxGroups] = [12, 6, 300];
const daysShown = 3;
const remarksShown = 8;
const maxRemarkChars = 60;

/** Empty if fewer than three rows have both times. */
export function lateRows(table: ColumnsInMemory, lateness: Lateness): Finding[] {
  const { done, due, minutes, groupings, tolerance } = lateness;
  const repeated = new Set(duplicateRows(table).map(([again]) => again));
  const both = [...minutes.keys()].filter((row) => minutes[row] !== null && !repeated.has(row));
  if (both.length < minRows) return [];
  const beyond = (limit: number) => both.filter((row) => minutes[row]! > limit).toSorted((a, b) => minutes[b]! - minutes[a]!);
  const late = beyond(0);
  const meant = tolerance === undefined ? late : beyond(tolerance);
  const names = listed(
    meant.slice(0, shown).map((row) => `${table.rowInWords(row)} by ${minutesText(minutes[row]!)}`),
    shown,
  );
  const early = both.filter((row) => minutes[row]! < 0).length;
  const without = [...minutes.keys()].filter((row) => minutes[row] === null && !repeated.has(row));
  const limit =
    tolerance === undefined
      ? ''
      : `; more than ${countOf(tolerance, 'minute')} late: ${share(meant, both)}, so ${percent(both.length - meant.length, both.length)} are not`;
  const left =
    without.length === 0
      ? ''
      : ` Not counted, because a time is missing or unreadable: ${rowList(
          without.map((row) => table.row(row)),
          shown,
        )}${unreadable(table, without, [done, due])}.`;
  return [
    {
      kind: 'late',
      text: `Late (${done} after ${due}): ${share(late, both)} with both times${limit}${meant.length === 0 ? '' : `: ${names}${meant.length > shown ? ' and more' : ''}`}; early: ${exact(early)}.${groupings.map((grouping) => byGroup(grouping, both, meant, minutes)).join('')}${byDay(table, both, meant)}${remarks(table, meant)}${left}`,
    },
  ];
}

function byGroup({ name, keys }: Grouping, both: readonly number[], late: readonly number[], minutes: Lateness['minutes']): string {
  const groups = [
    ...Map.groupBy(
      both.filter((row) => keys[row] !== ''),
      (row) => keys[row]!,
    ),
  ];
  if (groups.length < 2 || groups.length > maxGroups) return '';
  const isLate = new Set(late);
  const each = groups.map(([key, rows]) => ({ key, rows, late: rows.filter((row) => isLate.has(row)) }));
  if (groups.length <= allGroups) {
    const ranked = each.toSorted((a, b) => b.late.length / b.rows.length - a.late.length / a.rows.length);
    return ` By ${name}: ${ranked.map(({ key, rows, late: own }) => `${key} ${share(own, rows)}`).join(', ')}.`;
  }
  const ranked = each
    .filter(({ late: own }) => own.length > 0)
    .toSorted((a, b) => b.late.length - a.late.length || a.rows.length - b.rows.length);
  const mean = (rows: readonly number[]) => round(rows.reduce((sum, row) => sum + minutes[row]!, 0) / rows.length);
  const named = ranked
    .slice(0, firstGroups)
    .map(({ key, rows, late: own }) => `${key} ${share(own, rows)}, ${mean(own)} minutes on average`);
  return named.length === 0 ? '' : ` By ${name}, most often: ${named.join('; ')}.`;
}

/** The days with most late rows, if they are more than one day's share. */
function byDay(table: ColumnsInMemory, both: readonly number[], late: readonly number[]): string {
  const date = table.plans.find(({ reads, dateDoubt, timed }) => reads === 'date' && !dateDoubt && !timed);
  if (date === undefined || late.length < minRows) return '';
  const dates = table.dates(date);
  const dayOf = (row: number) => (Number.isNaN(dates[row]!) ? '' : new Date(dates[row]!).toISOString().slice(0, 10));
  const all = Map.groupBy(both, dayOf);
  const own = [...Map.groupBy(late, dayOf)].filter(([day]) => day !== '').toSorted((a, b) => b[1].length - a[1].length);
  if (all.size < minRows || own.length === 0 || own[0]![1].length < minRows) return '';
  return ` Most of them by ${date.name}: ${own
    .slice(0, daysShown)
    .map(([day, rows]) => `${day} ${share(rows, all.get(day)!)}`)
    .join(', ')}.`;
}

/** What is written beside the late rows: it may be the cause, and is not proved to be. */
function remarks(table: ColumnsInMemory, late: readonly number[]): string {
  const plan = table.plans.find(
    ({ name, reads, meanChars }) => reads === 'text' && meanChars <= maxRemarkChars && has(nameTokens(name), remarkNames),
  );
  if (plan === undefined || late.length === 0) return '';
  const texts = table.texts(plan);
  const counts = [...Map.groupBy(late, (row) => texts[row]!)].toSorted((a, b) => b[1].length - a[1].length);
  const named = counts.filter(([text]) => text !== '').slice(0, remarksShown);
  if (named.length === 0) return '';
  const none = counts.find(([text]) => text === '')?.[1].length ?? 0;
  return ` ${plan.name} of the late rows: ${named.map(([text, rows]) => `${text} ${exact(rows.length)}`).join(', ')}${counts.length - (none > 0 ? 1 : 0) > named.length ? ' and others' : ''}${none === 0 ? '' : `, none ${exact(none)}`}.`;
}

/** " (27:15, cancelled)", the texts in place of a time. */
function unreadable(table: ColumnsInMemory, rows: readonly number[], names: readonly string[]): string {
  const plans = table.plans.filter(({ name, reads }) => names.includes(name) && reads === 'text');
  const all = plans.flatMap((plan) => rows.map((row) => table.texts(plan)[row]!));
  const texts = all.filter((text) => text !== '' && !/^\d{1,2}:\d{2}$/.test(text));
  const odd = all.filter((text) => /^(?:2[4-9]|[3-9]\d):\d{2}$/.test(text));
  const found = [...new Set([...odd, ...texts])].slice(0, minRows);
  return found.length === 0 ? '' : `; in place of a time stands ${listed(found.map((text) => text.slice(0, 20)))}`;
}

function share(rows: readonly number[], of: readonly number[]): string {
  return partOf(rows.length, of.length);
}

function minutesText(minutes: number): string {
  return minutes > 2 * dayMinutes ? `${round(minutes / dayMinutes)} days` : `${round(minutes)} ${minutes === 1 ? 'minute' : 'minutes'}`;
}
