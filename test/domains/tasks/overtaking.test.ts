/**
 * Rules that hold for any order of messages: messages of different senders have no order, and a retried dead letter arrives at any time.
 * Concurrency slots of tasks and agents are in `task/admission.property.test.ts`.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { NotYet } from '../../../src/actors/not-yet.ts';
import { accountActor } from '../../../src/domains/accounts/account/account.ts';
import { accountSettingsActor } from '../../../src/domains/accounts/account-settings/account-settings.ts';
import { renewalActor } from '../../../src/domains/billing/renewal/renewal.ts';
import { cardActor } from '../../../src/domains/commerce/card/card.ts';
import { issuedCardActor } from '../../../src/domains/commerce/issued-card/issued-card.ts';
import { walletActor } from '../../../src/domains/commerce/wallet/wallet.ts';
import { agentActor } from '../../../src/domains/tasks/agent/agent.ts';
import { taskActor } from '../../../src/domains/tasks/task/task.ts';
import { noLog } from '../../../src/log.ts';
import { toolbox } from '../../support/agent-world.ts';
import type { Json } from '../../support/json.ts';
import { play, type RecordedMessage, RecordedTurn } from '../../support/turn-context.ts';

const definitions: Record<string, { commands: object }> = {
  account: accountActor({ startedTasks: null as never }),
  account_settings: accountSettingsActor,
  agent: agentActor(toolbox, {} as never),
  card: cardActor,
  issued_card: issuedCardActor(null, noLog),
  renewal: renewalActor({} as never),
  task: taskActor({ plan: null as never }),
  wallet: walletActor,
};

/** Actors whose messages wait until the test picks one. */
class World {
  readonly rows = new Map<string, Json>();
  waiting: RecordedMessage[] = [];
  private nowMs = 0;

  act(kind: string, id: string, command: string, input: unknown): unknown {
    const ctx = new RecordedTurn(id, ++this.nowMs);
    const { state, reply } = play(definitions[kind]!, command, this.rows.get(`${kind}/${id}`) ?? null, input, ctx);
    this.rows.set(`${kind}/${id}`, state);
    this.waiting.push(...ctx.messages);
    return reply;
  }
  /** Delivers all that waits and what follows from it, the newest first, to the actors of this world. */
  deliver(): void {
    for (let steps = 0; this.waiting.length > 0; steps++) {
      assert.ok(steps < 100, 'it comes to rest');
      const { kind, id, command, input } = this.waiting.pop()!;
      if (definitions[kind] !== undefined && this.rows.has(`${kind}/${id}`)) this.act(kind, id, command, input);
    }
  }
}

test('wallets use the time zone that was chosen last', () => {
  const world = new World();
  for (const timezone of ['Asia/Tokyo', 'Europe/Paris', 'America/Lima']) world.act('account_settings', 'acct_1', 'change', { timezone });
  const first = world.waiting.find(({ kind }) => kind === 'wallet')!;
  world.act('wallet', first.id, first.command, { timezone: 'UTC' });
  world.deliver();
  assert.equal(world.rows.get(`wallet/${first.id}`).timezone, 'America/Lima');
});

test('an approval that was decided before the agent heard of the end of its task is shown as decided', () => {
  const world = new World();
  const pending = { id: 'apr_1', agentId: 'agnt_1', action: 'charge_card', status: 'pending', decidedAt: null, reason: null };
  const running = { id: 'task_1', accountId: 'acct_1', status: 'running', planEffectId: null, places: {}, deliverables: [] };
  const agents = [{ id: 'agnt_1', status: 'waiting', currentTool: 'charge_card' }];
  world.rows.set('task/task_1', { ...running, agents, approvals: [pending], waiting: [], granted: [] });
  world.act('task', 'task_1', 'cancel', null);
  assert.equal(world.rows.get('task/task_1').approvals[0].status, 'expired');
  const decided = { ...pending, status: 'approved', decidedAt: 5, decidedBy: 'usr_1', decidedVia: 'session' };
  const report = { agentId: 'agnt_1', turn: null, rests: false, work: null, status: 'thinking', currentTool: null };
  world.act('task', 'task_1', 'report', { ...report, approval: decided });
  assert.deepEqual(world.rows.get('task/task_1').approvals, [decided]);
  world.act('task', 'task_1', 'report', { ...report, approval: { ...pending, id: 'apr_2' } });
  assert.deepEqual(world.rows.get('task/task_1').approvals, [decided], 'an approval that nobody has decided is not added any more');
  assert.deepEqual(world.rows.get('task/task_1').agents, [{ id: 'agnt_1', status: 'cancelled', currentTool: null }]);
});

test('the issuer of a card gets its latest status', () => {
  const world = new World();
  const about = { accountId: 'acct_1', name: 'c', currency: 'USD', spendLimitMinor: 100, last4: '1234', numberHash: 'h' };
  world.rows.set('card/crd_1', { ...about, id: 'crd_1', mode: 'live', issuerCardId: 'ic_1', status: 'active', spentMinor: 0 });
  world.rows.set('issued_card/crd_1', {
    ...{ id: 'crd_1', status: 'made', issuerCardId: 'ic_1', wanted: 'active', confirmed: 'active', tryingSince: null },
  });
  for (const command of ['freeze', 'unfreeze', 'freeze', 'unfreeze', 'freeze']) world.act('card', 'crd_1', command, null);
  world.deliver();
  assert.equal(world.rows.get('card/crd_1').status, 'frozen');
  assert.equal(world.rows.get('issued_card/crd_1').wanted, 'frozen');
});

