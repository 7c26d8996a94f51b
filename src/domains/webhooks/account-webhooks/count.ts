/** Reconciles the register of an account's webhooks with the webhooks: nodes of a version without the register do not update it. */

import type { EffectsOf } from '../../../actors/define-actor.ts';
import type { Database } from '../../../storage/database.ts';
import type { AccountWebhooksContract, CountedWebhooks } from './messages.ts';

export const countEveryMs = 3_600_000;
/** If one more was refused, the register may be wrong: it is counted again, at most this often. */
export const recountMs = 60_000;

/** Read in one snapshot. A webhook that is registered and does not exist yet has a pending message that creates it. */
const text = `with entry as (select e->>'id' as id, e->>'origin' as origin from account_webhooks a, json_array_elements(a.entries) e where a.id = $1),
    present as (select id, url from webhook where account_id = $1 and status <> 'deleted')
  select (select coalesce(json_agg(p), '[]') from present p) as present, (select coalesce(json_agg(e), '[]') from entry e) as entries,
    (select coalesce(json_agg(e.id), '[]') from entry e where not exists (select from present p where p.id = e.id)
      and not exists (select from message m where m.kind = 'webhook' and m.actor_id = e.id)) as gone`;

export function accountWebhooksEffects({ database }: { database: Pick<Database, 'read'> }): EffectsOf<AccountWebhooksContract> {
  return {
    count: {
      outcome: 'counted',
      timeoutMs: 30_000,
      repeatable: () => true,
      async run(_input: object, { actorId }): Promise<CountedWebhooks> {
        const { rows } = await database.read({ name: 'count_webhooks', text, values: [actorId] });
        const { present, entries, gone } = rows[0] as Found;
        const registered = new Map(entries.map(({ id, origin }) => [id, origin]));
        const wrong = present
          .map(({ id, url }) => ({ id, origin: new URL(url).origin }))
          .filter(({ id, origin }) => registered.get(id) !== origin);
        return { wrong, gone };
      },
    },
  };
}

type Found = { present: { id: string; url: string }[]; entries: { id: string; origin: string }[]; gone: string[] };
