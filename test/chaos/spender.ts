/**
 * One account and what its clients do with its money: they pay in, pay by card, one card more than all others, place and decide orders, freeze
 * and cancel cards that others are just paying with, several at a time, at random.
 *
 * Each operation has a unique mark by which it is found in the books, also if its answer with the id was lost: the merchant of an
 * authorization, the description of an order, the amount of a deposit.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Mode } from '../../src/mode.ts';
import type { Random } from '../support/random.ts';
import { type Account, registerAccount } from './account.ts';
import { type Answer, type Ask, Client, type Door } from './client.ts';
import type { Decided, History, OperationName } from './history.ts';

export type SpenderParts = { history: History; nodes: () => Door[]; random: Random };

/** What an account's people are like: it decides which of the rules have work. */
export type Manner = {
  /** A deposit is this and as many cents as there were deposits before, so that no two are the same. */
  depositFromMinor: number;
  perTransactionMinor: number;
  /** Where it is not null the day's and the month's limit begin here, and are raised when they are reached. */
  limitMinor: number | null;
};

/** With more money than it can spend; always short of money; held by its limits. */
export const manners: readonly Manner[] = [
  { depositFromMinor: 20_000, perTransactionMinor: 1_000_000, limitMinor: null },
  { depositFromMinor: 500, perTransactionMinor: 1_000_000, limitMinor: null },
  { depositFromMinor: 20_000, perTransactionMinor: 450, limitMinor: 5_000 },
];

const wideLimitMinor = 100_000_000_000;
const limitStepMinor = 6_000;
const autoApproveMinor = 400;
/** More than is ever paid in otherwise, and than can wait: 1,000 orders. */
const lastDepositFromMinor = 10_000_000;
const dearestPaymentMinor = 500;
const dearestOrderMinor = 800;
const cardsAtOnce = 4;
const cardLimitsMinor = { hot: 20_000, others: 2_000 };
/** A card is replaced by another one after so many declines. */
const refusalsOfACard = 12;
const longestThoughtMs = 60;
const burstSize = 24;
/** The share of operations that are not retried after a lost answer, so that their outcome stays unknown. */
const noRetryChance = 0.04;
/** The share of operations that are repeated although they were answered. */
const repeatChance = 0.04;
const planWithinMs = 30_000;

type HeldCard = { id: string; refusals: number };

export class Spender {
  readonly account: string;
  readonly token: string;
  readonly client: Client;
  private readonly credentials: Account['credentials'];
  private readonly manner: Manner;
  private readonly mode: Mode;
  private readonly random: Random;
  /** The first is the hot one. */
  private readonly cards: HeldCard[] = [];
  /** Orders that may still be pending, newest last. */
  private readonly pending: string[] = [];
  private readonly limitsMinor: { daily_limit: number; monthly_limit: number };
  private marks = 0;
  private deposits = 0;

  private constructor(client: Client, account: Account, manner: Manner, mode: Mode, random: Random) {
    this.client = client;
    this.account = account.id;
    this.token = account.key;
    this.credentials = account.credentials;
    this.manner = manner;
    this.mode = mode;
    this.limitsMinor = { daily_limit: manner.limitMinor ?? wideLimitMinor, monthly_limit: manner.limitMinor ?? wideLimitMinor };
    this.random = random;
  }

  /** Registers, before anything is broken. Accounts must come to the business plan by themselves (`on-business.ts`). */
  static async register(parts: SpenderParts, manner: Manner, mode: Mode = 'live'): Promise<Spender> {
    const account = await registerAccount(parts.nodes()[0]!.url, mode);
    const client = new Client({ ...parts, account: account.id, token: account.key });
    const spender = new Spender(client, account, manner, mode, parts.random);
    const giveUpAtMs = performance.now() + planWithinMs;
    while ((await client.ask({ method: 'GET', path: '/v1/commerce/cards' }))?.status !== 200) {
      if (performance.now() > giveUpAtMs) throw new Error('The account did not come to the business plan');
      await pause(20);
    }
    await spender.prepare();
    return spender;
  }

