/** The effect of tasks: making the plan. */

import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { EffectsOf } from '../../../actors/define-actor.ts';
import { missingScope, readingFiles } from '../../../authority.ts';
import { AppError } from '../../../errors.ts';
import type { Model, ModelReply } from '../../../providers/model/port.ts';
import type { Database } from '../../../storage/database.ts';
import { type TaskContract, task as taskRef } from './messages.ts';
import { type Planned, planRequest, type ReadPlan, readPlan } from './plan.ts';
import { budgetIsSpent } from './turn-admission.ts';

/** How often a model with an invalid plan gets the error and is asked again. */
const maxTries = 3;
const planTimeoutMs = 10 * 60_000;
const maxFilesShown = 200;

export function taskEffects(services: { model: Model; database: Database; actors: ActorSystem }): EffectsOf<TaskContract> {
  return {
    plan: {
      outcome: 'planned',
      lane: 'model',
      timeoutMs: planTimeoutMs,
      repeatable: () => true,
      async run(_input, { actorId, effectId, signal }): Promise<Planned> {
        const task = await services.actors.query(taskRef, actorId, 'get', null);
        if (task === null) throw new AppError('not_found', 'The task is gone');
        // A plan may repeat file names in its instructions to agents, so it does not get names that they may not see.
        const mayList = missingScope(task, readingFiles) === null;
        const request = planRequest(task, mayList ? await filesOf(services.database, task.workspaceId) : []);
        let tokens = 0;
        let costMillicents = 0;
        const planned = (result: ReadPlan): Planned => ({ result, tokens, costMillicents });
        for (let attempt = 1; ; attempt++) {
          let reply: ModelReply;
          try {
            reply = await services.model.turn(request, {
              signal,
              idempotencyKey: `${effectId}/${attempt}`,
              account: task.accountId,
            });
          } catch (error) {
            // The cost of earlier attempts is counted too.
            if (attempt > 1 && error instanceof AppError && !signal.aborted) return planned({ problem: error.message });
            throw error;
          }
          tokens += reply.inputTokens + reply.outputTokens;
          costMillicents += reply.costMillicents;
          const read = readPlan(reply, task.config.max_agents);
          if ('plan' in read) return planned(read);
          if (attempt === maxTries) return planned({ problem: `The model made no usable plan in ${maxTries} tries. ${read.problem}` });
          if (budgetIsSpent({ ...task, tokensUsed: task.tokensUsed + tokens })) {
            return planned({ problem: `The model made no usable plan before max_credits were spent. ${read.problem}` });
          }
          request.messages.push(
            { role: 'assistant', text: reply.text.slice(0, 8_000) || '(nothing)', toolCalls: [] },
            { role: 'user', text: read.problem },
          );
        }
      },
    },
  };
}

async function filesOf(database: Database, workspaceId: string): Promise<{ name: string; type: string; sizeBytes: number }[]> {
  const { rows } = await database.read({
    name: 'files_for_plan',
    text: `select name, type, size_bytes as "sizeBytes" from workspace_file where workspace_id = $1 and status = 'present' order by created_at, id limit ${maxFilesShown}`,
    values: [workspaceId],
  });
  return rows;
}
