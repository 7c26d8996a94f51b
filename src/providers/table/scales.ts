/** Values that cannot be, by the scale of their column: a scale in the request or in the column's name, ages, and scales that all others keep to. */
import type { ColumnPlan } from './column-evidence.ts';
import { has, nameTokens } from './column-role.ts';
import type { ColumnsInMemory } from './columns-in-memory.ts';
import { recommendWords } from './findings/score.ts';
import { wordSet } from './word-set.ts';

/** The scale of a column in words of the request: "csat is 1 to 5". */
export type Scale = { column: string; low: number; high: number };

const ageWords = wordSet('age alter âge edad età idade leeftijd');
const humidityWords = new Set(['humidity', 'feuchte']);
const percentWords = new Set(['percent', 'pct', 'percentage', 'prozent']);
const ratedWords = wordSet(
  'rating score satisfaction zufriedenheit stars note grade ratings sterne bewertung étoiles etoiles estrellas stelle sterren puntuación puntuacion valoración valoracion calificación calificacion voto valutazione punteggio beoordeling nota avaliação avaliacao satisfacción satisfaccion soddisfazione tevredenheid',
);
/** With more values off a scale, it is not the column's. */
const maxShare = 0.2;

/** Positions of the rows, and in what the values differ: "outside of the scale 1 to 5 …"; null if every value is possible. */
export function oddValues(
  plan: ColumnPlan,
  table: ColumnsInMemory,
  scales: readonly Scale[] = [],
): { rows: number[]; what: string } | null {
  if (plan.reads !== 'number') return null;
  const numbers = table.numbers(plan);
  const name = nameTokens(plan.name);
  const outside = (low: number, high: number) => [...numbers.keys()].filter((at) => numbers[at]! < low || numbers[at]! > high);
  const few = (rows: number[], share: number, what: string) =>
    rows.length > 0 && rows.length <= plan.filled * share ? { rows, what } : null;
  const given = scales.find(({ column }) => name.join(' ') === nameTokens(column).join(' '));
  if (given !== undefined) return few(outside(given.low, given.high), maxShare, `outside of the given scale ${given.low} to ${given.high}`);
  if (has(name, ageWords)) return few(outside(0, 120), 1, 'that can be no age');
  if (plan.unit === '%' || has(name, percentWords) || has(name, humidityWords)) return few(outside(0, 100), 0.1, 'outside of 0 to 100 %');
  const written = scaleOf(plan.name);
  if (written !== null)
    return few(outside(...written), maxShare, `outside of the scale ${written[0]} to ${written[1]} that its name gives`);
  if (plan.role !== 'rate' || plan.filled < 10 || has(name, recommendWords) || !has(name, ratedWords)) return null;
  const low = few(outside(1, 5), 0.1, 'outside of the scale 1 to 5 that all others keep to');
  if (low !== null) return low;
  // Scales to 10 begin with 0 or with 1.
  const least = numbers.includes(0) ? 0 : 1;
  return few(outside(least, 10), 0.1, `outside of the scale ${least} to 10 that all others keep to`);
}

/** As `oddValues`, without shares beyond 100 %: a growth or an achievement may have them. */
export function impossibleValues(plan: ColumnPlan, table: ColumnsInMemory, scales: readonly Scale[]): ReturnType<typeof oddValues> {
  const odd = oddValues(plan, table, scales);
  return odd !== null && odd.what === 'outside of 0 to 100 %' && !has(nameTokens(plan.name), humidityWords) ? null : odd;
}

/** "(1-5)", "0 to 10", "1–7" in the name of a column. */
function scaleOf(name: string): [number, number] | null {
  const match = /(?<![\d.])([01]) ?(?:-|–|to|bis) ?(\d{1,3})(?![\d.])/u.exec(name.slice(0, 200));
  if (match === null || ![3, 4, 5, 6, 7, 9, 10, 100].includes(Number(match[2]))) return null;
  return [Number(match[1]), Number(match[2])];
}
