/**
 * Agents that pay, on a node that crashes between any two steps from the approval to the agent's final answer: an approved payment is
 * made once, a payment beyond a limit is refused with the reason, and only full autonomy needs no approval.
 */

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import fc from 'fast-check';
import pg from 'pg';
import type { AnyActor } from '../../../../src/actors/define-actor.ts';
import { accountActor } from '../../../../src/domains/accounts/account/account.ts';
import { account } from '../../../../src/domains/accounts/account/messages.ts';
import { accountSettingsActor } from '../../../../src/domains/accounts/account-settings/account-settings.ts';
import { accountSettings } from '../../../../src/domains/accounts/account-settings/messages.ts';
import { accountsIds } from '../../../../src/domains/accounts/ids.ts';
import { cardActor } from '../../../../src/domains/commerce/card/card.ts';
import { card, cardIdOf } from '../../../../src/domains/commerce/card/messages.ts';
import { commerceIds } from '../../../../src/domains/commerce/ids.ts';
import { purchaseOrderActor } from '../../../../src/domains/commerce/purchase-order/purchase-order.ts';
import { commerceTools } from '../../../../src/domains/commerce/tools/commerce-tools.ts';
import { wallet } from '../../../../src/domains/commerce/wallet/messages.ts';
import { walletActor } from '../../../../src/domains/commerce/wallet/wallet.ts';
import { agentActor } from '../../../../src/domains/tasks/agent/agent.ts';
import { agentEffects } from '../../../../src/domains/tasks/agent/effects.ts';
import { agent } from '../../../../src/domains/tasks/agent/messages.ts';
import { tasksIds } from '../../../../src/domains/tasks/ids.ts';
import { task } from '../../../../src/domains/tasks/task/messages.ts';
import { taskActor } from '../../../../src/domains/tasks/task/task.ts';
import { createCatalogue } from '../../../../src/domains/tasks/tools/catalogue.ts';
import type { Tool } from '../../../../src/domains/tasks/tools/port.ts';
import { workspaceActor } from '../../../../src/domains/workspaces/workspace/workspace.ts';
import { newId } from '../../../../src/ids.ts';
import { noLog } from '../../../../src/log.ts';
import { inlineCompute } from '../../../../src/providers/compute/inline.ts';
import type { Model } from '../../../../src/providers/model/port.ts';
import { checkLedger } from '../../../../src/storage/ledger-check.ts';
import { memoryWorkspace, somebody } from '../../../support/memory-workspace.ts';
import { type TestRuntime, testRuntime } from '../../../support/runtime.ts';
import { until } from '../../../support/until.ts';

/** Where the node may die, in the order in which they are passed. */
const steps = ['approved', 'called', 'asked', 'answered', 'reported'] as const;
type Step = (typeof steps)[number];
/** What a crash at a step leaves undone forever. */
const never = new Promise<never>(() => {});

let world: Awaited<ReturnType<typeof spendingWorld>>;
before(async () => {
  world = await spendingWorld();
});
after(() => world.close());

const balanceMinor = 100_000;
const limitMinor = 5_000;

const spending = fc.record({
  tool: fc.constantFrom('charge_card', 'create_purchase_order'),
  amountMinor: fc.oneof(fc.integer({ min: 1, max: limitMinor }), fc.integer({ min: limitMinor + 1, max: balanceMinor })),
  autonomy: fc.constantFrom(0, 99, 100),
});

