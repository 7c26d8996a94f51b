/** The rules of `check-money.ts` about cards. */
import { describeOperation } from './check.ts';
import type { KeptMoney } from './gather-money.ts';
import type { Decided, Operation } from './history.ts';
import { sum } from './once.ts';

/** No card is over its limit, and each shows what was approved. */
export function cardsRight(operations: readonly Operation[], { cards, authorizations }: KeptMoney): string[] {
  const wrong: string[] = [];
  const spentOn = spentByCard(authorizations);
  const limits = limitOfCards(operations);
  for (const [card, limit] of limits) {
    const spent = spentOn.get(card) ?? 0;
    if (spent > limit) wrong.push(`${card} paid ${spent} of ${limit}`);
  }
  for (const { node, id, limit, spent } of cards) {
    if (limit !== limits.get(id)) wrong.push(`${node} shows ${id} with a limit of ${limit}, asked for was ${limits.get(id)}`);
    if (spent !== (spentOn.get(id) ?? 0)) wrong.push(`${node} shows ${spent} spent on ${id}, approved is ${spentOn.get(id) ?? 0}`);
  }
  return wrong;
}

/**
 * A frozen or cancelled card pays nothing, and no other is said to be one. A decision may be taken at any moment between the first request and the answer, and is in doubt only where two
 * overlap.
 */
export function frozenHeeded(operations: readonly Operation[], { cards, authorizations }: KeptMoney): string[] {
  const wrong: string[] = [];
  const turns = Map.groupBy(
    operations.filter(({ name, outcome }) => /^(un)?freeze card$|^cancel card$/.test(name) && outcome !== 'refused'),
    ({ subject }) => subject,
  );
  const approved = new Set(authorizations.filter(({ status }) => status === 'approved').map(({ mark }) => mark));
  const limits = limitOfCards(operations);
  const spentOn = spentByCard(authorizations);
  for (const operation of operations.filter(({ name }) => name === 'authorize')) {
    const card = operation.subject.split('/')[0]!;
    const ofCard = turns.get(card) ?? [];
    const beganBefore = (name: Operation['name']) => ofCard.filter((one) => one.name === name && one.begunMs < endOf(operation));
    const closed = (one: Operation) => endOf(one) < operation.begunMs;
    const reopened = (by: Operation) => beganBefore('unfreeze card').some((one) => endOf(one) > by.begunMs);
    if (approved.has(operation.subject)) {
      const closing =
        beganBefore('cancel card').find(closed) ?? beganBefore('freeze card').find((freeze) => closed(freeze) && !reopened(freeze));
      if (closing !== undefined) wrong.push(`${describeOperation(operation)} is approved, after ${describeOperation(closing)}`);
    }
    const { reason } = (operation.result ?? {}) as Partial<Decided>;
    const isUsedUp = spentOn.get(card) === limits.get(card);
    if (reason === 'card_frozen' && !isUsedUp && beganBefore('freeze card').length === 0)
      wrong.push(`${describeOperation(operation)}: ${reason}, and no client froze it`);
    if (reason === 'card_cancelled' && beganBefore('cancel card').length === 0)
      wrong.push(`${describeOperation(operation)}: ${reason}, and no client cancelled it`);
  }
  const cancelled = operations.filter(({ name, outcome }) => name === 'cancel card' && outcome === 'done');
  for (const operation of cancelled)
    for (const { node, status } of cards.filter(({ id }) => id === operation.subject))
      if (status !== 'cancelled') wrong.push(`${describeOperation(operation)}, but ${node} shows it ${status}`);
  return wrong;
}

/** Of the cards whose id a client got. */
function limitOfCards(operations: readonly Operation[]): Map<string, number> {
  const issued = operations.filter(({ name, outcome }) => name === 'issue card' && outcome === 'done');
  return new Map(issued.map(({ result, value }) => [String(result), Number(value)]));
}

function spentByCard(authorizations: KeptMoney['authorizations']): Map<string, number> {
  const approved = authorizations.filter(({ status }) => status === 'approved');
  return new Map([...Map.groupBy(approved, ({ card }) => card)].map(([card, ones]) => [card, sum(ones)]));
}

function endOf({ endedMs }: Operation): number {
  return endedMs ?? Number.POSITIVE_INFINITY;
}
