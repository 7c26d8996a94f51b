/** Finds the columns of two tables with the same keys, in any case and with any blanks and hyphens, whatever their headers. */
import type { ColumnPlan } from './column-evidence.ts';
import { nameTokens } from './column-role.ts';
import type { ColumnsInMemory } from './columns-in-memory.ts';
import { dateText } from './date-format.ts';
import type { LeftOut } from './table-profile.ts';

/** `counted`: the rows that other figures of the table count; undefined if all do. `leftOut`: what they leave out. */
export type JoinSide = {
  name: string;
  table: ColumnsInMemory;
  counted?: ReadonlySet<number>;
  leftOut?: readonly LeftOut[];
  /** Columns that the figures should be about. */
  named?: readonly string[] | undefined;
};

export type JoinKey = {
  left: ColumnPlan[];
  right: ColumnPlan[];
  /** The rows of each key, in the order of first occurrence; keys are folded. */
  leftRows: Map<string, number[]>;
  rightRows: Map<string, number[]>;
  /** Some keys match only without leading zeros. */
  zerosIgnored: boolean;
};

const minCommon = 2;
/** Keys per row; with fewer, a key of two columns is better if it is unique. */
const nearlyUnique = 0.9;
const maxCandidates = 12;
const minScattered = 4;
/** Numbers for each key. */
const minGap = 3;
const genericWords = new Set('id ids no nr number num nummer key code name'.split(' '));

/** Column names that are often abbreviated. */
const shortForms = new Map(
  'ref reference|nr number|no number|num number|nummer number|cust customer|emp employee|dept department|prod product|art article|acct account|cat category|loc location|qty quantity|kunde customer|artikel article|produkt product|kategorie category|abteilung department'
    .split('|')
    .map((pair) => pair.split(' ') as [string, string]),
);

/** The best common key; null if matches are not better than chance. */
export function findKey(left: JoinSide, right: JoinSide): JoinKey | null {
  let best: { key: JoinKey; score: number } | null = null;
  const candidates: { key: JoinKey; score: number }[] = [];
  for (const a of keyPlans(left.table)) {
    for (const b of keyPlans(right.table)) {
      const found = scoreKey(left, right, [a], [b]);
      if (found === null) continue;
      candidates.push(found);
      if (best === null || found.score > best.score) best = found;
    }
  }
  if (best !== null && oneSided(best.key) >= nearlyUnique) return best.key;
  const single = best !== null && isOneSided(best.key) ? best.key : null;
  // A key of two columns, such as month and category, if neither identifies the rows alone; of department and item, if items repeat.
  const named = candidates.filter(({ key }) => sameName(key.left[0]!, key.right[0]!)).slice(0, 4);
  for (const [i, one] of named.entries()) {
    for (const two of named.slice(i + 1)) {
      const found = scoreKey(left, right, [one.key.left[0]!, two.key.left[0]!], [one.key.right[0]!, two.key.right[0]!]);
      if (found !== null && (single === null ? isOneSided(found.key) : oneSided(found.key) === 1)) return found.key;
    }
  }
  if (single !== null) return single;
  return best?.key ?? null;
}

