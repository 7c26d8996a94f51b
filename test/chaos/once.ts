/** How often an effect was requested and how often it happened. */
import { describeOperation } from './check.ts';
import type { Operation } from './history.ts';

/** What is wrong with an operation that took effect so many times. */
export function notOnce(operation: Operation, times: number): string[] {
  const allowed = operation.outcome === 'done' ? [1] : operation.outcome === 'refused' ? [0] : [0, 1];
  return allowed.includes(times) ? [] : [`${describeOperation(operation)} took effect ${times} times`];
}

export function sum(list: readonly { amount: number }[]): number {
  return list.reduce((total, { amount }) => total + amount, 0);
}
