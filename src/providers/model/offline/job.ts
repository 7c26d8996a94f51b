/**
 * The offline model works through jobs, one after the other. A job is a pure rule: given the conversation it either names the next calls, or is over and
 * says what came of it. No call is named twice, so every job ends.
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

/** What is said where a job needs a tool that this agent was not given. */
export function notOffered(tool: string, what: string): Progress {
  return over(`${what} was not done: I was not offered the tool ${tool}.`);
}
