/** The owner of an account, for code that knows only the account: tools that act for it, mails on its behalf. */

import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Database } from '../../../storage/database.ts';
import { type UserProfile, user } from './messages.ts';

/** The user who registered the account, with current data: `email` with `emailVerified`, `name`. null: no such account, or not created yet. */
export async function ownerOf(
  { actors, database }: { actors: Pick<ActorSystem, 'query'>; database: Pick<Database, 'read'> },
  accountId: string,
): Promise<UserProfile | null> {
  const { rows } = await database.read({
    name: 'owner_of_account',
    text: 'select id from app_user where account_id = $1 order by created_at, id limit 1',
    values: [accountId],
  });
  return rows.length === 0 ? null : actors.query(user, rows[0].id, 'profile', null);
}
