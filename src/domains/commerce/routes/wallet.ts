/** The wallet: its balance, its transactions, and its spending limits. */

import Type, { type Static } from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { type Clock, isoTimestamp } from '../../../clock.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { Money } from '../../../edge/http/validate.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { ModeField, ModeQuery, modeNote, requestedMode } from '../../../edge/routes/mode.ts';
import { PageOf, PageQuery, page } from '../../../edge/routes/page.ts';
import type { AccountMode } from '../../../mode.ts';
import { toMajor, toMinor } from '../../../money.ts';
import type { Database } from '../../../storage/database.ts';
import { accountSettings, autoApproveSetting } from '../../accounts/contract.ts';
import { commerceIds } from '../ids.ts';
import { LedgerEntry, type LedgerEntryRow } from '../wallet/entity.ts';
import { type SpendingLimits, wallet, walletIdOf } from '../wallet/messages.ts';

export type WalletRouteParts = { actors: ActorSystem; database: Database; clock: Clock };

const BalanceSchema = Type.Object(
  {
    balance: Type.Number(),
    available: Type.Number({ description: 'The balance without held money' }),
    held: Type.Number({ description: 'Reserved for payments that are not booked yet' }),
    currency: Type.String(),
    mode: ModeField,
    updated_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description: 'null: there was no deposit yet' }),
  },
  { title: 'Balance' },
);
const TransactionSchema = Type.Object(
  {
    id: Type.String(),
    type: Type.Enum(['deposit', 'card_authorization', 'card_reversal', 'purchase_order']),
    amount: Type.Number({ description: 'The change of the balance; negative for payments' }),
    reference: Type.String({
      description: 'The paid or returned authorization or order; for a deposit, its source',
    }),
    description: Type.String(),
    mode: ModeField,
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Transaction' },
);
const limitFields = {
  per_transaction_limit: Money({ description: 'Maximum amount of one payment' }),
  daily_limit: Money({ description: "Maximum spending on a day of the account's time zone, by cards and orders together" }),
  monthly_limit: Money({ description: 'Maximum spending in a calendar month' }),
  auto_approve_threshold: Money({ description: 'Purchase orders up to this amount need no approval; 0: all need approval' }),
};
const SpendingSchema = Type.Object(
  {
    ...limitFields,
    daily_spent: Type.Number({ description: 'Spending of today, including held money and approved orders that wait for money' }),
    monthly_spent: Type.Number(),
    currency: Type.String(),
    mode: ModeField,
  },
  { title: 'SpendingLimits' },
);

export function walletRoutes({ actors, database, clock }: WalletRouteParts): AnyRoute[] {
  const balance = route({
    method: 'GET',
    path: '/commerce/wallet/balance',
    summary: 'Get the balance of the wallet',
    description: 'Each mode has its own wallet: a test key sees the wallet of test mode, live keys and sessions see the live wallet.',
    scope: 'commerce.read',
    responses: { 200: BalanceSchema },
    async handler({ principal }) {
      const { balanceMinor, heldMinor, currency, updatedAtMs } = await actors.query(wallet, walletIdOf(principal), 'balance', null);
      return answer(200, {
        balance: toMajor(balanceMinor),
        available: toMajor(balanceMinor - heldMinor),
        held: toMajor(heldMinor),
        currency,
        mode: principal.mode,
        updated_at: updatedAtMs === null ? null : isoTimestamp(updatedAtMs),
      });
    },
  });

  const transactions = route({
    method: 'GET',
    path: '/commerce/wallet/transactions',
    summary: 'List transactions of the wallet, newest first',
    description: modeNote,
    extension: true,
    scope: 'commerce.read',
    query: PageQuery,
    responses: { 200: PageOf(TransactionSchema) },
    async handler({ principal, query: { limit, offset } }) {
      const { accountId, mode } = principal;
      const where = { accountId, mode, book: 'wallet' as const };
      const orderBy = { createdAt: 'desc', transferId: 'desc' } as const;
      const [own, total] = await database.listPage(principal.accountId, LedgerEntry, where, { limit, offset }, orderBy);
      return answer(
        200,
        page(
          own.map((row) => transactionView(row as LedgerEntryRow)),
          offset,
          total,
        ),
      );
    },
  });

  const spending = route({
    method: 'GET',
    path: '/commerce/spending-limits',
    summary: 'Get spending limits and spending',
    description: 'Each mode has its own limits and sums.',
    scope: 'commerce.read',
    query: ModeQuery,
    responses: { 200: SpendingSchema },
    async handler({ principal, query }) {
      return answer(200, await spendingOf(requestedMode(principal, query.mode)));
    },
  });

  const changeSpending = route({
    method: 'PATCH',
    path: '/commerce/spending-limits',
    summary: 'Change the spending limits',
    description:
      'What is left out stays as it is. They hold for cards and orders of the mode together, from the next payment on. `?mode=test` changes those of test mode.',
    extension: true,
    scope: 'session',
    query: ModeQuery,
    body: Type.Partial(Type.Object(limitFields)),
    responses: { 200: SpendingSchema },
    async handler({ principal, query, body }) {
      const of = requestedMode(principal, query.mode);
      const { auto_approve_threshold: threshold } = body;
      const limits = limitsOf(body);
      if (threshold !== undefined)
        await actors.ask(accountSettings, of.accountId, 'change', { [autoApproveSetting[of.mode]]: toMinor(threshold) });
      if (Object.keys(limits).length > 0) await actors.ask(wallet, walletIdOf(of), 'changeLimits', limits);
      return answer(200, await spendingOf(of));
    },
  });

  return [balance, transactions, spending, changeSpending];

  async function spendingOf(of: AccountMode): Promise<Static<typeof SpendingSchema>> {
    const [now, settings] = await Promise.all([
      actors.query(wallet, walletIdOf(of), 'spending', { nowMs: clock.nowMs() }),
      actors.query(accountSettings, of.accountId, 'get', null),
    ]);
    return {
      per_transaction_limit: toMajor(now.perTransactionMinor),
      daily_limit: toMajor(now.dailyMinor),
      monthly_limit: toMajor(now.monthlyMinor),
      auto_approve_threshold: toMajor(settings[autoApproveSetting[of.mode]]),
      daily_spent: toMajor(now.dailySpentMinor),
      monthly_spent: toMajor(now.monthlySpentMinor),
      currency: now.currency,
      mode: of.mode,
    };
  }
}

function limitsOf(body: { per_transaction_limit?: number; daily_limit?: number; monthly_limit?: number }): Partial<SpendingLimits> {
  const { per_transaction_limit: perTransaction, daily_limit: daily, monthly_limit: monthly } = body;
  return {
    ...(perTransaction === undefined ? {} : { perTransactionMinor: toMinor(perTransaction) }),
    ...(daily === undefined ? {} : { dailyMinor: toMinor(daily) }),
    ...(monthly === undefined ? {} : { monthlyMinor: toMinor(monthly) }),
  };
}

function transactionView(row: LedgerEntryRow): Static<typeof TransactionSchema> {
  const { transferId: id, amountMinor, reference, description, mode, createdAt } = row;
  return { id, type: typeOf(row), amount: toMajor(amountMinor), reference, description, mode, created_at: isoTimestamp(createdAt) };
}

function typeOf({ amountMinor, reference }: LedgerEntryRow): Static<typeof TransactionSchema>['type'] {
  if (reference.startsWith(commerceIds.authorization)) return amountMinor > 0 ? 'card_reversal' : 'card_authorization';
  return amountMinor > 0 ? 'deposit' : 'purchase_order';
}
