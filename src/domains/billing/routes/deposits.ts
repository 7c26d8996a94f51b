/** Deposits into the wallet: at once if no real money is moved, and on the payment processor's page if there is one. */

import Type, { type Static } from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { type Clock, isoTimestamp } from '../../../clock.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { Money } from '../../../edge/http/validate.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { ModeField } from '../../../edge/routes/mode.ts';
import { AppError, invalidField } from '../../../errors.ts';
import type { AccountMode } from '../../../mode.ts';
import { toMajor, toMinor } from '../../../money.ts';
import type { Database } from '../../../storage/database.ts';
import { commerceIds, LedgerEntry, type LedgerEntryRow, wallet, walletIdOf } from '../../commerce/contract.ts';
import type { CheckoutRow } from '../checkout/entity.ts';
import { checkout, paymentBounds } from '../checkout/messages.ts';
import { billingIds } from '../ids.ts';
import type { CheckoutPages } from './checkout.ts';

export type DepositRouteParts = {
  actors: ActorSystem;
  database: Database;
  pages: Pick<CheckoutPages, 'pageOf'>;
  /** Base address of this service. */
  publicUrl(): string;
  /** Whether a payment processor takes the money; otherwise the caller's request is enough. */
  takesPayments: boolean;
  clock: Clock;
};

const sources = ['card', 'bank_transfer'] as const;
type Source = (typeof sources)[number];
type DepositRequest = { amountMinor: number; source: Source };
type Payer = AccountMode & { userId: string };

const DepositSchema = Type.Object(
  {
    id: Type.String(),
    amount: Type.Number(),
    source: Type.Enum([...sources]),
    status: Type.Enum(['pending', 'completed', 'expired', 'failed'], {
      description:
        '`completed`: the money is in the wallet. `pending`: it is once it is paid at `checkout_url`. `expired`: nobody has paid in time. `failed`: something else was paid than was asked for, or there was no page',
    }),
    balance: Type.Number({ description: 'The balance of the wallet after the deposit and after the payments that waited for it' }),
    mode: ModeField,
    created_at: Type.String({ format: 'date-time' }),
    checkout_url: Type.Optional(Type.String({ description: 'The page where the deposit is paid, until `expires_at`' })),
    expires_at: Type.Optional(Type.String({ format: 'date-time', description: 'When the page expires' })),
  },
  { title: 'Deposit' },
);
type DepositView = Static<typeof DepositSchema>;

/** In the wallet's chapter. */
const inTheReference = { describedAfter: '/commerce/spending-limits' } as const;