  /** Performs one operation after the other until `isOver`. Several calls may run for one account. */
  async work(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.doSomething();
      await pause(this.random.next() * longestThoughtMs);
    }
  }

  /** Pays in more than all that waits for money. */
  async depositForAll(): Promise<void> {
    await this.deposit(lastDepositFromMinor);
  }

  private async prepare(): Promise<void> {
    await this.setLimits({
      per_transaction_limit: this.manner.perTransactionMinor,
      auto_approve_threshold: autoApproveMinor,
      ...this.limitsMinor,
    });
    while (this.cards.length < cardsAtOnce) await this.issueCard(this.cards.length);
    await this.deposit();
  }

  private async doSomething(): Promise<void> {
    const chance = this.random.next();
    if (chance < 0.5) await this.authorize();
    else if (chance < 0.54) await Promise.all(Array.from({ length: burstSize }, () => this.authorize(0)));
    else if (chance < 0.66) await this.deposit();
    else if (chance < 0.77) await this.placeOrder();
    else if (chance < 0.87) await this.decideOrder();
    else if (chance < 0.92) await this.freezeAndUnfreeze();
    else if (chance < 0.93) await this.cancelCard();
    else if (chance < 0.96) await this.raiseLimit();
    else await this.query();
  }

  private async deposit(fromMinor = this.manner.depositFromMinor): Promise<void> {
    const amountMinor = fromMinor + this.deposits++;
    const source = this.random.pick(['card', 'bank_transfer']);
    await this.perform('deposit', this.account, amountMinor, {
      ...posting('/v1/commerce/wallet/deposit', { amount: amountMinor / 100, source }),
      resultOf: decisionOf,
    });
  }

  private async authorize(which = this.random.next() < 0.5 ? 0 : this.random.between(1, cardsAtOnce - 1)): Promise<void> {
    const card = this.cards[which]!;
    const merchant = `shop ${++this.marks}`;
    const amountMinor = this.random.between(1, dearestPaymentMinor);
    const { answer } = await this.perform('authorize', `${card.id}/${merchant}`, amountMinor, {
      ...posting(`/v1/commerce/cards/${card.id}/authorizations`, { amount: amountMinor / 100, merchant }),
      resultOf: decisionOf,
    });
    const isOfCard = ['card_frozen', 'card_cancelled', 'spend_limit_exceeded'].includes(answer?.json?.decline_reason);
    if (!isOfCard || ++card.refusals !== refusalsOfACard) return;
    await this.issueCard(which);
    card.refusals = 0;
  }

  private async issueCard(which: number): Promise<void> {
    const limitMinor = which === 0 ? cardLimitsMinor.hot : cardLimitsMinor.others;
    const name = `card ${++this.marks}`;
    const { answer } = await this.perform('issue card', name, limitMinor, {
      ...posting('/v1/commerce/cards', { name, spend_limit: limitMinor / 100, currency: 'USD' }),
      resultOf: ({ json }) => json.id,
    });
    if (answer?.status === 201) this.cards[which] = { id: answer.json.id, refusals: 0 };
  }

  private async placeOrder(): Promise<void> {
    const description = `order ${++this.marks} of ${this.account}`;
    const amountMinor = this.random.between(1, dearestOrderMinor);
    const { answer } = await this.perform('place order', description, amountMinor, {
      ...posting('/v1/commerce/orders', { description, amount: amountMinor / 100, vendor: 'Acme' }),
      resultOf: decisionOf,
    });
    if (answer?.json?.status === 'pending') this.pending.push(answer.json.id);
  }

  /** Sometimes sends two decisions at once: two approvals, or an approval and a rejection. */
  private async decideOrder(): Promise<void> {
    const id = this.pending.splice(this.random.between(0, this.pending.length), 1)[0];
    if (id === undefined) return;
    const decide = (what: 'approve' | 'reject') =>
      this.perform(`${what} order`, id, null, {
        ...posting(`/v1/commerce/orders/${id}/${what}`, {}),
        resultOf: decisionOf,
        refusals: what === 'approve' ? [409, 422] : [409],
      });
    const chance = this.random.next();
    const [first, second] = await Promise.all([
      decide(chance < 0.8 ? 'approve' : 'reject'),
      chance < 0.2 ? decide('approve') : chance > 0.9 ? decide('approve') : null,
    ]);
    // A limit forbade it: perhaps later.
    if (first.answer?.status === 422 && second === null) this.pending.push(id);
  }

  /** Somebody tries to pay by it at once. */
  private async freezeAndUnfreeze(): Promise<void> {
    const which = this.random.between(0, cardsAtOnce - 1);
    const { id } = this.cards[which]!;
    await this.turn('freeze', id);
    await this.authorize(which);
    await this.turn('unfreeze', id);
  }

  private async cancelCard(): Promise<void> {
    const which = this.random.between(0, cardsAtOnce - 1);
    const { id } = this.cards[which]!;
    await this.turn('cancel', id);
    await this.authorize(which);
    if (this.cards[which]!.id === id) await this.issueCard(which);
  }

  private async turn(what: 'freeze' | 'unfreeze' | 'cancel', id: string): Promise<void> {
    // It is so already, cancelled, or has spent all that it may.
    await this.perform(`${what} card`, id, null, { ...posting(`/v1/commerce/cards/${id}/${what}`, {}), refusals: [409] });
  }

  private async raiseLimit(): Promise<void> {
    if (this.manner.limitMinor === null) return;
    const which = this.random.pick(['daily_limit', 'monthly_limit'] as const);
    this.limitsMinor[which] += limitStepMinor;
    await this.setLimits({ [which]: this.limitsMinor[which] });
  }

  private async setLimits(limitsMinor: Record<string, number>): Promise<void> {
    const session = await this.client.ask(posting('/v1/auth/login', this.credentials));
    if (session?.status !== 200) return;
    for (const [which, limitMinor] of Object.entries(limitsMinor))
      await this.client.perform('set limit', which, limitMinor, {
        method: 'PATCH',
        path: `/v1/commerce/spending-limits?mode=${this.mode}`,
        token: session.json.access_token,
        body: () => JSON.stringify({ [which]: limitMinor / 100 }),
      });
  }

  /** What is wrong at any moment is wrong. */
  private async query(): Promise<void> {
    const card = this.random.pick(this.cards).id;
    const ofCard = await this.client.perform('query', card, null, { method: 'GET', path: `/v1/commerce/cards/${card}`, refusals: [] });
    const { spent, spend_limit: limit } = ofCard.answer?.json ?? { spent: 0, spend_limit: 0 };
    if (spent > limit) this.client.unexpected(`${card} has spent ${spent} of ${limit}`);
    const path = '/v1/commerce/wallet/balance';
    const { answer } = await this.client.perform('query', path, null, { method: 'GET', path, refusals: [] });
    const { balance, available, held } = answer?.json ?? { balance: 0, available: 0, held: 0 };
    if (balance < 0 || available < 0 || held < 0) this.client.unexpected(`${path} was answered ${answer!.text}`);
  }

  private perform(name: OperationName, subject: string, value: number | null, ask: Ask) {
    const chance = this.random.next();
    const patienceMs = chance < noRetryChance ? 0 : undefined;
    const isRepeated = chance > 1 - repeatChance;
    return this.client.perform(name, subject, value, { refusals: [], patienceMs, isRepeated, ...ask });
  }
}

function posting(path: string, body: object): Ask {
  return { method: 'POST', path, body: () => JSON.stringify(body) };
}

function decisionOf({ json }: Answer): Decided {
  return { id: json.id, status: json.status, reason: json.decline_reason ?? json.payment_error ?? null };
}
