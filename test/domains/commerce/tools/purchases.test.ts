import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountActor } from '../../../../src/domains/accounts/account/account.ts';
import { account } from '../../../../src/domains/accounts/account/messages.ts';
import { accountSettingsActor } from '../../../../src/domains/accounts/account-settings/account-settings.ts';
import { cardActor } from '../../../../src/domains/commerce/card/card.ts';
import { card, cardIdOf } from '../../../../src/domains/commerce/card/messages.ts';
import { commerceIds } from '../../../../src/domains/commerce/ids.ts';
import { purchaseOrder } from '../../../../src/domains/commerce/purchase-order/messages.ts';
import { purchaseOrderActor } from '../../../../src/domains/commerce/purchase-order/purchase-order.ts';
import { commerceTools } from '../../../../src/domains/commerce/tools/commerce-tools.ts';
import { wallet } from '../../../../src/domains/commerce/wallet/messages.ts';
import { walletActor } from '../../../../src/domains/commerce/wallet/wallet.ts';
import { checkArguments } from '../../../../src/domains/tasks/tools/check-arguments.ts';
import { runTool } from '../../../../src/domains/tasks/tools/run-tool.ts';
import { derivedId, newId } from '../../../../src/ids.ts';
import type { Mode } from '../../../../src/mode.ts';
import { everything, memoryWorkspace, toolContext } from '../../../support/memory-workspace.ts';
import { testRuntime } from '../../../support/runtime.ts';

const accountId = 'acct_01k00000000000000000000xyz';
const noEffects = {
  startedTasks: { run: async () => ({ ids: [], areAll: true }), repeatable: () => true, timeoutMs: 60_000, outcome: 'tellTasks' },
};

test('an amount with more than two decimals does not match the schema, so no person is asked about it', () => {
  for (const tool of commerceTools({ actors: null as never })) {
    const args = { card_id: 'crd_1', amount: 1.001, merchant: 'Acme', description: 'Paper', vendor: 'Acme' };
    const checked = checkArguments(tool, args);
    assert.match(checked.ok ? '' : checked.message, /amount: Amounts have at most two decimals/);
    assert.equal(checkArguments(tool, { ...args, amount: 1.01 }).ok, true);
  }
});

test('a tool call that runs repeatedly orders and charges once, and a decline is reported', async (t) => {
  const node = await testRuntime([accountActor(noEffects), accountSettingsActor, walletActor, cardActor, purchaseOrderActor]);
  t.after(() => node.close());
  const { actors } = node;
  const tools = commerceTools({ actors });
  const call = async (
    name: string,
    args: object,
    callId: string,
    mode: Mode = 'live',
    slotOwner: string | null = accountId,
  ): Promise<any> => {
    const context = { ...toolContext(memoryWorkspace()), accountId, callId, slotOwner, authority: { ...everything, mode } };
    const tool = tools.find((one) => one.name === name)!;
    return runTool(tool, args, context, (defect) => assert.fail(String(defect)));
  };
  const newCard = (owner: string, name: string) =>
    actors.ask(card, cardIdOf(owner, newId(commerceIds.card, null)), 'create', {
      accountId: owner,
      mode: 'live',
      name,
      last4: '4242',
      numberHash: name,
      spendLimitMinor: 5_000,
      currency: 'USD',
    });
  const ours = await newCard(accountId, 'ours');
  const theirs = await newCard('acct_2', 'theirs');
  const charge = (amount: number, callId: string, cardId = ours.id) =>
    call('charge_card', { card_id: cardId, amount, merchant: 'Acme' }, callId);

  const offer = { billingPeriod: 'monthly', amountMinor: 4_900, processorId: null } as const;
  await actors.ask(account, accountId, 'changePlan', { plan: 'pro', paymentId: 'cs_1', ...offer });
  assert.match((await charge(10, 'eff_0')).result.error, /business plan\. Nothing was paid/);
  await actors.ask(account, accountId, 'changePlan', { plan: 'business', paymentId: 'cs_2', ...offer });
  assert.match((await charge(10, 'eff_1')).result.error, /declined: insufficient_funds\. Nothing was paid/);
  await actors.ask(wallet, accountId, 'deposit', { transferId: 'txn_1', amountMinor: 100_000, source: 'card' });
  const paid = await Promise.all([charge(30, 'eff_2'), charge(30, 'eff_2'), charge(30, 'eff_2')]);
  for (const one of paid) assert.deepEqual(one, paid[0]);
  assert.equal(paid[0].result.status, 'approved');
  assert.match((await charge(30, 'eff_3')).result.error, /declined: spend_limit_exceeded/);
  assert.match((await charge(1, 'eff_4', theirs.id)).result.error, /There is no card/);
  assert.match((await charge(1.005, 'eff_5')).result.error, /two decimals/);
  const preview = async (args: object, mode: Mode = 'live'): Promise<any> => {
    const tool = tools.find(({ name }) => name === 'charge_card')!;
    const context = { ...toolContext(memoryWorkspace()), accountId, callId: 'eff_p', authority: { ...everything, mode } };
    return runTool({ ...tool, run: tool.preview! }, args, context, (defect) => assert.fail(String(defect)));
  };
  const shown = await preview({ card_id: ours.id, amount: 1.5, merchant: 'Acme' });
  assert.equal(shown.result.text, 'Pay 1.50 USD to Acme with the card ours (ends in 4242).');
  assert.match((await preview({ card_id: theirs.id, amount: 1, merchant: 'Acme' })).result.error, /There is no card/);
  assert.match((await preview({ card_id: ours.id, amount: 1, merchant: 'Acme' }, 'test')).result.error, /There is no card/);
  const inTest = await call('charge_card', { card_id: ours.id, amount: 1, merchant: 'Acme' }, 'eff_8', 'test');
  assert.match(inTest.result.error, /There is no card/, 'a task of test mode charges no live card');
  assert.equal((await actors.query(wallet, accountId, 'balance', null)).balanceMinor, 97_000);

  const order = (callId: string) => call('create_purchase_order', { description: 'Paper', amount: 12.5, vendor: 'Acme' }, callId);
  const [first, again] = [await order('eff_6'), await order('eff_6')];
  assert.deepEqual(first, again);
  assert.equal(first.result.status, 'pending');
  await order('eff_7');
  assert.equal((await node.sql('select 1 from purchase_order')).length, 2);
  assert.ok(first.result.order_id.endsWith('yz') && paid[0].result.authorization_id.endsWith('yz'), 'they carry the slot of their account');

  // As the version before slots has it: the id follows from the call alone.
  const asked = { description: 'Paper', amountMinor: 1_250, vendor: 'Acme', autoApproveThresholdMinor: 0 };
  const earlier = derivedId(commerceIds.purchaseOrder, null, 'eff_9');
  await actors.ask(purchaseOrder, earlier, 'create', { accountId, mode: 'live', ...asked });
  const found = await call('create_purchase_order', { description: 'Paper', amount: 12.5, vendor: 'Acme' }, 'eff_9', 'live', null);
  assert.equal(found.result.order_id, earlier, 'a call that an earlier version recorded finds what it has bought');
  assert.equal((await node.sql('select 1 from purchase_order')).length, 3);
});
