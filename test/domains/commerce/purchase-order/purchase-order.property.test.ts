import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PurchaseOrderRow } from '../../../../src/domains/commerce/purchase-order/entity.ts';
import type { PurchaseOrderContract } from '../../../../src/domains/commerce/purchase-order/messages.ts';
import { purchaseOrderActor } from '../../../../src/domains/commerce/purchase-order/purchase-order.ts';
import type { WalletRow } from '../../../../src/domains/commerce/wallet/entity.ts';
import type { WalletContract } from '../../../../src/domains/commerce/wallet/messages.ts';
import { walletActor } from '../../../../src/domains/commerce/wallet/wallet.ts';
import { AppError } from '../../../../src/errors.ts';
import type { Json } from '../../../support/json.ts';
import { type Call, play, type RecordedMessage, RecordedTurn } from '../../../support/turn-context.ts';

const accountId = 'acct_1';
const actors = { purchase_order: purchaseOrderActor, wallet: walletActor };
type Act = ['purchase_order', id: string, ...Call<PurchaseOrderContract>] | ['wallet', id: string, ...Call<WalletContract>];

/** Orders and their wallet without time: a message waits until the test picks it, messages of one sender stay in order. */
class World {
  readonly rows = new Map<string, Json>();
  readonly events: { type: string; data: Json }[] = [];
  readonly debits: { transferId: string; amountMinor: number }[] = [];
  private readonly queues = new Map<string, RecordedMessage[]>();
  depositedMinor = 0;

  /** False: it was refused, and left no trace. */
  act(...[kind, id, command, input]: Act): boolean {
    const ctx = new RecordedTurn(id, 1_000);
    try {
      this.rows.set(id, play(actors[kind], command, this.rows.get(id) ?? null, input, ctx).state);
    } catch (error) {
      if (error instanceof AppError) return false;
      throw error;
    }
    this.events.push(...ctx.events);
    for (const row of ctx.rows) if (row.book === 'orders') this.debits.push(row);
    for (const message of ctx.messages) {
      const name = `${id} → ${message.id}`;
      this.queues.set(name, [...(this.queues.get(name) ?? []), message]);
    }
    return true;
  }

  /** Delivers the first message of one of the queues. */
  deliver(pick: number): boolean {
    const open = [...this.queues].filter(([, messages]) => messages.length > 0);
    if (open.length === 0) return false;
    const [, messages] = open[pick % open.length]!;
    const { kind, id, command, input } = messages.shift()!;
    assert.ok(this.act(...([kind, id, command, input] as Act)), `${command} is never refused`);
    return true;
  }

  deposit(amountMinor: number): void {
    const transferId = `txn_d${this.depositedMinor}`;
    if (this.act('wallet', accountId, 'deposit', { transferId, amountMinor, source: 'card' })) this.depositedMinor += amountMinor;
  }
}

const order = fc.integer({ min: 0, max: 3 });
const step = fc.oneof(
  fc.record({
    do: fc.constant('create' as const),
    order,
    amountMinor: fc.integer({ min: 1, max: 1_000 }),
    threshold: fc.constantFrom(0, 300),
  }),
  fc.record({ do: fc.constant('approve' as const), order, approval: fc.integer({ min: 0, max: 2 }) }),
  fc.record({ do: fc.constant('reject' as const), order }),
  fc.record({ do: fc.constant('deposit' as const), amountMinor: fc.integer({ min: 1, max: 900 }) }),
  fc.record({ do: fc.constant('deliver' as const), pick: fc.nat(20) }),
);
const lives = ['created', 'created approved', 'created approved complete', 'created rejected'];

test('for any order of commands, an order is complete exactly when its one payment is booked, and the daily limit holds', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 500, max: 3_000 }), (steps, dailyMinor) => {
      const world = new World();
      world.act('wallet', accountId, 'changeLimits', { dailyMinor });
      for (const one of steps) {
        if (one.do === 'deposit') world.deposit(one.amountMinor);
        else if (one.do === 'deliver') world.deliver(one.pick);
        else {
          const id = `po_${one.order}`;
          const { amountMinor, threshold: autoApproveThresholdMinor } = one as { amountMinor: number; threshold: number };
          if (one.do === 'create')
            world.act('purchase_order', id, 'create', {
              accountId,
              mode: 'live',
              description: 'x',
              amountMinor,
              vendor: 'Acme',
              autoApproveThresholdMinor,
            });
          if (one.do === 'approve') world.act('purchase_order', id, 'approve', { approvalId: `a${one.approval}` });
          if (one.do === 'reject') world.act('purchase_order', id, 'reject', { reason: null });
        }
        check(world, dailyMinor);
      }
      while (world.deliver(0)) check(world, dailyMinor);
      for (const found of ordersOf(world)) {
        assert.equal(found.asking, null, 'every question to the wallet is answered');
        assert.equal(
          found.status === 'complete',
          world.debits.some(({ transferId }) => transferId === `txn_${found.id.slice(3)}`),
        );
        if (found.status === 'approved') assert.ok(found.amountMinor > world.rows.get(accountId).balanceMinor, 'what can be paid is paid');
      }
    }),
    { numRuns: 500 },
  );
});

test('a repeated approval gets the same answer; a different approval is a conflict', () => {
  const world = new World();
  world.act('purchase_order', 'po_1', 'create', {
    accountId,
    mode: 'live',
    description: 'x',
    amountMinor: 5,
    vendor: 'A',
    autoApproveThresholdMinor: 0,
  });
  assert.ok(world.act('purchase_order', 'po_1', 'approve', { approvalId: 'a' }));
  assert.ok(world.act('purchase_order', 'po_1', 'approve', { approvalId: 'a' }));
  assert.equal(world.act('purchase_order', 'po_1', 'approve', { approvalId: 'b' }), false);
  assert.equal(world.act('purchase_order', 'po_1', 'reject', { reason: null }), false);
  while (world.deliver(0));
  assert.ok(world.act('purchase_order', 'po_1', 'approve', { approvalId: 'a' }));
  assert.equal(world.act('purchase_order', 'po_1', 'approve', { approvalId: 'b' }), false);
  assert.equal(world.rows.get('po_1').status, 'approved');
});

function ordersOf(world: World): PurchaseOrderRow[] {
  return [...world.rows].filter(([id, row]) => id.startsWith('po_') && row !== null).map(([, row]) => row);
}

function check(world: World, dailyMinor: number): void {
  const spentMinor = world.debits.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  assert.equal(new Set(world.debits.map(({ transferId }) => transferId)).size, world.debits.length, 'one transfer an order');
  const wallet: WalletRow | null = world.rows.get(accountId) ?? null;
  assert.equal(wallet?.balanceMinor ?? 0, world.depositedMinor - spentMinor);
  assert.ok(spentMinor <= dailyMinor);
  for (const { id } of ordersOf(world)) {
    const life = world.events.filter(({ data }) => data.order_id === id).map(({ type }) => type.slice('order.'.length));
    assert.ok(lives.includes(life.join(' ')), life.join(' '));
  }
}
