/**
 * An account: its plan, its usage in the billing period, which of its tasks and agents are at work and which wait. Its tasks report their
 * usage and their end; the account gives places to waiting tasks and agents, and notifies its tasks when a limit of the plan is reached and
 * when it no longer is.
 *
 * P1 A task or agent that has asked for a place leaves exactly once; places are given in the order of asking, never more than the plan
 *    allows.
 * P2 While a limit is reached no place is given, and every started task is notified: by a scan of all of them, or when it has been planned.
 * P3 A task that was notified of a limit is notified when it ends: the started tasks are read after the end is committed, and the
 *    notification contains the state at its sending.
 * P4 Each term of a plan is paid once, in the turn that begins it, and has one invoice; an unused payment is returned as credit.
 */

import { type ActorDefinition, defineActor, type EffectsOf, type Turn, type TurnContext } from '../../../actors/define-actor.ts';
import { NotYet } from '../../../actors/not-yet.ts';
import { AppError } from '../../../errors.ts';
import { isUpgrade, liveTradingIn, type Plan, unlimited } from '../../../plans.ts';
import { accountSettings } from '../account-settings/messages.ts';
import { admit, emptyAdmission, enter, leave, withdraw } from './admission.ts';
import { Account, type AccountRow, AgentUsage, type WaitingFor } from './entity.ts';
import { accountInputs } from './inputs.ts';
import { renewed, upgraded, waitingFor, withPaidTerm } from './invoices.ts';
import { type AccountContract, type PlanChange, account as ref, taskOfPlace } from './messages.ts';
import { periodAt } from './period.ts';
import { registrationPort, taskPort } from './ports.ts';
import { inPeriodOf, limitIsReached, limitReachedBy, limitsFor, planOf, whyTasksWait } from './usage.ts';

type State = AccountRow | null;

/** Most tasks that wait for their turn; the edge refuses to create more. */
export const maxWaitingTasks = 10_000;
/** Places given in one turn; further ones in the next turn, so that no batch becomes too large. */
const admittedPerTurn = 500;
const notifyRetryMs = 1_000;

