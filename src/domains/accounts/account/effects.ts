/** The effect of accounts: reads their started tasks. There are many, so only the rows of the tasks list them. */
import Type from 'typebox';
import type { EffectsOf } from '../../../actors/define-actor.ts';
import type { Database } from '../../../storage/database.ts';
import type { AccountContract, StartedTasks } from './messages.ts';

export const tasksPerPage = 500;

export function accountEffects({ database }: { database: Database }): EffectsOf<AccountContract> {
  return {
    startedTasks: {
      outcome: 'tellTasks',
      input: Type.Object({ after: Type.String() }),
      timeoutMs: 30_000,
      // Tasks continue to use the plan until they are notified.
      isBrief: true,
      repeatable: () => true,
      async run({ after }: { after: string }, { actorId }): Promise<StartedTasks> {
        const { rows } = await database.read({
          name: 'started_tasks',
          text: `select id from task where account_id = $1 and status in ('planning', 'running', 'paused') and id > $2 order by id limit ${tasksPerPage}`,
          values: [actorId, after],
        });
        return { ids: rows.map(({ id }) => id), areAll: rows.length < tasksPerPage };
      },
    },
  };
}
