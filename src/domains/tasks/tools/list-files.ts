/** list_files: the files in the workspace. */
import Type from 'typebox';
import { readingFiles } from '../../../authority.ts';
import type { Tool } from './port.ts';

export const listFiles: Tool = {
  name: 'list_files',
  agentTypes: 'all',
  description:
    'Lists the files of the workspace with their types and sizes in bytes: what the user supplied and what agents of this task have written.',
  parameters: Type.Object({}),
  need: readingFiles,
  highConsequence: false,
  repeatable: true,
  timeoutMs: 30_000,
  async run(_args, { workspace }) {
    return (await workspace.list()).map(({ name, type, sizeBytes }) => ({ name, type, size_bytes: sizeBytes }));
  },
};
