/** Lists in pages: how a caller asks for one, and how a bare array says how long the whole list is. */
import Type from 'typebox';

export const PageQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'Entries in the page' }),
  offset: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, default: 0, description: 'Entries before the page' }),
});

export function totalCount(total: number): Record<string, string> {
  return { 'X-Total-Count': String(total) };
}