export function depositRoutes({ actors, database, pages, publicUrl, takesPayments, clock }: DepositRouteParts): AnyRoute[] {
  const deposit = route({
    method: 'POST',
    path: '/commerce/wallet/deposit',
    ...inTheReference,
    summary: 'Deposit money into the wallet',
    description:
      'Without a payment processor it settles at once and moves no real money. With one it is `pending`: a person pays on the page at `checkout_url` within 30 minutes, by card, between 0.50 and 999,999.99, and the wallet has the money when it is paid. Orders that wait for money are paid from it, oldest first. A test key pays into the wallet of test mode: at once, and never real money.',
    scope: 'commerce.write',
    errors: [409],
    body: Type.Object({ amount: Money({ minimum: 0.01, maximum: 1_000_000 }), source: Type.Enum([...sources]) }),
    responses: { 201: DepositSchema },
    async handler(context) {
      const { principal, body } = context;
      const { id, commandId } = commandIds(context, commerceIds.transaction, clock.nowMs());
      const details = { amountMinor: toMinor(body.amount), source: body.source };
      return answer(201, await (takesPayments && principal.mode === 'live' ? pending : booked)(principal, id, details, commandId));
    },
  });

  const get = route({
    method: 'GET',
    path: '/commerce/wallet/deposits/{id}',
    ...inTheReference,
    summary: 'Get a deposit',
    description: 'An unpaid deposit is deleted after a week.',
    extension: true,
    scope: 'commerce.read',
    responses: { 200: DepositSchema },
    async handler({ principal, params: { id } }) {
      const found = await find(principal, id);
      if (found === null) throw new AppError('not_found', 'Deposit not found');
      return answer(200, { ...found, balance: await balanceOf(principal) });
    },
  });

  return [deposit, get];

  async function booked(of: Payer, id: string, details: DepositRequest, commandId: string | undefined): Promise<DepositView> {
    const { balanceMinor, createdAtMs } = await actors.ask(
      wallet,
      walletIdOf(of),
      'deposit',
      { transferId: id, ...details },
      { commandId },
    );
    const amounts = { amount: toMajor(details.amountMinor), balance: toMajor(balanceMinor) };
    return { id, source: details.source, status: 'completed', ...amounts, mode: of.mode, created_at: isoTimestamp(createdAtMs) };
  }

  /** The page of a checkout that pays into the wallet once the payment is found. */
  async function pending(
    of: Payer,
    id: string,
    { amountMinor, source }: DepositRequest,
    commandId: string | undefined,
  ): Promise<DepositView> {
    if (source !== 'card') throw invalidField(['body', 'source'], 'Only cards are taken here', 'value_error', source);
    if (amountMinor < paymentBounds.leastMinor || amountMinor > paymentBounds.mostMinor)
      throw invalidField(['body', 'amount'], 'Between 0.50 and 999,999.99 are taken at once', 'value_error', toMajor(amountMinor));
    const { accountId, userId } = of;
    const lines = [{ description: 'Deposit', amountMinor }];
    const bought = { plan: null, billingPeriod: null, amountMinor, lines, successUrl: null, cancelUrl: null };
    const ownPage = pages.pageOf(checkoutIdOf(id), publicUrl());
    const opened = await actors.ask(checkout, checkoutIdOf(id), 'open', { accountId, userId, ...bought, ownPage }, { commandId });
    return { ...viewOf(opened, id), balance: await balanceOf(of) };
  }

  /** A booked deposit is completed; any other has the status of its checkout. */
  async function find({ accountId, mode }: AccountMode, id: string): Promise<Omit<DepositView, 'balance'> | null> {
    if (!id.startsWith(commerceIds.transaction)) return null;
    // Test mode deposits have no payment page.
    const row = mode === 'test' ? null : await actors.query(checkout, checkoutIdOf(id), 'get', null);
    const own = row !== null && row.accountId === accountId && row.plan === null ? viewOf(row, id) : null;
    const where = { accountId, mode, transferId: id, book: 'wallet' as const, reference: { $in: [...sources] } };
    const entry = (await database.list(accountId, (em) =>
      em.findOne(LedgerEntry, where, { disableIdentityMap: true }),
    )) as LedgerEntryRow | null;
    if (entry === null) return own;
    const { amountMinor, reference, createdAt } = entry;
    const completed = { id, amount: toMajor(amountMinor), source: reference as Source, status: 'completed' as const, mode };
    return { ...completed, created_at: own?.created_at ?? isoTimestamp(createdAt) };
  }

  async function balanceOf(of: AccountMode): Promise<number> {
    return toMajor((await actors.query(wallet, walletIdOf(of), 'balance', null)).balanceMinor);
  }
}

function viewOf({ amountMinor, status, pageUrl, createdAt, expiresAt }: CheckoutRow, id: string): Omit<DepositView, 'balance'> {
  const about = {
    id,
    amount: toMajor(amountMinor),
    source: 'card' as const,
    status: depositStatus[status] ?? 'pending',
    mode: 'live' as const,
  };
  const page = status === 'open' && pageUrl !== null ? { checkout_url: pageUrl, expires_at: isoTimestamp(expiresAt) } : {};
  return { ...about, created_at: isoTimestamp(createdAt), ...page };
}

/** Every other status is pending, including `paid`: the wallet books it a moment later. */
const depositStatus: Partial<Record<CheckoutRow['status'], DepositView['status']>> = {
  expired: 'expired',
  failed: 'failed',
  mismatched: 'failed',
};

/** A deposit and its checkout have the same id with different prefixes, so that each leads to the other. */
function checkoutIdOf(id: string): string {
  return billingIds.checkout + id.slice(commerceIds.transaction.length);
}
