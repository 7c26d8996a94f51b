/** The input of the offline model: the request, parsed into the task, the guidance, the calls so far and their results. */
import type { ModelRequest, ToolOffer } from '../port.ts';

export type Call = { name: string; args: Record<string, unknown> };

/** A call that was made. `said` is the result, or the error or rejection, as text. */
export type PastCall = Call & {
  outcome: 'done' | 'failed' | 'rejected';
  result: unknown;
  resultText: string;
  /** The arguments that a person put in place of `args` on approval; otherwise `args`. */
  doneWith: Record<string, unknown>;
};

export type Conversation = {
  system: string;
  task: string;
  /** User messages after the first, oldest first. */
  guidance: string[];
  past: PastCall[];
  offered: ReadonlySet<string>;
  offers: readonly ToolOffer[];
  /** Names of tools that exist and are not offered. */
  withheld: readonly string[];
  /** Model turns already taken. */
  turns: number;
};

export function readConversation({ system, messages, tools, withheld = [] }: ModelRequest): Conversation {
  const words = messages.filter((message) => message.role === 'user').map(({ text }) => text);
  const results = new Map(messages.filter((message) => message.role === 'tool').map((message) => [message.callId, message]));
  const spoken = messages.filter((message) => message.role === 'assistant');
  const past = spoken.flatMap(({ toolCalls }) =>
    toolCalls.map(({ id, name, arguments: args }): PastCall => {
      const answer = results.get(id);
      const sent = isRecord(args) ? args : {};
      const edited = isRecord(answer?.result) && isRecord(answer.result.approved_with_arguments) ? answer.result : null;
      const call = { name, args: sent, doneWith: (edited?.approved_with_arguments as Record<string, unknown> | undefined) ?? sent };
      const result = edited === null ? answer?.result : edited.result;
      if (answer === undefined) return { ...call, outcome: 'failed', result: null, resultText: 'no result came back' };
      const resultText = textOf(result);
      const rejected = /\b(?:person|user|human)\b[^.]{0,40}\breject|\brejected by (?:a |the )?(?:person|user|human)/i.test(
        resultText.slice(0, 200),
      );
      return {
        ...call,
        outcome: rejected && !isReading(name) ? 'rejected' : answer.isError ? 'failed' : 'done',
        result,
        resultText,
      };
    }),
  );
  // Output of earlier agents is material; orders in it are not for this agent.
  const task = (words[0] ?? '').split('\n\nWhat came before:\n')[0]!;
  const guidance = words
    .slice(1)
    .filter((text) => !/^(?:You have not finished:|Your answer was empty)/.test(text))
    .map((text) => text.replace(/^A person says:\s*/, ''));
  return {
    system,
    task,
    guidance,
    past,
    offered: new Set(tools.map(({ name }) => name)),
    offers: tools,
    withheld: withheld.map(({ name }) => name),
    turns: spoken.length,
  };
}

/** The newest call with this name and, if given, these arguments. */
export function findCall({ past }: Conversation, name: string, args: Record<string, unknown> = {}): PastCall | undefined {
  const wanted = Object.entries(args);
  return past.findLast(
    (call) => call.name === name && wanted.every(([key, value]) => JSON.stringify(call.args[key]) === JSON.stringify(value)),
  );
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The first text among these fields of a result; the result itself if it is a text. */
export function textField(result: unknown, ...fields: string[]): string | null {
  if (typeof result === 'string') return result;
  if (!isRecord(result)) return null;
  for (const field of fields) if (typeof result[field] === 'string') return result[field];
  return null;
}

/** A file's own text may mention rejections; people reject only actions. */
function isReading(name: string): boolean {
  return ['list_files', 'profile_table', 'read_file', 'fetch_url', 'web_search', 'code_exec'].includes(name);
}

function textOf(result: unknown): string {
  return textField(result, 'error', 'message', 'reason') ?? JSON.stringify(result) ?? '';
}
