/** Shared by the tools that spend: amounts, and retrying until the outcome is known. */
import Type from 'typebox';
import { backoffMs } from '../../../backoff.ts';
import { AppError, errorCodes, ToolError } from '../../../errors.ts';
import { isMoney, toMinor } from '../../../money.ts';

export const Amount = Type.Number({ minimum: 0.01, maximum: 10_000_000, description: 'US dollars, at most two decimals' });
/** Longer than the deadline of an ask; a longer purchase continues. */
export const timeoutMs = 60_000;

export function minorOf(amount: number): number {
  if (!isMoney(amount)) throw new ToolError('The amount has more than two decimals. Nothing was spent.');
  return toMinor(amount);
}

/** Retries, with the same id, if the outcome is unknown: an agent that gets an error may try another way, and would pay twice. */
export async function askUntilAnswered<T>(what: string, ask: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'draining' || error.code === 'internal') throw error;
      if (errorCodes[error.code].retry === 'never') throw new ToolError(`${error.message}. Nothing was paid.`, { cause: error });
      if (attempt === maxRepeats)
        throw new ToolError(
          `${what} is uncertain: the service did not answer in time. Do not repeat it; say in your result that it is uncertain.`,
          { cause: error },
        );
      await new Promise((resolve) => setTimeout(resolve, backoffMs(attempt, 500, 10_000)));
    }
  }
}

/** With 10 seconds for an ask this is below the time limit of the tools. */
const maxRepeats = 3;
