/**
 * Revokes all API keys of a user's account, on request with a new password, because an attacker may have created some. Recorded with the
 * new password, so it is done once that is set, despite crashes.
 */
import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { EffectDefinition } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';
import { apiKey } from '../api-key/messages.ts';

/** Keys revoked concurrently. */
const chunk = 50;
/** A key can create others until its revocation is known on all nodes. */
const maxRounds = 1_000;
const timeoutMs = 60_000;

export type KeyRevocation = { accountId: string; resetId: string };
export type KeysRevoked = { resetId: string; revoked: number };

export type KeyRevocationParts = { actors: ActorSystem; database: Pick<Database, 'read'> };

export function keyRevocation(parts: KeyRevocationParts): EffectDefinition {
  async function end(id: string, accountId: string): Promise<number> {
    try {
      await parts.actors.ask(apiKey, id, 'revoke', { accountId });
      return 1;
    } catch (error) {
      // Another request has revoked it.
      if (error instanceof AppError && error.code === 'not_found') return 0;
      throw error;
    }
  }
  return {
    async run({ accountId, resetId }: KeyRevocation): Promise<KeysRevoked> {
      let revoked = 0;
      for (let round = 0; round < maxRounds; round++) {
        const { rows } = await parts.database.read({
          name: 'active_api_keys',
          text: `select id from api_key where account_id = $1 and status = 'active' limit ${chunk}`,
          values: [accountId],
        });
        if (rows.length === 0) break;
        const ended = await Promise.all(rows.map(({ id }) => end(id, accountId)));
        revoked += ended.reduce((sum, one) => sum + one, 0);
      }
      return { resetId, revoked };
    },
    repeatable: () => true,
    timeoutMs,
    lane: 'vital',
    outcome: 'keysRevoked',
    input: Type.Object({ accountId: Type.String(), resetId: Type.String() }),
  };
}
