/** Shared by the tools that spend: the schema of amounts, and retrying until the outcome is known. */
import { Money } from '../../../edge/http/validate.ts';
import { askUntilAnswered } from '../../tasks/contract.ts';

export const Amount = Money({ minimum: 0.01, maximum: 10_000_000, description: 'US dollars, at most two decimals' });
/** Longer than the deadline of an ask; a longer purchase continues. */
export const timeoutMs = 60_000;

/** @param what as a sentence begins: `The charge` */
export function spend<T>(what: string, ask: () => Promise<T>): Promise<T> {
  return askUntilAnswered({ what, nothing: 'Nothing was paid' }, ask);
}
