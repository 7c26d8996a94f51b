/**
 * Accounts and their tasks on a real database, across crashes and months. The plans of the tasks are empty, so each task ends after its
 * planning.
 */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { AnyActor, EffectDefinition } from '../../../../src/actors/define-actor.ts';
import { accountActor } from '../../../../src/domains/accounts/account/account.ts';
import { accountEffects } from '../../../../src/domains/accounts/account/effects.ts';
import { account } from '../../../../src/domains/accounts/account/messages.ts';
import { OverrideWatch } from '../../../../src/domains/accounts/account/override-watch.ts';
import { task } from '../../../../src/domains/tasks/task/messages.ts';
import { taskActor } from '../../../../src/domains/tasks/task/task.ts';
import { noLog } from '../../../../src/log.ts';
import { setOverrides } from '../../../../src/storage/account-overrides.ts';
import type { Database } from '../../../../src/storage/database.ts';
import { testRuntime } from '../../../support/runtime.ts';
import { until } from '../../../support/until.ts';

const accountId = 'acct_1';
const dayMs = 86_400_000;

async function start(t: TestContext, planning: () => Promise<void>) {
  let offsetMs = 0;
  const plan: EffectDefinition = {
    outcome: 'planned',
    // Longer than a test may hold it.
    timeoutMs: 600_000,
    repeatable: () => true,
    async run() {
      await planning();
      return { result: { problem: 'No plan.' }, tokens: 1_000, costMillicents: 0 };
    },
  };
  // The newest of the node: it is another after a restart.
  const database = { read: (query) => node.database.read(query) } as Database;
  const actors = [accountActor(accountEffects({ database })), taskActor({ plan } as never)] as unknown as AnyActor[];
  const node = await testRuntime(actors, { clock: { nowMs: () => Date.now() + offsetMs } });
  t.after(() => node.close());
  const config = { max_agents: 1, autonomy_level: 100, auto_deploy: false, deploy_target: null };
  return {
    node,
    advance: (ms: number) => (offsetMs += ms),
    moveTo: (ms: number) => (offsetMs = ms - Date.now()),
    create: (id: string) =>
      node.actors.ask(task, id, 'create', {
        accountId,
        userId: 'usr_1',
        mode: 'live',
        scopes: null,
        prompt: 'p',
        config,
        workspaceId: 'ws_1',
      }),
    async row() {
      await until(async () => (await node.actors.query(account, accountId, 'get', null)) !== null, 'the account to be there');
      return (await node.actors.query(account, accountId, 'get', null))!;
    },
    statuses: async () => (await node.sql('select status from task order by id')).map(({ status }) => status),
    /** As the command does, and as a node notices. */
    async set(limits: Parameters<typeof setOverrides>[2]) {
      await setOverrides(node.database, accountId, limits);
      await new OverrideWatch({ database: node.database, actors: node.actors, placement: node.placement, log: noLog }).poll();
    },
  };
}

test('an account that is killed repeatedly admits its tasks one after the other, each once, and leaves no slot taken', async (t) => {
  const { node, create, row, statuses } = await start(t, () => new Promise((resolve) => setTimeout(resolve, 3)));
  const count = 30;
  for (let n = 0; n < count; n++) await create(`task_${String(n).padStart(2, '0')}`);
  for (let round = 0; round < 6; round++) {
    const before = (await row()).tasksUsed;
    await until(async () => (await row()).tasksUsed > Math.min(before + 2, count - 1), 'some tasks to end');
    await node.crashAndRestart();
  }
  await until(async () => (await statuses()).every((status) => status === 'failed'), 'all tasks to end');
  await until(async () => (await row()).taskPlaces.held === 0, 'the last place to come back');
  const { taskPlaces, agentPlaces, tasksUsed, tokensUsed } = await row();
  assert.deepEqual(
    [taskPlaces, agentPlaces],
    [
      { held: 0, waiting: [] },
      { held: 0, waiting: [] },
    ],
  );
  assert.deepEqual([tasksUsed, tokensUsed], [count, count * 1_000], 'each is used once');
  // Changes whose notification was lost in a crash are still events.
  const events = await node.sql("select type, task_id from event where type in ('task.planning', 'task.failed') order by seq");
  const inTurn = Array.from({ length: count }, (_, n) => `task_${String(n).padStart(2, '0')}`);
  assert.deepEqual(
    events.map(({ type, task_id }) => `${type} ${task_id}`),
    inTurn.flatMap((id) => [`task.planning ${id}`, `task.failed ${id}`]),
    'one at a time, in the order of their creation',
  );
});