test('an agent makes an approved payment once, whenever its node dies, and gets the reason when a limit refuses it', {
  timeout: 480_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(spending, fc.subarray([...steps]), async (wanted, crashes) => {
      const { tool, amountMinor, autonomy } = wanted;
      const reported = await world.spend(wanted, new Set(crashes));
      const isAllowed = amountMinor <= limitMinor;
      const status = tool === 'charge_card' ? 'approved' : isAllowed ? 'complete' : 'pending';
      assert.equal(reported.asked, autonomy < 100, 'below full autonomy a person is asked');
      if (isAllowed) assert.equal(reported.result.status, status);
      else if (tool === 'charge_card') assert.match(reported.result.error, /declined: spend_limit_exceeded\. Nothing was paid/);
      else assert.deepEqual([reported.result.status, reported.result.payment_error], ['pending', 'per_transaction_limit']);
      assert.deepEqual(await world.paid(reported.accountId), {
        amounts: isAllowed ? [amountMinor] : [],
        charges: tool === 'charge_card' ? 1 : 0,
        orders: tool === 'charge_card' ? 0 : 1,
        balanceMinor: balanceMinor - (isAllowed ? amountMinor : 0),
      });
    }),
    {
      numRuns: 12,
      examples: [
        [{ tool: 'charge_card', amountMinor: 1, autonomy: 0 }, [...steps]],
        [{ tool: 'create_purchase_order', amountMinor: 1, autonomy: 0 }, [...steps]],
      ],
    },
  );
  assert.deepEqual(await world.findings(), []);
});

test('a rejected payment is not made, and the agent gets the reason', { timeout: 240_000 }, async () => {
  const reported = await world.spend(
    { tool: 'charge_card', amountMinor: 100, autonomy: 99 },
    new Set(['approved', 'reported']),
    'too dear',
  );
  assert.match(reported.result.error, /rejected this: too dear/);
  assert.deepEqual(await world.paid(reported.accountId), { amounts: [], charges: 0, orders: 0, balanceMinor });
});

type Spending = { tool: string; amountMinor: number; autonomy: number };

