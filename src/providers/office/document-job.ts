/** The text of the Word document in the source. */
import type { JobFunction } from '../compute/port.ts';
import { documentText } from './document-text.ts';

const job: JobFunction<{ name: string }, string> = async ({ name }, { open, signal }) => documentText(await open(), name, signal);
export default job;
