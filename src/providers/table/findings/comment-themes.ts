/** What free-text answers complain of and praise: words of one meaning in four languages are one theme, counted by answers and by group. */
import type { ColumnPlan } from '../column-evidence.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, exact } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';
import { type Said, saidIn, type Tone, themeIn, themes } from './comment-tones.ts';
import { ratingBounds, ratingOf } from './ratings.ts';
import { groupingColumns } from './score.ts';

const fewestAnswers = 10;
const fewestOfGroup = 5;
const fewestOfTheme = 2;
const themesShown = 8;
const complaintsTold = 6;
const praiseTold = 2;
const themesOfGroup = 4;
const maxGroups = 8;
/** How many times as frequent the tone of a theme is as the other one. */
const clearMajority = 3;
/** Themes that cover fewer answers say little of them. */
const minCovered = 0.3;

/** A theme of several answers: the answers that complain of it or praise it. */
export type ToldTheme = { name: string; tone: Tone; rows: ReadonlySet<number>; sentence: (text: string) => string };
export type Themes = {
  findings: Finding[];
  /** Those that are told, the largest complaint first. */
  told: ToldTheme[];
  /** The answers that name a theme, in whatever tone. */
  named: ReadonlyMap<string, ReadonlySet<number>>;
};

const none: Themes = { findings: [], told: [], named: new Map() };

/** @param rows answers with content; nothing is told where the themes cover few of them */
export function readThemes(table: ColumnsInMemory, plan: ColumnPlan, rows: readonly number[]): Themes {
  if (rows.length < fewestAnswers) return none;
  const texts = table.texts(plan);
  const rated = ratingsOf(table);
  const said = withUsualTones(new Map(rows.map((at) => [at, saidIn(texts[at]!, rated(at))])));
  if ([...said.values()].filter(({ themed }) => themed.size > 0).length < rows.length * minCovered) return none;
  return {
    findings: [
      toneFinding(table, plan, said, 'complaint', 'complaints', 'Complaints and wishes'),
      toneFinding(table, plan, said, 'praise', 'praise', 'Praise'),
    ].filter((finding) => finding !== null),
    told: [...toldThemes(said, 'complaint', complaintsTold), ...toldThemes(said, 'praise', praiseTold)],
    named: new Map(themes.map(({ name }) => [name, new Set(rows.filter((at) => isNamed(said.get(at)!, name)))])),
  };
}

function isNamed({ themed, neutral }: Said, name: string): boolean {
  return themed.has(`complaint ${name}`) || themed.has(`praise ${name}`) || neutral.has(name);
}

/** "Only one of the showers works", with a middle rating: a mention without a tone has that of nearly all others of its theme. */
function withUsualTones(said: ReadonlyMap<number, Said>): ReadonlyMap<number, Said> {
  const all = [...said.values()];
  const usual = new Map(
    themes.flatMap(({ name }): [string, Tone][] => {
      const [complaints, praise] = (['complaint', 'praise'] as const).map(
        (tone) => all.filter(({ themed }) => themed.has(`${tone} ${name}`)).length,
      ) as [number, number];
      if (complaints > praise * clearMajority) return [[name, 'complaint']];
      return praise > complaints * clearMajority ? [[name, 'praise']] : [];
    }),
  );
  return new Map(
    [...said].map(([at, each]) => [
      at,
      {
        ...each,
        themed: new Set([...each.themed, ...[...each.neutral].flatMap((name) => (usual.has(name) ? [`${usual.get(name)} ${name}`] : []))]),
      },
    ]),
  );
}

function toldThemes(said: ReadonlyMap<number, Said>, tone: Tone, most: number): ToldTheme[] {
  const rows = [...said.keys()];
  return ranked(rows, said, tone)
    .filter(([, count]) => count >= fewestOfTheme)
    .slice(0, most)
    .map(([name]) => ({
      name,
      tone,
      rows: new Set(rows.filter((at) => said.get(at)!.themed.has(`${tone} ${name}`))),
      sentence: (text) => themeIn(text, name),
    }));
}

function ratingsOf(table: ColumnsInMemory): (at: number) => Tone | null {
  const rating = ratingOf(table);
  const bounds = rating === undefined ? null : ratingBounds(rating);
  if (rating === undefined || bounds === null) return () => null;
  const values = table.numbers(rating);
  return (at) => {
    const value = values[at]!;
    // A rating outside of the scale, which the figures leave out, says nothing.
    if (value > rating.max || value < rating.min) return null;
    return value <= bounds.low ? 'complaint' : value >= bounds.high ? 'praise' : null;
  };
}

function toneFinding(
  table: ColumnsInMemory,
  plan: ColumnPlan,
  said: ReadonlyMap<number, Said>,
  tone: Tone,
  kind: string,
  lead: string,
): Finding | null {
  const rows = [...said.keys()];
  const all = ranked(rows, said, tone);
  if (all.length === 0) return null;
  const [group] = groupingColumns(table, maxGroups);
  return {
    kind,
    text: `${lead} in ${plan.name} by theme, words of one meaning together (${countOf(rows.length, 'answer')} with text): ${namesOf(all.slice(0, themesShown))}${tone === 'complaint' ? complaintsWithoutTheme(said) : ''}.${group === undefined ? '' : byGroup(table, group, said, tone)}`,
  };
}

/** How many answers complain of something that no theme covers. Praise is not counted: a good rating may stand beside any text. */
function complaintsWithoutTheme(said: ReadonlyMap<number, Said>): string {
  const count = [...said.values()].filter(
    ({ themed, tones }) => tones.has('complaint') && !themes.some(({ name }) => themed.has(`complaint ${name}`)),
  ).length;
  return count === 0
    ? ''
    : `; ${countOf(count, 'more answer')} with a low rating or words of complaint ${count === 1 ? 'is' : 'are'} on other matters`;
}

function byGroup(table: ColumnsInMemory, group: ColumnPlan, said: ReadonlyMap<number, Said>, tone: Tone): string {
  const texts = table.texts(group);
  const groups = Map.groupBy(
    [...said.keys()].filter((at) => texts[at] !== ''),
    (at) => texts[at]!,
  );
  const each = [...groups]
    .toSorted((a, b) => b[1].length - a[1].length)
    .map(([name, rows]) => {
      const own = ranked(rows, said, tone);
      const few = rows.length < fewestOfGroup ? ', too few to judge' : '';
      const found =
        own.length > 0 ? namesOf(own.slice(0, themesOfGroup)) : rows.some((at) => said.get(at)!.tones.has(tone)) ? 'other matters' : 'none';
      return `${name} (${countOf(rows.length, 'answer')}${few}): ${found}`;
    });
  return ` By ${group.name}: ${each.join('; ')}.`;
}

function ranked(rows: readonly number[], said: ReadonlyMap<number, Said>, tone: Tone): [string, number][] {
  // A theme may have several entries of one name.
  return [...new Set(themes.map(({ name }) => name))]
    .map((name): [string, number] => [name, rows.filter((at) => said.get(at)!.themed.has(`${tone} ${name}`)).length])
    .filter(([, count]) => count > 0)
    .toSorted((a, b) => b[1] - a[1]);
}

function namesOf(counts: readonly [string, number][]): string {
  return counts.map(([name, count]) => `${name} ${exact(count)}`).join(', ');
}
