/** The rules of `check-money.ts` about orders. */
import { describeOperation } from './check.ts';
import type { KeptMoney } from './gather-money.ts';
import type { Decided, Operation } from './history.ts';
import { notOnce } from './once.ts';

/** An order is paid once, when it was approved. */
export function ordersPaid(operations: readonly Operation[], { orders, orderViews, entries }: KeptMoney): string[] {
  const wrong: string[] = [];
  const asked = operations.filter(({ name }) => name === 'place order');
  const byDescription = Map.groupBy(orders, ({ description }) => description);
  for (const operation of asked) {
    const made = byDescription.get(operation.subject) ?? [];
    wrong.push(...notOnce(operation, made.length));
    const { id } = (operation.result ?? {}) as Partial<Decided>;
    for (const order of made)
      if (order.amount !== operation.value || (id !== undefined && order.id !== id))
        wrong.push(`${describeOperation(operation)}: kept is ${order.id} of ${order.amount}`);
  }
  const decisions = Map.groupBy(
    operations.filter(({ name, outcome }) => /^(approve|reject) order$/.test(name) && outcome !== 'refused'),
    ({ subject }) => subject,
  );
  const descriptions = new Set(asked.map(({ subject }) => subject));
  const approvedByItself = new Set(
    asked.filter(({ outcome, result }) => outcome !== 'done' || (result as Decided).status !== 'pending').map(({ subject }) => subject),
  );
  const paid = Map.groupBy(
    entries.filter(({ book }) => book === 'wallet'),
    ({ reference }) => reference,
  );
  for (const { id, account, description, amount, status } of orders) {
    if (!descriptions.has(description)) wrong.push(`${id}, ${description}: no client placed it`);
    const booked = (paid.get(id) ?? []).map((entry) => `${entry.amount} of ${entry.account}`);
    const due = status === 'complete' ? [`${-amount} of ${account}`] : [];
    if (booked.join() !== due.join()) wrong.push(`${id} is ${status}, its entries are ${booked.join() || 'none'}`);
    const ofOrder = decisions.get(id) ?? [];
    const isApproved = status === 'approved' || status === 'complete';
    if (isApproved && !ofOrder.some(({ name }) => name === 'approve order') && !approvedByItself.has(description))
      wrong.push(`${id} is ${status}, and no client approved it`);
    if (status === 'rejected' && !ofOrder.some(({ name }) => name === 'reject order'))
      wrong.push(`${id} is rejected, and no client rejected it`);
    for (const decision of ofOrder.filter(({ outcome }) => outcome === 'done'))
      if ((decision.name === 'reject order') !== (status === 'rejected') || (decision.name === 'approve order') !== isApproved)
        wrong.push(`${describeOperation(decision)}, but the order is ${status}`);
  }
  const statusOf = new Map(orders.map(({ id, status }) => [id, status]));
  for (const operation of asked) {
    const { id, status } = (operation.result ?? {}) as Partial<Decided>;
    if (id !== undefined && status === 'approved' && !['approved', 'complete'].includes(statusOf.get(id) ?? 'gone'))
      wrong.push(`${describeOperation(operation)} approved, but the order is ${statusOf.get(id) ?? 'gone'}`);
  }
  for (const { node, id, status } of orderViews)
    if (status !== statusOf.get(id)) wrong.push(`${node} shows ${id} ${status}, it is ${statusOf.get(id)}`);
  const known = new Set(orders.map(({ id }) => id));
  for (const { book, transfer, reference } of entries)
    if (book === 'orders' && !known.has(reference)) wrong.push(`${transfer} pays ${reference}, which is no order`);
  return wrong;
}
