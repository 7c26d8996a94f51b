/** write_file: a text file of the workspace, which becomes a deliverable of the task. */

import Type from 'typebox';
import { writingFiles } from '../../../authority.ts';
import { ToolError } from '../../../errors.ts';
import { maxPathBytes } from '../../workspaces/contract.ts';
import type { Tool } from './port.ts';

const maxContentBytes = 2 ** 20;

export const writeFile: Tool = {
  name: 'write_file',
  agentTypes: 'all',
  description:
    'Writes a text file (Markdown, CSV, JSON, SVG, HTML, code …) into the workspace and delivers it to the user. Writing a name again makes its next version. ' +
    'The content is the complete file, at most 1 MB. Answers with the size in bytes and the version.',
  parameters: Type.Object({
    path: Type.String({
      minLength: 1,
      maxLength: maxPathBytes,
      description: 'File name with its extension, such as report.md; may begin with folders, such as assets/app.css',
    }),
    content: Type.String({ maxLength: maxContentBytes, description: 'The whole content' }),
  }),
  need: writingFiles,
  highConsequence: false,
  repeatable: true,
  timeoutMs: 60_000,
  async run({ path, content }: { path: string; content: string }, { workspace }) {
    const sizeBytes = Buffer.byteLength(content);
    if (sizeBytes > maxContentBytes)
      throw new ToolError(`The content has ${sizeBytes} bytes; at most ${maxContentBytes} can be written. Split it into several files.`);
    const written = await workspace.write(path, content);
    return { path: written.name, size_bytes: written.sizeBytes, version: written.version };
  },
};
