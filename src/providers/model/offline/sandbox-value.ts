/** The result of code in the sandbox: its return value, or the last line it printed, as a value. */
import { isRecord, type PastCall } from './conversation.ts';

/** Undefined if the code failed or printed no JSON. */
export function sandboxValue(past: PastCall): unknown {
  if (past.outcome !== 'done' || !isRecord(past.result) || (past.result.error ?? null) !== null) return undefined;
  const { result, stdout } = past.result;
  if (result !== undefined && result !== null) return typeof result === 'string' ? (parse(result) ?? result) : result;
  return typeof stdout === 'string' ? parse(stdout.trim().split('\n').at(-1) ?? '') : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
