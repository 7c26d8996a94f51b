/**
 * The model that needs no account and no network: fixed rules over the request, the same answer for the same request. It does small tasks
 * with the agent's real tools and says in every report and final answer that it is the offline model. It uses no tokens, so it costs
 * neither money nor credits.
 */
import { AppError } from '../../errors.ts';
import { inlineCompute } from '../compute/inline.ts';
import { type Compute, type Job, JobStopped } from '../compute/port.ts';
import type { Model, ModelReply } from './port.ts';

const replyJob: Job<string, ModelReply> = {
  name: 'offline_model',
  module: new URL('./offline/reply-job.ts', import.meta.url),
  timeMs: 10_000,
  wallMs: 190_000,
};

/** @param compute runs the rules; a node passes its computing processes */
export function offlineModel(compute: Compute = inlineCompute): Model {
  return {
    name: 'offline',
    async turn(request, { signal, account = '', onText }) {
      signal.throwIfAborted();
      const reply = await compute.run(replyJob, JSON.stringify(request), { account, signal }).catch((error: unknown) => {
        if (!(error instanceof JobStopped)) throw error;
        const what = error.reason === 'time' ? `${replyJob.timeMs / 1000} s` : 'the memory that it may use';
        throw new AppError('unavailable', `The offline model needed more than ${what} for this turn and was stopped.`, { cause: error });
      });
      if (reply.text !== '') onText?.(reply.text);
      return reply;
    },
  };
}
