/** The thread of `output.ts`: is given a schema and a text, and answers what is wrong with the text, or null. */
import { parentPort, workerData } from 'node:worker_threads';
import Schema from 'typebox/schema';

const maxShown = 5;

parentPort!.postMessage(problemOf(workerData.schema, workerData.text));

function problemOf(schema: object, text: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `output.json is not JSON: ${(error as Error).message}.`;
  }
  const [fits, errors] = Schema.Errors(schema, value);
  if (fits) return null;
  const listed = errors.slice(0, maxShown).map((error) => `${error.instancePath || '/'}: ${error.message}`);
  return `output.json does not satisfy the schema: ${listed.join('; ')}.`;
}
