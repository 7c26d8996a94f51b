/** Shared by the tools that spend: amounts, and retrying until the outcome is known. */
import Type from 'typebox';
import { ToolError } from '../../../errors.ts';
import { isMoney, toMinor } from '../../../money.ts';
import { askUntilAnswered } from '../../tasks/contract.ts';

export const Amount = Type.Number({ minimum: 0.01, maximum: 10_000_000, description: 'US dollars, at most two decimals' });
/** Longer than the deadline of an ask; a longer purchase continues. */
export const timeoutMs = 60_000;

export function minorOf(amount: number): number {
  if (!isMoney(amount)) throw new ToolError('The amount has more than two decimals. Nothing was spent.');
  return toMinor(amount);
}

/** @param what as a sentence begins: `The charge` */
export function spend<T>(what: string, ask: () => Promise<T>): Promise<T> {
  return askUntilAnswered({ what, nothing: 'Nothing was paid' }, ask);
}
