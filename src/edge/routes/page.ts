/** Lists in pages: the query of a page, the form of a wrapped list, and the total-count header of a bare array. */
import Type, { type TSchema } from 'typebox';

export const PageQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Entries in the page' }),
  offset: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, default: 0, description: 'Entries before the page' }),
});

/** The schema of a wrapped list. */
export function PageOf<T extends TSchema>(entry: T) {
  return Type.Object({ data: Type.Array(entry), has_more: Type.Boolean(), total: Type.Integer() });
}

/** A wrapped list. @param total length of the whole list */
export function page<T>(data: T[], offset: number, total: number): { data: T[]; has_more: boolean; total: number } {
  return { data, has_more: offset + data.length < total, total };
}

export function totalCount(total: number): Record<string, string> {
  return { 'X-Total-Count': String(total) };
}
