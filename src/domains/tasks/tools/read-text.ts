/** A workspace file as a stream of decoded text, without holding the whole file in memory. */

import { TextDecoder } from 'node:util';
import { ToolError } from '../../../errors.ts';
import type { WorkspaceAccess } from '../../workspaces/contract.ts';
import { detectText } from './text-decoding.ts';

const headBytes = 64 * 1024;

/** Pieces of the file's text, in order, without a byte order mark. Throws `ToolError` for a binary file, naming its probable kind. */
export async function* readText(workspace: WorkspaceAccess, path: string, signal: AbortSignal): AsyncGenerator<string> {
  const { stream } = await workspace.open(path);
  try {
    let decoder: TextDecoder | null = null;
    let head: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      signal.throwIfAborted();
      if (decoder) {
        yield decoder.decode(chunk, { stream: true });
        continue;
      }
      head.push(chunk);
      bytes += chunk.length;
      if (bytes < headBytes) continue;
      decoder = decoderOf(Buffer.concat(head), false, path);
      yield decoder.decode(Buffer.concat(head), { stream: true });
      head = [];
    }
    decoder ??= decoderOf(Buffer.concat(head), true, path);
    yield decoder.decode(Buffer.concat(head));
  } finally {
    if ('destroy' in stream && typeof stream.destroy === 'function') stream.destroy();
  }
}

/** The whole text. Throws `ToolError` as soon as it is known to have more than `maxChars` characters. */
export async function readWholeText(workspace: WorkspaceAccess, path: string, maxChars: number, signal: AbortSignal): Promise<string> {
  const parts: string[] = [];
  let chars = 0;
  for await (const piece of readText(workspace, path, signal)) {
    parts.push(piece);
    chars += piece.length;
    if (chars > maxChars) throw new ToolError(`${path} is too large to be read whole here (over ${maxChars} characters)`);
  }
  return parts.join('');
}

function decoderOf(head: Uint8Array, complete: boolean, path: string): TextDecoder {
  const found = detectText(head, complete);
  if (found.kind === 'text') return new TextDecoder(found.encoding);
  throw new ToolError(`${path} is not text: it looks like ${found.what}`);
}
