/** The rules of `check-money.ts` about spending limits. */
import type { KeptMoney } from './gather-money.ts';
import type { Decided, Operation } from './history.ts';
import { sum } from './once.ts';

/** `days`: the first and the last on which it can have been counted. `toldMs`: when a client got the answer that it was approved. */
type Payment = { id: string; account: string; amount: number; days: readonly [string, string]; answeredMs: number };
/** A limit from the moment it was asked for, whether or not its caller got an answer. */
type Limit = { fromMs: number; minor: number };

const periods = { daily_limit: (day: string) => day, monthly_limit: (day: string) => day.slice(0, 7) };

/** No payment passes an account's limits, and each shows what was spent. Limits are only ever raised. */
export function limitsHeld(operations: readonly Operation[], kept: KeptMoney): string[] {
  const payments = paymentsOf(operations, kept);
  const wrong: string[] = [];
  for (const [account, own] of Map.groupBy(payments, (one) => one.account)) {
    const [{ minor: atOnce }] = limitsAsked(operations, account, 'per_transaction_limit') as [Limit];
    for (const { id, amount } of own) if (amount > atOnce) wrong.push(`${id} paid ${amount}, over ${atOnce} at once`);
    for (const [name, periodOf] of Object.entries(periods)) {
      const sure = own.filter(({ days: [first, last] }) => periodOf(first) === periodOf(last));
      for (const [period, ones] of Map.groupBy(sure, ({ days: [day] }) => periodOf(day)))
        wrong.push(...passed(limitsAsked(operations, account, name), ones).map((words) => `${account} paid ${words} in ${period}`));
    }
  }
  for (const { node, account, day, daySpent, monthSpent } of kept.spending)
    for (const [name, shown] of [
      ['daily_limit', daySpent],
      ['monthly_limit', monthSpent],
    ] as const) {
      const isOf = (other: string) => periods[name](other) === periods[name](day);
      const own = payments.filter((one) => one.account === account && one.days.some(isOf));
      const sure = sum(own.filter(({ days }) => days.every(isOf)));
      if (!(shown >= sure && shown <= sum(own)))
        wrong.push(`${node} shows ${account} ${shown} spent in ${periods[name](day)}, approved is ${sure}`);
    }
  return wrong;
}

/** Payments that were answered before a limit was raised count against the limit before. */
function passed(limits: readonly Limit[], payments: readonly Payment[]): string[] {
  return limits.flatMap(({ minor }, n) => {
    const untilMs = limits[n + 1]?.fromMs ?? Number.POSITIVE_INFINITY;
    const spent = sum(payments.filter(({ answeredMs: toldMs }) => toldMs <= untilMs));
    return spent > minor ? [`${spent}, over ${minor}`] : [];
  });
}

function limitsAsked(operations: readonly Operation[], account: string, which: string): Limit[] {
  return operations
    .filter(({ name, subject, account: of }) => name === 'set limit' && of === account && subject === which)
    .map(({ begunMs, value }) => ({ fromMs: begunMs, minor: Number(value) }));
}

function paymentsOf(operations: readonly Operation[], { authorizations, orders }: KeptMoney): Payment[] {
  const answeredMs = new Map<string, number>();
  for (const { name, result, endedMs } of operations) {
    const { id, status } = (result ?? {}) as Partial<Decided>;
    if (/^(authorize|place order|approve order)$/.test(name) && id !== undefined && status === 'approved')
      answeredMs.set(id, Math.min(endedMs!, answeredMs.get(id) ?? Number.POSITIVE_INFINITY));
  }
  const approved = [...authorizations.filter(({ status }) => status === 'approved'), ...orders];
  return approved.flatMap(({ id, account, amount, days }) =>
    days === null ? [] : [{ id, account, amount, days, answeredMs: answeredMs.get(id) ?? Number.POSITIVE_INFINITY }],
  );
}
