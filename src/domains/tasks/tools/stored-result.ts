/** Results of sourced tools that are too long for a model: it gets a part, and a file of the workspace holds all. */
import { createHash } from 'node:crypto';
import { AppError, ToolError } from '../../../errors.ts';
import { fitResult } from './fit-result.ts';
import type { ToolContext } from './port.ts';

/** Longest result that a model gets whole, as JSON; and how long a shortened one is, with its note. */
const maxWholeBytes = 32 * 1024;
export const maxPartBytes = 31_000;
/** What an untrusted result is marked with comes on top. */
const maxMarkBytes = 300;

/** The result as JSON data of at most 32 KB, with the mark of untrusted text. The file is no deliverable. */
export async function storedResult(tool: string, result: unknown, context: Pick<ToolContext, 'callId' | 'workspace'>): Promise<unknown> {
  const json = JSON.stringify(result) ?? 'null';
  const bytes = Buffer.byteLength(json);
  if (bytes + maxMarkBytes <= maxWholeBytes) return JSON.parse(json);
  const isText = typeof result === 'string';
  const name = `${tool}-${numberOf(context.callId)}.${isText ? 'txt' : 'json'}`;
  const part = fitResult(result, maxPartBytes - maxNoteBytes);
  const about = { truncated: true, size_bytes: isText ? Buffer.byteLength(result) : bytes };
  try {
    const kept = await context.workspace.keep(name, isText ? result : json);
    return { ...about, file: kept.name, note: `This is a part. All of it is in the workspace file ${kept.name}.`, result: part };
  } catch (error) {
    // The call itself was done: its result must not become a failure.
    if (!(error instanceof ToolError || error instanceof AppError) || (error instanceof AppError && error.code === 'draining')) throw error;
    return { ...about, file: null, note: `This is a part. All of it could not be kept: ${error.message.slice(0, 300)}`, result: part };
  }
}
const maxNoteBytes = 1_000;

/** The same for every try of a call, so that a repeat writes the same file; large enough that two calls rarely have one. */
function numberOf(callId: string): number {
  return createHash('sha256').update(callId).digest().readUIntBE(0, 4) % 1_000_000_000;
}
