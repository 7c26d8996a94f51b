/** Reads stored authorizations of cards. */
import type { Database } from '../../../storage/database.ts';
import { CardAuthorization, type CardAuthorizationRow } from './entity.ts';

/** null: no decided authorization. */
export async function findAuthorization(database: Pick<Database, 'load' | 'table'>, id: string): Promise<CardAuthorizationRow | null> {
  const found = await database.load(database.table(CardAuthorization), [id]);
  return (found.get(id) as CardAuthorizationRow | undefined) ?? null;
}