export function accountActor(effects: EffectsOf<AccountContract>): ActorDefinition<AccountRow, AccountContract> {
  return defineActor<AccountRow, AccountContract>({
    ref,
    entity: Account,
    inputs: accountInputs,
    effects,
    commands: {
      create(state, { registrationId, claimedBy }, ctx) {
        ctx.send(registrationPort, claimedBy, 'created', { registrationId, part: 'account' });
        return { state: state ?? newAccount(ctx), reply: null };
      },

      taskWaits(state, { taskId }, ctx) {
        const next = change(state, ctx, (account) => ({ ...account, taskPlaces: enter(account.taskPlaces, taskId) }));
        // The last to enter was not admitted.
        if (next.taskPlaces.waiting.at(-1) === taskId) ctx.send(taskPort, taskId, 'mustWait', { waitingFor: whyTasksWait(next) });
        return { state: next, reply: undefined };
      },

      taskEnded: changing((account, { taskId, started, places, asked = [], returnsPlaces = false }) => ({
        ...account,
        tasksUsed: account.tasksUsed + (started ? 1 : 0),
        // A task that has not begun returns its place when it receives `begin`.
        taskPlaces: (started || !returnsPlaces ? leave : withdraw)(account.taskPlaces, taskId),
        agentPlaces: asked.reduce(withdraw, places.reduce(leave, account.agentPlaces)),
      })),

      beganTooLate: changing((account, { taskId }) => ({ ...account, taskPlaces: leave(account.taskPlaces, taskId) })),

      planned: changing((account, { taskId, tokens }, ctx) => {
        // The task received `begin` before the limit was reached, and may have begun after the started tasks were notified.
        if (account.limitReached) ctx.send(taskPort, taskId, 'planLimit', limitOf(account));
        return { ...account, tokensUsed: account.tokensUsed + tokens };
      }),

      agentWaits(state, { place }, ctx) {
        const next = change(state, ctx, (account) => ({ ...account, agentPlaces: enter(account.agentPlaces, place) }));
        if (next.agentPlaces.waiting.at(-1) === place) notifyLackingPlace(next, place, ctx);
        return { state: next, reply: undefined };
      },

      agentRests(state, { place, held = true }, ctx) {
        const removeTask = held ? leave : withdraw;
        const next = change(state, ctx, (account) => ({ ...account, agentPlaces: removeTask(account.agentPlaces, place) }));
        // Its task may have other waiting agents, and the returned place went to another task.
        const other = next.agentPlaces.waiting.find((one) => taskOfPlace(one) === taskOfPlace(place));
        if (other !== undefined) notifyLackingPlace(next, other, ctx);
        return { state: next, reply: undefined };
      },

      used: changing((account, { place, tokens, workedMs, agent }, ctx) => {
        if (agent !== null) {
          const of = { accountId: account.id, periodStartsAt: account.periodStartsAt };
          ctx.append(AgentUsage, { ...of, agentId: agent.id, agentName: agent.name, workedMs: agent.workedMs });
        }
        const next: AccountRow = { ...account, tokensUsed: account.tokensUsed + tokens, workedMs: account.workedMs + workedMs };
        if (place === null) return next;
        // The task must be notified before it grants one more turn.
        if (limitIsReached(next)) ctx.send(taskPort, taskOfPlace(place), 'planLimit', limitOf(next));
        ctx.send(taskPort, taskOfPlace(place), 'counted', { place });
        return next;
      }),

      limitsChanged: changing((account, { overrides, changedAtMs }) =>
        (account.overridesChangedAt ?? 0) > changedAtMs ? account : { ...account, overrides, overridesChangedAt: changedAtMs },
      ),

      changePlan(state, offer, ctx) {
        let kind: PlanChange['kind'] = 'waiting';
        let before: Plan = offer.plan;
        let replaced: string | null = null;
        const next = change(state, ctx, (account) => {
          before = account.plan;
          if (!isUpgrade(before, offer.plan)) return waitingFor(account, offer);
          const better = upgraded(account, offer, ctx);
          kind = better === null ? 'dearer' : 'changed';
          if (better !== null) replaced = account.subscription?.processorId ?? null;
          return better ?? account;
        });
        return { state: next, reply: { kind, before, replaced } };
      },

      periodPaid(state, paid, ctx) {
        const term = state?.subscription;
        const isNewer = term?.processorId === paid.processorId && term.paidUntilMs < paid.paidUntilMs;
        return { state: isNewer ? change(state, ctx, (account) => withPaidTerm(account, paid, ctx)) : state, reply: isNewer };
      },

      subscriptionEnded(state, { processorId, paidUntilMs = 0 }, ctx) {
        if (state?.subscription?.processorId !== processorId) return { state, reply: false };
        // The invoice could not be written any more.
        if (state.subscription.paidUntilMs < paidUntilMs) throw new NotYet('A subscription ends before its last paid term was reported');
        // A waiting plan with a price would have been paid by now.
        const ended = (account: AccountRow) => ({ ...account, plan: 'free' as const, pendingPlan: null, subscription: null });
        return { state: change(state, ctx, ended), reply: true };
      },

      beginPeriod: changing((account, _input, ctx) => {
        scheduleNextPeriod(account, ctx);
        return account;
      }),
      goOn: changing((account, { heard: assumed }, ctx) => {
        if (assumed !== undefined && assumed.reached !== limitIsReached(account))
          ctx.send(taskPort, assumed.taskId, 'planLimit', limitOf(account));
        return account;
      }),

      addApiKey: changing((account) => {
        mustHaveKeyLeft(account);
        return { ...account, apiKeys: account.apiKeys + 1 };
      }),
      apiKeyMade: changing((account) => ({ ...account, apiKeys: account.apiKeys + 1 })),
      // Below zero if it arrives before the message that the key was made.
      apiKeyEnded: changing((account) => ({ ...account, apiKeys: account.apiKeys - 1 })),

      tellTasks: changing((account, { outcome }, ctx) => {
        if (outcome.kind !== 'done') {
          ctx.schedule('tellTasks', ctx.nowMs + notifyRetryMs, 'tellTasksAgain', {});
          return account;
        }
        const { ids, areAll } = outcome.value;
        for (const id of ids) ctx.send(taskPort, id, 'planLimit', limitOf(account));
        if (!areAll) ctx.run('startedTasks', { after: ids.at(-1)! });
        return account;
      }),

      tellWaiting: changing((account, { after }, ctx) => {
        notifyWaiting(account, after, ctx);
        return account;
      }),

      tellTasksAgain: changing((account, _input, ctx) => {
        ctx.run('startedTasks', { after: '' });
        return account;
      }),
    },
    queries: { get: (state) => state, hasRoom: (state) => state === null || state.taskPlaces.waiting.length < maxWaitingTasks },
  });
}

function changing<I>(of: (account: AccountRow, input: I, ctx: TurnContext<AccountContract>) => AccountRow) {
  return (state: State, input: I, ctx: TurnContext<AccountContract>): Turn<AccountRow, void> => ({
    state: change(state, ctx, (account) => of(account, input, ctx)),
    reply: undefined,
  });
}

