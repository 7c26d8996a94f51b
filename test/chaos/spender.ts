/**
 * One account and its clients. Concurrently and at random the clients deposit money, pay by card (most payments use one card), place and decide
 * orders, and freeze and cancel cards during payments.
 *
 * Each operation has a unique mark that identifies it in the ledger even if the answer with its id was lost: the merchant of an
 * authorization, the description of an order, the amount of a deposit.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Mode } from '../../src/mode.ts';
import type { Random } from '../support/random.ts';
import { type Account, registerAccount } from './account.ts';
import { type Answer, type Ask, Client, type Door } from './client.ts';
import type { Decided, History, OperationName } from './history.ts';

export type SpenderParts = { history: History; nodes: () => Door[]; random: Random };

/** The spending pattern of an account. It decides which limits apply. */
export type Manner = {
  /** The amount of the first deposit; each later deposit is one cent more, so that all amounts differ. */
  depositFromMinor: number;
  perTransactionMinor: number;
  /** The initial daily and monthly limit, which is raised when it is reached; null for no limit. */
  limitMinor: number | null;
};

/** An account with more money than it can spend, one with too little money, and one that its limits restrict. */
export const manners: readonly Manner[] = [
  { depositFromMinor: 20_000, perTransactionMinor: 1_000_000, limitMinor: null },
  { depositFromMinor: 500, perTransactionMinor: 1_000_000, limitMinor: null },
  { depositFromMinor: 20_000, perTransactionMinor: 450, limitMinor: 5_000 },
];

const wideLimitMinor = 100_000_000_000;
const limitStepMinor = 6_000;
const autoApproveMinor = 400;
/** More than all other deposits, and more than the price of 1,000 unpaid orders. */
const lastDepositFromMinor = 10_000_000;
const dearestPaymentMinor = 500;
const dearestOrderMinor = 800;
const cardsAtOnce = 4;
const cardLimitsMinor = { hot: 20_000, others: 2_000 };
/** The number of declines after which a card is replaced. */
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
  /** Most payments use the first card. */
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

  /** Deposits more than the price of all unpaid orders. */
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
    // A limit refused the order; a later try may succeed.
    if (first.answer?.status === 422 && second === null) this.pending.push(id);
  }

  /** Freezes a card, tries to pay with it at once, and unfreezes it. */
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
    // 409: the card has this status already, is cancelled, or has reached its limit.
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

  /** Reads one card and checks rules that hold at all times. */
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
  // The answer of an earlier version, which may run beside this one.
  const declined = json.decline_reason === 'per_transaction_limit' ? 'spend_limit_exceeded' : json.decline_reason;
  return { id: json.id, status: json.status, reason: declined ?? json.payment_error ?? null };
}
