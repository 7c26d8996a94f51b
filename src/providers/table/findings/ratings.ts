/** Ratings on a scale, as in surveys: how often each is given, and what low and high ones write. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, hasScale, nameTokens } from '../column-role.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, exact, percent } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';

const ratingWords = new Set(
  'rating ratings stars score satisfaction zufriedenheit note nps bewertung sterne recommend puntuacion puntuación valoracion valoración estrellas étoiles etoiles stelle sterren voto valutazione punteggio beoordeling calificacion calificación satisfaccion satisfacción soddisfazione tevredenheid avaliação avaliacao'.split(
    ' ',
  ),
);
const minRatings = 5;
const maxScale = 11;

export function isRatingName(name: string): boolean {
  return has(nameTokens(name), ratingWords) || hasScale(name);
}

/** The column that rates the answers of a survey. */
export function ratingOf(table: ColumnsInMemory): ColumnPlan | undefined {
  return table.quantities().find(({ name, values }) => isRatingName(name) && values.distinct > 1);
}

/** Whole numbers on a short scale. */
export function isRating({ name, type, min, max, reads }: ColumnPlan): boolean {
  return isRatingName(name) && reads === 'number' && type === 'integer' && min >= 0 && max <= 10;
}

export function ratingFindings(table: ColumnsInMemory): Finding[] {
  return table
    .quantities()
    .filter(isRating)
    .slice(0, 3)
    .flatMap((plan): Finding[] => {
      const counts = new Map<number, number>();
      for (const value of table.numbers(plan)) if (!Number.isNaN(value)) counts.set(value, (counts.get(value) ?? 0) + 1);
      const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
      if (all < minRatings || counts.size < 2 || counts.size > maxScale) return [];
      const each = [...counts]
        .toSorted((a, b) => b[0] - a[0])
        .map(([value, count]) => `${exact(value)} ×${exact(count)} (${percent(count, all)})`);
      return [{ kind: 'ratings', text: `${plan.name} is given as ${each.join(', ')}, over ${countOf(all, 'row')}.` }];
    });
}

/** Bounds of low and high ratings: up to 2 and from 4 of 5; up to 4 and from 8 of 10. Null if the scale is not known. */
export function ratingBounds({ max, min }: ColumnPlan): { low: number; high: number } | null {
  if (min < 0 || max > 10) return null;
  if (max <= 5) return max >= 4 ? { low: 2, high: 4 } : null;
  return max >= 8 ? { low: 4, high: 8 } : null;
}
