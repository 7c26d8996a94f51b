/**
 * Checks values against schemas of other servers. A check with a small upper bound of its cost runs on the event loop; any other runs in a computing
 * process, for example one with references, whose cost can double with each reference.
 */
import { AppError } from '../../../../errors.ts';
import { type Compute, type Job, JobStopped } from '../../../../providers/compute/port.ts';
import { partsIn, problemIn } from './schemas.ts';

export type SchemaAndValue = { schema: object; value: unknown };

/** The errors of a value, as one text; null: it satisfies the schema, or cannot be checked here. Then only the server checks it. */
export type SchemaCheck = (schema: object, value: unknown, caller: { account: string; signal?: AbortSignal }) => Promise<string | null>;

const checkJob: Job<SchemaAndValue, string | null> = {
  name: 'mcp_schema',
  module: new URL('./schema-job.ts', import.meta.url),
  timeMs: 2_000,
  wallMs: 40_000,
};
/** Parts of the schema times parts of the value: without references no part of the value is compared with more than all parts of the schema. */
const maxComparisonsHere = 50_000;
/** Keywords whose cost is not bounded by that product. */
const costly = new Set(['$ref', '$dynamicRef', '$recursiveRef', 'uniqueItems', 'unevaluatedProperties', 'unevaluatedItems']);

export function schemaCheck(compute: Compute): SchemaCheck {
  return async (schema, value, caller) => {
    if (isCheap(schema, value)) return problemIn(schema, value);
    try {
      return await compute.run(checkJob, { schema, value }, caller);
    } catch (error) {
      const unchecked = error instanceof JobStopped || (error instanceof AppError && ['overloaded', 'unavailable'].includes(error.code));
      if (!unchecked) throw error;
      return null;
    }
  };
}

function isCheap(schema: object, value: unknown): boolean {
  const parts = partsOf(schema, maxComparisonsHere, costly);
  return parts !== null && partsOf(value, Math.floor(maxComparisonsHere / parts), noNames) !== null;
}

/** The number of parts, where a text is one part for each 100 characters; null: more than `max`, or one of the names occurs. */
function partsOf(root: unknown, max: number, names: ReadonlySet<string>): number | null {
  let count = 0;
  for (const part of partsIn(root)) {
    count += typeof part === 'string' ? 1 + Math.floor(part.length / 100) : 1;
    if (count > max) return null;
    if (typeof part === 'object' && part !== null && Object.keys(part).some((name) => names.has(name))) return null;
  }
  return count;
}
const noNames: ReadonlySet<string> = new Set();