/** The form in which two keys are compared. */
export function foldKey(text: string): string {
  return text.toLowerCase().replace(/\s+/g, ' ').replace(/^'/, '').trim();
}

function keyPlans(table: ColumnsInMemory): ColumnPlan[] {
  return table.plans
    .filter(({ reads, role, type, values, meanChars, dateDoubt }) => {
      if (role === 'counter' || type === 'empty' || type === 'boolean' || values.distinct < 2) return false;
      return reads === 'date' ? !dateDoubt : reads === 'text' && meanChars <= 60;
    })
    .slice(0, maxCandidates);
}

function scoreKey(left: JoinSide, right: JoinSide, a: ColumnPlan[], b: ColumnPlan[]): { key: JoinKey; score: number } | null {
  if (a.some((plan, i) => (plan.reads === 'date') !== (b[i]!.reads === 'date'))) return null;
  let zerosIgnored = false;
  let someZeros = false;
  let [leftRows, rightRows] = [rowsByKey(left.table, a, false), rowsByKey(right.table, b, false)];
  let common = commonOf(leftRows, rightRows);
  const smaller = () => Math.min(leftRows.size, rightRows.size);
  if (common < smaller() * 0.5 && (a[0]!.codes || b[0]!.codes || a[0]!.type === 'integer' || b[0]!.type === 'integer')) {
    const [l, r] = [rowsByKey(left.table, a, true), rowsByKey(right.table, b, true)];
    if (commonOf(l, r) > common) {
      [leftRows, rightRows, zerosIgnored] = [l, r, true];
      common = commonOf(l, r);
    }
  }
  if (a[0]!.reads !== 'date') {
    // A program that took a code for a number has dropped its zeros: "26" beside "0026".
    const hasCodes = [...a, ...b].some((plan) => plan.codes);
    someZeros = mergeSpellings(leftRows, rightRows, hasCodes);
    common = commonOf(leftRows, rightRows);
  }
  if (common < minCommon) return null;
  const overlap = common / smaller();
  const named = a.reduce((sum, plan, i) => sum + nameAffinity(left, plan, right, b[i]!), 0) / a.length;
  // Codes with leading zeros in both tables, the same ones: a "no" is the "member no" of the other.
  const coded = overlap >= 0.5 && !zerosIgnored && [...a, ...b].every((plan) => plan.codes && isGeneric(plan.name));
  const scattered = named > 0 && overlap >= 0.5 && isScattered(leftRows) && isScattered(rightRows);
  const affinity = coded || scattered ? Math.max(named, 0.5) : named;
  const digits = a.every(({ type }) => type === 'integer') && !a[0]!.codes;
  if (affinity === 0 && (digits || overlap < 0.8 || common < 3)) return null;
  if (overlap < 0.5 && !(affinity >= 0.5 && overlap >= 0.2)) return null;
  // Running numbers of two unrelated lists are equal; a column named only "id" needs another sign that both mean the same.
  if (digits && affinity < 0.5 && a[0]!.reads !== 'date') return null;
  const unique = isOneSided({ leftRows, rightRows } as JoinKey) ? 1 : 0;
  const key = { left: a, right: b, leftRows, rightRows, zerosIgnored: zerosIgnored || someZeros };
  return { key, score: overlap + affinity + unique - (a[0]!.reads === 'date' ? 0.3 : 0) };
}

/** Whether each key has at most one row, or nearly, on one of the sides. */
function isOneSided({ leftRows, rightRows }: Pick<JoinKey, 'leftRows' | 'rightRows'>): boolean {
  return oneSided({ leftRows, rightRows }) >= 0.7;
}

/** Keys per row on the side where that is more. */
function oneSided({ leftRows, rightRows }: Pick<JoinKey, 'leftRows' | 'rightRows'>): number {
  return Math.max(uniqueness(leftRows), uniqueness(rightRows));
}

/** Whole numbers with wide gaps: the same ones in two files are no running numbers of unrelated lists. */
function isScattered(rows: ReadonlyMap<string, unknown>): boolean {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const key of rows.keys()) {
    if (!/^\d{1,15}$/.test(key)) return false;
    min = Math.min(min, Number(key));
    max = Math.max(max, Number(key));
  }
  return rows.size >= minScattered && rows.size * minGap <= max - min + 1;
}

/** Keys per row: 1 if each row has a key of its own. */
export function uniqueness(rows: ReadonlyMap<string, readonly number[]>): number {
  let count = 0;
  for (const own of rows.values()) count += own.length;
  return count === 0 ? 0 : rows.size / count;
}

function isGeneric(name: string): boolean {
  return nameTokens(name).some((token) => genericWords.has(token));
}

/** 0 for unrelated names, up to 1 for equal ones. */
function nameAffinity(left: JoinSide, a: ColumnPlan, right: JoinSide, b: ColumnPlan): number {
  const [one, other] = [nameTokens(a.name).map(singular), nameTokens(b.name).map(singular)];
  const [ownOne, ownOther] = [one.filter((token) => !genericWords.has(token)), other.filter((token) => !genericWords.has(token))];
  if (ownOne.length > 0 && ownOne.join(' ') === ownOther.join(' ')) return 1;
  if (ownOne.some((token) => ownOther.includes(token))) return 0.6;
  const compact = [one.join(''), other.join('')];
  if (compact[0] === compact[1] && ownOne.length > 0) return 1;
  if (ownOne.length > 0 && ownOther.length > 0 && (compact[0]!.includes(ownOther.join('')) || compact[1]!.includes(ownOne.join(''))))
    return 0.5;
  // customer_id of orders matches the id of customers.
  const stems = [stemsOf(left.name), stemsOf(right.name)];
  if (ownOther.length === 0 && ownOne.some((token) => stems[1]!.includes(token))) return 0.8;
  if (ownOne.length === 0 && ownOther.some((token) => stems[0]!.includes(token))) return 0.8;
  const textual = a.type !== 'integer' && b.type !== 'integer';
  if (ownOne.length === 0 && ownOther.length === 0 && one.join() === other.join()) {
    if (textual && one[0] !== undefined) return 0.5;
    return stems[0]!.some((stem) => stems[1]!.includes(stem)) ? 0.5 : 0.1;
  }
  return 0;
}