test('a subscription that is replaced before its renewal has begun is never renewed, and a change at that time is retried', () => {
  const world = new World();
  assert.throws(() => world.act('renewal', 'cs_1', 'change', { plan: 'pro', billingPeriod: 'monthly' }), isTriedAgain);
  world.act('renewal', 'cs_1', 'replaced', { accountId: 'acct_1' });
  const payer = { customer: 'cus_1', method: 'pm_1', payment: 'pi_1' };
  world.act('renewal', 'cs_1', 'begin', { accountId: 'acct_1', plan: 'pro', billingPeriod: 'monthly', payer, paidUntilMs: 100 });
  assert.equal(world.rows.get('renewal/cs_1').status, 'over');
});

test('a subscription does not end before its last paid term has its invoice', () => {
  const world = new World();
  world.act('account', 'acct_1', 'goOn', {});
  const term = { plan: 'pro', billingPeriod: 'monthly', startsAtMs: 0 } as const;
  const subscription = { ...term, nextBillingPeriod: 'monthly', paidUntilMs: 50, priceMinor: 1_000, processorId: 'cs_1' };
  world.rows.set('account/acct_1', { ...world.rows.get('account/acct_1'), plan: 'pro', subscription });
  const end = { processorId: 'cs_1', paidUntilMs: 100 };
  assert.throws(() => world.act('account', 'acct_1', 'subscriptionEnded', end), isTriedAgain);
  const paid = { ...term, processorId: 'cs_1', paymentId: 'pi_2', amountMinor: 1_000, paidUntilMs: 100 };
  assert.equal(world.act('account', 'acct_1', 'periodPaid', paid), true);
  assert.equal(world.act('account', 'acct_1', 'subscriptionEnded', end), true);
});

test('a key that ends before the account has counted it is not counted permanently', () => {
  const world = new World();
  world.act('account', 'acct_1', 'apiKeyEnded', {});
  world.act('account', 'acct_1', 'apiKeyMade', {});
  assert.equal(world.rows.get('account/acct_1').apiKeys, 0);
});

test('the start of an agent that arrives before its creation is retried', () => {
  assert.throws(() => new World().act('agent', 'agnt_1', 'begin', { context: '' }), isTriedAgain);
});

test('a task uses the newest limits of its account, and late messages of an ended agent neither restart it nor take a slot', () => {
  const world = new World();
  const task = {
    ...{ id: 'task_1', accountId: 'acct_1', workspaceId: 'ws_1', mode: 'live', scopes: null, status: 'running', pauseReason: null },
    ...{ config: { max_agents: 3, autonomy_level: 100 }, agents: [agent('agnt_1', 'complete'), agent('agnt_2', 'thinking')] },
    ...{ approvals: [], granted: [], waiting: [], places: {}, placesAsked: 0, limitReached: false, waitingFor: null, deliverables: [] },
    ...{ tokensUsed: 0, costMillicents: 0 },
  };
  world.rows.set('task/task_1', task);
  world.act('account', 'acct_1', 'goOn', {});
  world.act('task', 'task_1', 'planLimit', { reached: true, limit: { kind: 'plan_limit', of: 'credits', allowed: 0, resetsAtMs: 1 } });
  assert.equal(world.rows.get('task/task_1').limitReached, true);
  world.deliver();
  assert.equal(world.rows.get('task/task_1').limitReached, false, 'the limit is not reached any more');

  const late = { agentId: 'agnt_1', currentTool: 'read_file', progress: 1, result: null, error: null, approval: null, rests: false };
  world.act('task', 'task_1', 'report', { ...late, status: 'acting', turn: { tokens: 7, costMillicents: 0, model: null }, work: null });
  world.act('task', 'task_1', 'requestTurn', { agentId: 'agnt_1', wants: 'turn' });
  world.act('task', 'task_1', 'delegate', { agentId: 'agnt_1', callId: 'call_1', type: 'general', prompt: 'p', scopes: null });
  const { agents, waiting, places, tokensUsed } = world.rows.get('task/task_1');
  assert.equal(agents.length, 2);
  assert.equal(agents[0].status, 'complete');
  assert.deepEqual({ waiting, places, tokensUsed }, { waiting: [], places: {}, tokensUsed: 7 }, 'what it cost is counted');
});

function agent(id: string, status: string) {
  return {
    id,
    type: 'general',
    title: id,
    after: [],
    delegatedBy: null,
    owesOutput: false,
    begun: true,
    status,
    tokensUsed: 0,
    error: null,
  };
}

/** A refusal would be consumed, and a defect would be a dead letter in half a second. */
function isTriedAgain(error: unknown): boolean {
  return error instanceof NotYet;
}