/** Begins the current period if it is new, applies the change, and starts what follows from it. */
function change(state: State, ctx: TurnContext<AccountContract>, of: (account: AccountRow) => AccountRow): AccountRow {
  const before = state ?? newAccount(ctx);
  const current = inPeriodOf(ctx.nowMs, before);
  if (current !== before) scheduleNextPeriod(current, ctx);
  const changed = of(renewed(current, ctx));
  if (planOf(changed) !== planOf(before)) {
    if (liveTradingIn[planOf(before)] && !liveTradingIn[planOf(changed)]) ctx.send(accountSettings, changed.id, 'liveTradingLost', {});
    ctx.emit({ accountId: changed.id, type: 'plan.changed', data: { plan: planOf(changed), previous_plan: planOf(before) } });
  }
  const next = grantPlaces(updateLimitReached(changed, ctx), ctx);
  // After the places were given: it concerns tasks that still wait.
  if (next.limitReached !== before.limitReached) notifyWaiting(next, '', ctx);
  return next;
}

/** Sends waiting tasks the reason: those after `after`, one page per turn. A task that has left was the first in line. */
function notifyWaiting(account: AccountRow, after: string, ctx: TurnContext<AccountContract>): void {
  const { waiting } = account.taskPlaces;
  const waitingFor = whyTasksWait(account);
  const from = waiting.indexOf(after) + 1;
  const page = waiting.slice(from, from + admittedPerTurn);
  for (const id of page) ctx.send(taskPort, id, 'mustWait', { waitingFor });
  if (from + page.length < waiting.length) ctx.send(ref, ctx.id, 'tellWaiting', { after: page.at(-1)! });
}

/** Notifies the task while a limit is reached. */
function notifyLackingPlace(account: AccountRow, place: string, ctx: TurnContext<AccountContract>): void {
  if (account.limitReached) return;
  ctx.send(taskPort, taskOfPlace(place), 'placeLacking', { place, allowed: limitsFor(account).concurrentAgents });
}

/** By the usage, not by `limitReached`, which is updated at the end of the turn. */
function limitOf(account: AccountRow): { reached: boolean; limit: WaitingFor | null } {
  const limit = limitReachedBy(account);
  return { reached: limit !== null, limit };
}

function updateLimitReached(account: AccountRow, ctx: TurnContext<AccountContract>): AccountRow {
  const limitReached = limitIsReached(account);
  if (limitReached === account.limitReached) return account;
  ctx.run('startedTasks', { after: '' });
  return { ...account, limitReached };
}

/** Gives the free places. */
function grantPlaces(account: AccountRow, ctx: TurnContext<AccountContract>): AccountRow {
  if (account.limitReached) return account;
  const limits = limitsFor(account);
  const tasks = admit(account.taskPlaces, limits.concurrentTasks, admittedPerTurn);
  const agents = admit(account.agentPlaces, limits.concurrentAgents, admittedPerTurn);
  for (const taskId of tasks.admitted) ctx.send(taskPort, taskId, 'begin', {});
  for (const place of agents.admitted) ctx.send(taskPort, taskOfPlace(place), 'placeGiven', { place });
  if (tasks.admitted.length === admittedPerTurn || agents.admitted.length === admittedPerTurn) ctx.send(ref, ctx.id, 'goOn', {});
  if (tasks.admitted.length + agents.admitted.length === 0) return account;
  return { ...account, taskPlaces: tasks.places, agentPlaces: agents.places };
}

function newAccount(ctx: TurnContext<AccountContract>): AccountRow {
  const { startsAtMs, endsAtMs } = periodAt(ctx.nowMs, ctx.nowMs);
  const account: AccountRow = {
    id: ctx.id,
    plan: 'free',
    pendingPlan: null,
    subscription: null,
    creditMinor: 0,
    createdAt: ctx.nowMs,
    periodStartsAt: startsAtMs,
    periodEndsAt: endsAtMs,
    tasksUsed: 0,
    workedMs: 0,
    tokensUsed: 0,
    taskPlaces: emptyAdmission,
    agentPlaces: emptyAdmission,
    limitReached: false,
    apiKeys: 0,
    overrides: null,
    overridesChangedAt: null,
  };
  scheduleNextPeriod(account, ctx);
  return account;
}

/** Throws `plan_required` if the account has reached its number of keys. */
function mustHaveKeyLeft(account: AccountRow): void {
  const { apiKeys: limit } = limitsFor(account);
  if (limit === unlimited || account.apiKeys < limit) return;
  const allowed = account.overrides?.apiKeys == null ? `the ${planOf(account)} plan allows ${limit}` : `it may have ${limit}`;
  throw new AppError('plan_required', `The account has ${account.apiKeys} API keys and ${allowed}: revoke one, or change the plan`);
}

function scheduleNextPeriod(account: AccountRow, ctx: TurnContext<AccountContract>): void {
  ctx.schedule('period', account.periodEndsAt, 'beginPeriod', {});
}
