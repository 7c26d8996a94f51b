/** Checks the text of output.json, the job's source, against the schema of its task; returns the error, or null. */
import { text } from 'node:stream/consumers';
import Schema from 'typebox/schema';
import type { JobFunction } from '../../../providers/compute/port.ts';

const maxShown = 5;
const maxShownChars = 1_000;

const job: JobFunction<object, string | null> = async (schema, { open }) => {
  let value: unknown;
  try {
    value = JSON.parse(await text(await open()));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return `output.json is not JSON: ${error.message}.`;
  }
  let found: ReturnType<typeof Schema.Errors>;
  try {
    found = Schema.Errors(schema, value);
  } catch (error) {
    // Circular references overflow the stack.
    if (!(error instanceof RangeError)) throw error;
    return 'output.json could not be checked against the schema: the schema cannot be followed.';
  }
  const [fits, errors] = found;
  if (fits) return null;
  const listed = errors.slice(0, maxShown).map((error) => `${error.instancePath || '/'}: ${error.message}`);
  return `output.json does not satisfy the schema: ${listed.join('; ').slice(0, maxShownChars)}.`;
};
export default job;