function sameName(a: ColumnPlan, b: ColumnPlan): boolean {
  return nameTokens(a.name).map(singular).join(' ') === nameTokens(b.name).map(singular).join(' ');
}

function stemsOf(fileName: string): string[] {
  return nameTokens(fileName.replace(/\.[A-Za-z0-9]{1,8}$/, '')).map(singular);
}

function singular(written: string): string {
  // Artikelnr, Kundennummer: the numbered thing.
  const thing = written.replace(/(?<=\p{L}{4})(?:nr|nummer|number)$/u, '');
  const word = shortForms.get(thing) ?? shortForms.get(thing.replace(/n$/, '')) ?? thing;
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') && !word.endsWith('us') ? word.slice(0, -1) : word;
}

function rowsByKey(table: ColumnsInMemory, plans: readonly ColumnPlan[], dropZeros: boolean): Map<string, number[]> {
  const columns = plans.map((plan) => {
    if (plan.reads === 'date') return Array.from(table.dates(plan), (ms) => (Number.isNaN(ms) ? '' : dateText(ms, false)));
    return table.texts(plan).map((text) => (dropZeros ? withoutZeros(foldKey(text)) : foldKey(text)));
  });
  const rows = new Map<string, number[]>();
  for (let at = 0; at < table.count; at++) {
    const parts = columns.map((column) => column[at]!);
    if (parts.includes('')) continue;
    const key = parts.join(' / ');
    const own = rows.get(key);
    if (own === undefined) rows.set(key, [at]);
    else own.push(at);
  }
  return rows;
}

/**
 * Takes keys that differ only in blanks and hyphens together: "HB-KT 103" and "HBKT103"; with `dropZeros` also numbers that differ in leading zeros.
 * In a table with one row for each key, two such keys are two things, and stay apart in both tables.
 *
 * @returns whether keys were taken together that differ in leading zeros
 */
function mergeSpellings(left: Map<string, number[]>, right: Map<string, number[]>, dropZeros: boolean): boolean {
  const compacted = (key: string) => (dropZeros && /^\d+$/.test(key) ? withoutZeros(key) : withoutSeparators(key));
  let hasZeros = false;
  const groups = new Map<string, Set<string>>();
  const apart = new Set<string>();
  for (const rows of [left, right]) {
    const isList = uniqueness(rows) === 1;
    const own = new Set<string>();
    for (const key of rows.keys()) {
      const compact = compacted(key);
      if (own.has(compact) && isList) apart.add(compact);
      own.add(compact);
      const group = groups.get(compact);
      if (group === undefined) groups.set(compact, new Set([key]));
      else group.add(key);
    }
  }
  for (const [compact, keys] of groups) {
    if (keys.size < 2 || apart.has(compact)) continue;
    const [first, ...others] = keys;
    hasZeros ||= others.some((key) => withoutSeparators(key) !== withoutSeparators(first!));
    for (const rows of [left, right]) {
      const merged = [first!, ...others].flatMap((key) => rows.get(key) ?? []).sort((a, b) => a - b);
      for (const key of others) rows.delete(key);
      if (merged.length > 0) rows.set(first!, merged);
    }
  }
  return hasZeros;
}

/** Blanks and hyphens between two digits separate two numbers: "1-11" is not "11-1". */
function withoutSeparators(key: string): string {
  return key.replace(/(?<!\d)[\s-]|[\s-](?!\d)/g, '');
}

function withoutZeros(text: string): string {
  let start = 0;
  while (start < text.length - 1 && text[start] === '0') start++;
  return text.slice(start);
}

function commonOf(a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): number {
  let count = 0;
  for (const key of a.keys()) if (b.has(key)) count++;
  return count;
}
