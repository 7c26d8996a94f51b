/** Lists that services answer in pages. */

/** A service that names a further page each time is not followed longer. */
const maxPages = 20;

export type Page<T> = { items: T[]; next: string | undefined };

/**
 * The first `max` items, and whether there are more.
 *
 * @param read a page from a cursor on; `missing`: how many items are still wanted
 */
export async function pagesUpTo<T>(
  max: number,
  read: (cursor: string | undefined, missing: number) => Promise<Page<T>>,
): Promise<{ items: T[]; hasMore: boolean }> {
  const found: T[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const { items, next } = await read(cursor, max - found.length);
    found.push(...items);
    cursor = next;
    if (next === undefined || found.length >= max) break;
  }
  return { items: found.slice(0, max), hasMore: cursor !== undefined || found.length > max };
}
