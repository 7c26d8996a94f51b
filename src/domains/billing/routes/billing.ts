/** An account's usage of its plan. */

import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { type Clock, isoTimestamp } from '../../../clock.ts';
import type { Principal } from '../../../edge/auth/principal.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { AppError } from '../../../errors.ts';
import { toMajor } from '../../../money.ts';
import { plans } from '../../../plans.ts';
import type { Database } from '../../../storage/database.ts';
import { account, accountStorage, minutes, storageLimits, type UsageSummary, usageSummaryOf } from '../../accounts/contract.ts';
import { tasksIds } from '../../tasks/contract.ts';

const usageFields = {
  tasks_used: Type.Integer({ description: 'Tasks that started and ended in this billing period' }),
  tasks_limit: Type.Integer({ description: '-1: unlimited' }),
  agents_minutes: Type.Number({
    description: 'Minutes that agents have worked in this billing period: the time their model turns and tool calls took',
  }),
  credits_remaining: Type.Number({ description: 'Credits left in this billing period; 1 credit is 1,000 tokens; -1: unlimited' }),
};

const UsageQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 1_000, default: 1_000, description: 'Agents in the breakdown' }),
  offset: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, default: 0, description: 'Agents before those' }),
});

export type BillingRouteParts = { actors: ActorSystem; database: Database; clock: Clock };

export function billingRoutes({ actors, database, clock }: BillingRouteParts): AnyRoute[] {
  const usageOf = async (principal: Principal): Promise<UsageSummary> => {
    const row = await actors.query(account, principal.accountId, 'get', null);
    if (row === null) throw new AppError('not_found', 'Account not found');
    return usageSummaryOf(row, clock.nowMs());
  };
  const storage = async (accountId: string) => {
    const [used, limits] = await Promise.all([actors.query(accountStorage, accountId, 'used', null), storageLimits(actors, accountId)]);
    return { bytes_used: used.bytes, bytes_limit: limits.bytes, files_used: used.files, files_limit: limits.files };
  };
  return [
    route({
      method: 'GET',
      path: '/billing',
      summary: 'Get plan and usage of the billing period',
      description:
        'Billing periods are months from the day of signing up, in UTC. Tasks of test keys count like all others. Where a limit is reached, running tasks are paused (`pause_reason` plan_limit) and new ones wait as pending, until an upgrade or the next period.',
      scope: 'billing.read',
      responses: {
        200: Type.Object({
          plan: Type.Enum([...plans]),
          billing_period_start: Type.String({ format: 'date', description: 'The first day' }),
          billing_period_end: Type.String({ format: 'date', description: 'The first day of the next period' }),
          ...usageFields,
          next_plan: Type.Enum([...plans], {
            description: 'The plan from `paid_until` on, or from the next period if the plan is free of charge',
          }),
          paid_until: Type.Union([Type.String({ format: 'date' }), Type.Null()], {
            description: 'The day of the next payment of the plan; null: no payment',
          }),
          credit: Type.Number({ description: 'Paid and unused USD, which reduce the next invoices' }),
        }),
      },
      async handler({ principal }) {
        const now = await usageOf(principal);
        return answer(200, {
          plan: now.plan,
          billing_period_start: date(now.periodStartsAtMs),
          billing_period_end: date(now.periodEndsAtMs),
          ...usage(now),
          next_plan: now.nextPlan,
          paid_until: now.paidUntilMs === null ? null : date(now.paidUntilMs),
          credit: toMajor(now.creditMinor),
        });
      },
    }),

    route({
      method: 'GET',
      path: '/billing/usage',
      summary: 'List usage of the billing period, by agent',
      description:
        'Tasks of test keys count like all others. The breakdown lists the agents that have worked in this period, by working time, longest first. It contains the reported usage: a running model turn or tool call is counted when it has ended.',
      scope: 'billing.read',
      query: UsageQuery,
      responses: {
        200: Type.Object({
          ...usageFields,
          storage: Type.Object(
            {
              bytes_used: Type.Integer(),
              bytes_limit: Type.Integer(),
              files_used: Type.Integer(),
              files_limit: Type.Integer(),
            },
            { description: 'Files of all workspaces, newest versions; -1: unlimited. Goes beyond the interface specification.' },
          ),
          breakdown: Type.Array(
            Type.Object({
              agent_id: Type.String({ description: 'agt_ and the rest of the agent’s own id' }),
              agent_name: Type.String(),
              tasks: Type.Integer({ description: 'Number of tasks of the agent: 1' }),
              minutes: Type.Number(),
            }),
          ),
        }),
      },
      async handler({ principal, query }) {
        const now = await usageOf(principal);
        const { rows } = await database.list(principal.accountId, () =>
          database.read({
            name: 'usage_breakdown',
            text: `select agent_id, agent_name, (worked_ms - coalesce((select max(e.worked_ms) from agent_usage e
              where e.agent_id = u.agent_id and e.period_starts_at < u.period_starts_at), 0))::float8 as worked_ms
            from agent_usage u where account_id = $1 and period_starts_at = to_timestamp($2::float8 / 1000)
            order by 3 desc, agent_id limit $3 offset $4`,
            values: [principal.accountId, now.periodStartsAtMs, query.limit, query.offset],
          }),
        );
        const breakdown = rows.map(({ agent_id: id, agent_name, worked_ms }) => ({
          agent_id: `agt_${(id as string).slice(tasksIds.agent.length)}`,
          agent_name: agent_name as string,
          tasks: 1,
          minutes: minutes(worked_ms),
        }));
        return answer(200, { ...usage(now), storage: await storage(principal.accountId), breakdown });
      },
    }),
  ];
}

function usage({ tasksUsed, tasksLimit, minutesUsed, creditsRemaining }: UsageSummary) {
  return { tasks_used: tasksUsed, tasks_limit: tasksLimit, agents_minutes: minutesUsed, credits_remaining: creditsRemaining };
}

function date(ms: number): string {
  return isoTimestamp(ms).slice(0, 10);
}