async function spendingWorld() {
  let crashes = new Set<Step>();
  /** Something came to a step where its node is to die, and waits for that. */
  let isDue = false;
  /** Passed, or the end of this node. */
  const pass = async (step: Step) => {
    if (!crashes.delete(step)) return;
    isDue = true;
    await never;
  };
  let call = { name: '', arguments: {} };
  const model: Model = {
    name: 'scripted',
    async turn({ messages }) {
      const said = { inputTokens: 1, outputTokens: 1, costMillicents: 0, model: 'scripted' };
      if (!messages.some(({ role }) => role === 'tool')) return { ...said, text: '', toolCalls: [{ id: 'call_1', ...call }] };
      await pass('reported');
      return { ...said, text: 'Done.', toolCalls: [] };
    },
  };
  /** A call of a tool that spends, with the steps at which its node may die. */
  const onTheWay = async (run: () => Promise<unknown>): Promise<unknown> => {
    await pass('approved');
    await pass('called');
    const answer = run();
    const answered = answer.catch(() => 'a decline is an answer too');
    await pass('asked');
    await answered;
    await pass('answered');
    return answer;
  };
  const spendingTools = commerceTools({ actors: null as never }).map(
    // The tool of the live node: after a crash it is another one.
    (tool, at): Tool => ({
      ...tool,
      ...(tool.preview === undefined ? null : { preview: (args, context) => commerceTools(node)[at]!.preview!(args, context) }),
      run: (args, context) => onTheWay(() => commerceTools(node)[at]!.run(args, context)),
    }),
  );
  const toolbox = createCatalogue(spendingTools);
  const services = {
    model,
    toolbox,
    sources: [],
    workspace: () => memoryWorkspace(),
    mail: () => ({ send: async () => ({ detail: 'posted' }) }),
    compute: inlineCompute,
    log: noLog,
    get database() {
      return node.database;
    },
    get actors() {
      return node.actors;
    },
  };
  const planned = { agents: [{ type: 'builder', title: 'buyer', prompt: 'buy', after: [] }] };
  const plan = {
    outcome: 'planned',
    timeoutMs: 60_000,
    repeatable: () => true,
    run: async () => ({ result: { plan: planned }, tokens: 1, costMillicents: 0 }),
  };
  const startedTasks = {
    outcome: 'tellTasks',
    timeoutMs: 60_000,
    repeatable: () => true,
    run: async () => ({ ids: [], areAll: true }),
  };
  const node: TestRuntime = await testRuntime(
    [
      accountActor({ startedTasks }),
      accountSettingsActor,
      walletActor,
      cardActor,
      purchaseOrderActor,
      workspaceActor,
      taskActor({ plan }),
      agentActor(toolbox, agentEffects(services)),
    ] as unknown as AnyActor[],
    { suspectPauseMs: 50 },
  );

  async function crashWhereDue(): Promise<void> {
    if (!isDue) return;
    // Before the crash: the next node may come to the next step before this one sees that it runs.
    isDue = false;
    await node.crashAndRestart();
  }

  return {
    /** Lets an agent spend on its own account, while its node dies at these steps, and returns the agent's results. */
    async spend({ tool, amountMinor, autonomy }: Spending, dying: Set<Step>, rejection: string | null = null) {
      const accountId = newId(accountsIds.account, null);
      const cardId = cardIdOf(accountId, newId(commerceIds.card, null));
      const { actors } = node;
      const plan = { billingPeriod: 'monthly', amountMinor: 4_900, processorId: null } as const;
      await actors.ask(account, accountId, 'changePlan', { plan: 'business', paymentId: newId('cs_', null), ...plan });
      await actors.ask(accountSettings, accountId, 'change', { autoApproveThresholdMinor: balanceMinor });
      await actors.ask(wallet, accountId, 'deposit', { transferId: newId('txn_', null), amountMinor: balanceMinor, source: 'card' });
      await actors.ask(wallet, accountId, 'changeLimits', { perTransactionMinor: limitMinor });
      const about = {
        accountId,
        mode: 'live' as const,
        name: 'c',
        last4: '0000',
        numberHash: cardId,
        spendLimitMinor: balanceMinor,
        currency: 'USD',
      };
      await actors.ask(card, cardId, 'create', about);

      const amount = amountMinor / 100;
      const what = tool === 'charge_card' ? { card_id: cardId, merchant: 'Acme' } : { description: 'Paper', vendor: 'Acme' };
      call = { name: tool, arguments: { ...what, amount } };
      crashes = new Set(dying);
      if (autonomy === 100) crashes.delete('approved');
      const taskId = newId(tasksIds.task, null);
      const config = { max_agents: 1, autonomy_level: autonomy, auto_deploy: false, deploy_target: null };
      await actors.ask(task, taskId, 'create', {
        accountId,
        userId: 'usr_1',
        mode: 'live',
        scopes: null,
        prompt: 'buy',
        config,
        workspaceId: null,
      });
      if (autonomy < 100) {
        await until(async () => (await rowOf(taskId)).approvals.length > 0, 'the question');
        const { id: approvalId, agentId } = (await rowOf(taskId)).approvals[0]!;
        assert.deepEqual((await this.paid(accountId)).amounts, [], 'nothing before it is approved');
        await node.actors.ask(agent, agentId, 'approve', {
          approvalId,
          approved: rejection === null,
          reason: rejection,
          editedArguments: null,
          by: somebody,
        });
        // A rejected payment reaches no further step.
        if (rejection !== null && crashes.delete('approved')) await node.crashAndRestart();
      }
      await until(async () => {
        await crashWhereDue();
        return (await rowOf(taskId)).status === 'complete';
      }, 'the end of the task');
      assert.equal(crashes.size, 0, 'it died wherever it was to die');
      const { agents, approvals } = await rowOf(taskId);
      const [step] = await node.sql(`select entry from agent_step where agent_id = $1 and entry->>'role' = 'tool'`, [agents[0]!.id]);
      return { accountId, asked: approvals.length > 0, result: step.entry.result };
    },
    async paid(accountId: string) {
      const numbers = async (text: string) => (await node.sql(text, [accountId])).map(({ n }) => Number(n));
      const [charges] = await numbers('select count(*) as n from card_authorization where account_id = $1');
      const [orders] = await numbers('select count(*) as n from purchase_order where account_id = $1');
      const amounts = await numbers(`select amount_minor as n from ledger_entry where account_id = $1 and book in ('cards', 'orders')`);
      return { amounts, charges, orders, balanceMinor: (await node.actors.query(wallet, accountId, 'balance', null)).balanceMinor };
    },
    async findings() {
      const client = new pg.Client({ connectionString: node.url });
      await client.connect();
      return (await checkLedger(client, null).finally(() => client.end())).findings;
    },
    close: () => node.close(),
  };

  async function rowOf(taskId: string) {
    return (await node.actors.query(task, taskId, 'get', null))!;
  }
}
