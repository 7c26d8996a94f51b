/** read_file: one page of a text file or of the text of a Word document of the workspace. */
import Type from 'typebox';
import { readingFiles } from '../../../authority.ts';
import { ToolError } from '../../../errors.ts';
import { type Compute, JobStopped } from '../../../providers/compute/port.ts';
import { documentJob, isDocument } from '../../../providers/office/port.ts';
import { maxPathBytes } from '../../workspaces/contract.ts';
import type { Tool, ToolContext } from './port.ts';
import { readText } from './read-text.ts';

/** Longest page; a page is shorter when its JSON would not fit the recorded result. */
const maxPageChars = 32_000;
const maxPageJsonChars = 60_000;

export const createReadFile = (compute: Compute): Tool => ({
  name: 'read_file',
  agentTypes: 'all',
  description:
    'Reads a text file of the workspace, or a Word document (.docx) as Markdown. Long files come in pages of at most 32,000 characters: `next_offset` is the offset of the next page, null at the end. ' +
    'For CSV and JSON tables use profile_table for exact figures, and code_exec for your own calculations, instead of reading everything.',
  parameters: Type.Object({
    path: Type.String({ minLength: 1, maxLength: maxPathBytes, description: 'File name as list_files shows it' }),
    offset: Type.Optional(Type.Integer({ minimum: 0, description: 'First character of the page; default 0' })),
    length: Type.Optional(
      Type.Integer({ minimum: 1, maximum: maxPageChars, description: 'Characters in the page; default and maximum 32,000' }),
    ),
  }),
  need: readingFiles,
  highConsequence: false,
  repeatable: true,
  // The job of a document waits first for its turn.
  timeoutMs: documentJob.wallMs + 30_000,
  async run({ path, offset = 0, length = maxPageChars }: { path: string; offset?: number; length?: number }, context) {
    let total = 0;
    let page = '';
    for await (const piece of isDocument(path)
      ? [await documentText(compute, path, context)]
      : readText(context.workspace, path, context.signal)) {
      const from = Math.max(0, offset - total);
      if (from < piece.length && page.length < length) page += piece.slice(from, from + length - page.length);
      total += piece.length;
    }
    const text = fitting(page, total > offset + page.length);
    const end = offset + text.length;
    return { path, text, offset, next_offset: text.length > 0 && end < total ? end : null, total_chars: total };
  },
});

async function documentText(compute: Compute, path: string, { workspace, accountId, signal }: ToolContext): Promise<string> {
  const open = async () => (await workspace.open(path)).stream;
  try {
    return await compute.run(documentJob, { name: path }, { account: accountId, signal, open });
  } catch (error) {
    if (error instanceof JobStopped) throw new ToolError(`${path} could not be read: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Shortens the page until its JSON fits (escapes make it longer) and it ends between characters, not within a surrogate pair. */
function fitting(page: string, more: boolean): string {
  let text = page;
  while (Buffer.byteLength(JSON.stringify(text)) > maxPageJsonChars) text = text.slice(0, Math.floor(text.length * 0.8));
  const cut = more || text.length < page.length;
  return cut && text.length > 1 && /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}
