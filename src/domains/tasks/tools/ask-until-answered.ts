/** Asking actors for what costs money: a tool answers with an outcome, or says that it is uncertain. */
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '../../../backoff.ts';
import { AppError, errorCodes, ToolError } from '../../../errors.ts';

/** With 10 seconds for an ask this is below 60 seconds, the time limit of such tools. */
const maxRepeats = 3;

/** `what`: the subject of the sentence that the outcome is uncertain: `The charge`. `nothing`: the sentence that follows a refusal: `Nothing was paid`. */
export type FailureText = { what: string; nothing: string };

/** Retries, with the same id, where the outcome is unknown: an agent that gets a failure may try another way, and would pay twice. */
export async function askUntilAnswered<T>(texts: FailureText, ask: () => Promise<T>): Promise<T> {
  const uncertain = `${texts.what} is uncertain: the service did not answer in time. Do not repeat it; say in your result that it is uncertain.`;
  return repeated(texts, ask, () => uncertain);
}

/** As `askUntilAnswered`, for queries and checks before anything is sent: without an answer it is certain that nothing happened. */
export async function queryUntilAnswered<T>(texts: FailureText, query: () => Promise<T>): Promise<T> {
  return repeated(texts, query, ({ message }) => `${message}. ${texts.nothing}: it may be tried again later.`);
}

async function repeated<T>({ nothing }: FailureText, ask: () => Promise<T>, unanswered: (error: AppError) => string): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'draining' || error.code === 'internal') throw error;
      if (errorCodes[error.code].retry === 'never') throw new ToolError(`${error.message}. ${nothing}.`, { cause: error });
      if (attempt === maxRepeats) throw new ToolError(unanswered(error), { cause: error });
      await pause(backoffMs(attempt, 500, 10_000));
    }
  }
}