test('a period that begins while no node runs begins with the next start, and waiting tasks continue; missed periods count as one', async (t) => {
  const { node, create, row, statuses, advance, set } = await start(t, async () => {});
  await create('task_1');
  await until(async () => (await row()).tasksUsed === 1, 'the first task to end');
  await set({ tasksLimit: 1 });
  await create('task_2');
  await create('task_3');
  assert.equal((await row()).limitReached, true);
  assert.deepEqual(await statuses(), ['failed', 'pending', 'pending']);
  advance(100 * dayMs);
  await node.restart();
  await until(async () => (await row()).tasksUsed === 1 && (await statuses())[1] === 'failed', 'the second task to go on');
  const { tasksUsed, periodStartsAt, periodEndsAt, limitReached } = await row();
  const nowMs = Date.now() + 100 * dayMs;
  assert.ok(periodStartsAt <= nowMs && nowMs < periodEndsAt);
  assert.deepEqual([tasksUsed, limitReached], [1, true], 'the limit holds anew');
  assert.deepEqual(await statuses(), ['failed', 'failed', 'pending']);
  const timers = await node.sql("select due_at from timer where kind = 'account'");
  assert.deepEqual(timers, [{ due_at: new Date(periodEndsAt) }]);
});

test('a paid plan is renewed without requests: although nodes die at the end of periods, each period has one invoice', async (t) => {
  const { node, moveTo, row } = await start(t, async () => {});
  const invoices = async () =>
    (await node.sql('select amount_minor::int as minor, period_start, period_end from invoice order by period_start')) as any[];
  const pro = { plan: 'pro', billingPeriod: 'monthly', amountMinor: 4_900, processorId: null } as const;
  for (const id of ['cs_1', 'cs_1', 'cs_2'])
    await node.actors.ask(account, accountId, 'changePlan', { ...pro, paymentId: id }, { commandId: id });
  for (let months = 2; months <= 4; months++) {
    const { periodEndsAt } = await row();
    moveTo(periodEndsAt);
    await node.crashAndRestart();
    await node.crashAndRestart();
    await until(async () => (await invoices()).length >= months, 'the renewal');
    await node.crashAndRestart();
    await until(async () => (await row()).periodStartsAt === periodEndsAt, 'the period');
  }
  const all = await invoices();
  assert.deepEqual(
    all.map(({ minor }) => minor),
    [4_900, 4_900, 4_900, 4_900],
  );
  for (const [n, { period_start }] of all.slice(1).entries()) assert.deepEqual(period_start, all[n]!.period_end);
  const invoiceCount = await node.sql("select count(*)::int as n from event where type = 'invoice.created'");
  assert.deepEqual(invoiceCount, [{ n: 4 }]);
});

test('an override activates an account that is not in memory and emits one event, and a late older override has no effect', async (t) => {
  const { node, create, row, statuses, set } = await start(t, async () => {});
  await create('task_1');
  await until(async () => (await row()).tasksUsed === 1, 'the first task to end');
  await set({ tasksLimit: 0 });
  await create('task_2');
  await setOverrides(node.database, accountId, { tasksLimit: -1, plan: 'business' });
  await node.crashAndRestart();
  const watch = new OverrideWatch({ database: node.database, actors: node.actors, placement: node.placement, log: noLog });
  await watch.poll();
  await until(async () => (await statuses())[1] === 'failed', 'the second task to go on');
  const { overrides, overridesChangedAt } = await row();
  const [{ n: commits }] = await node.sql("select count(*)::int as n from event where type = 'plan.changed'");
  await watch.poll();
  const late = { overrides: { ...overrides!, plan: 'pro' as const }, changedAtMs: overridesChangedAt! - 1 };
  await node.actors.ask(account, accountId, 'limitsChanged', late);
  assert.equal((await row()).overrides!.plan, 'business');
  assert.equal(commits, 1);
});

test('all started tasks are notified of a limit and of its end, for any number of tasks', async (t) => {
  const held = Promise.withResolvers<void>();
  const { node, create, row, set } = await start(t, () => held.promise);
  await create('task_0');
  await row();
  await set({ plan: 'business' });
  const ids = Array.from({ length: 1_200 }, (_, n) => `task_${n}`);
  for (let n = 1; n < ids.length; n += 100) await Promise.all(ids.slice(n, n + 100).map(create));
  // A task with a slot that has not begun is notified of a limit only after its planning, and here no task is planned.
  const begun = async () => (await node.sql("select count(*)::int as n from task where status in ('planning', 'running', 'paused')"))[0].n;
  await until(async () => (await begun()) === ids.length, 'all to start');
  assert.equal((await row()).taskPlaces.held, ids.length);
  const notified = async (reached: boolean) =>
    (await node.sql('select count(*)::int as n from task where limit_reached = $1', [reached]))[0].n;
  await set({ credits: 0 });
  await until(async () => (await notified(true)) === ids.length, 'all tasks to have the limit');
  await set({ credits: null });
  await until(async () => (await notified(false)) === ids.length, 'all tasks without the limit');
  held.resolve();
  await until(async () => (await row()).taskPlaces.held === 0, 'all to end');
});
