/**
 * The offline model runs jobs, one after the other. A job is a pure rule: from the conversation it returns either its next calls, or its
 * result. No call is returned twice, so every job ends.
 */
import type { Call, Conversation } from './conversation.ts';

export type Progress =
  | { calls: Call[] }
  | {
      /** Sentences for the closing words. */
      said: string[];
    };
export type Job = (conversation: Conversation) => Progress;

export const nothing: Progress = { said: [] };

export function over(...said: string[]): Progress {
  return { said };
}

/** The result of a job that needs a tool which this agent does not have. */
export function notOffered(tool: string, what: string): Progress {
  return over(`${what} was not done: I was not offered the tool ${tool}.`);
}
