/** Office files for other parts of the product. The job is for `Compute`; its source is the file. */
import type { Job } from '../compute/port.ts';

export { isDocument } from './document-text.ts';

export const documentJob: Job<{ name: string }, string> = {
  name: 'read_document',
  module: new URL('./document-job.ts', import.meta.url),
  timeMs: 30_000,
  wallMs: 120_000,
};
