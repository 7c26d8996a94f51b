/** Checks a task's output.json against the schema its caller gave. Neither is ours, so the check itself runs in a thread that can be ended. */
import { Worker } from 'node:worker_threads';
import { ToolError, type WorkspaceAccess } from '../../providers/tools/port.ts';

export const outputFileName = 'output.json';
const maxOutputBytes = 5 * 2 ** 20;
/** A pattern of the schema may take for ever on what an agent wrote. */
const checkTimeoutMs = 3_000;
const workerMemoryMb = 256;
const maxSchemaChars = 32_000;
const maxSchemaDepth = 32;

/** What is wrong with the workspace's output.json, in words for the model; null when it satisfies the schema. */
export async function checkOutput(schema: object, workspace: WorkspaceAccess): Promise<string | null> {
  let text: string;
  try {
    const { stream, sizeBytes } = await workspace.open(outputFileName);
    if (sizeBytes > maxOutputBytes) return `output.json is larger than ${maxOutputBytes} bytes.`;
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array));
    text = Buffer.concat(chunks).toString('utf8');
  } catch (error) {
    if (error instanceof ToolError) return 'There is no file output.json.';
    throw error;
  }
  return checkInThread(schema, text);
}

/** What is wrong with a schema a caller gave, in words that go on after its name; null when output can be checked against it. */
export function schemaProblem(schema: object): string | null {
  if (JSON.stringify(schema).length > maxSchemaChars) return `is longer than ${maxSchemaChars} characters`;
  return partProblem(schema, 0);
}

/** Keywords whose values are data, not schemas. */
const dataKeywords = new Set(['const', 'enum', 'default', 'examples']);

function partProblem(part: unknown, depth: number): string | null {
  if (typeof part !== 'object' || part === null) return null;
  if (depth > maxSchemaDepth) return `is nested more than ${maxSchemaDepth} deep`;
  for (const [keyword, value] of Object.entries(part)) {
    if (dataKeywords.has(keyword)) continue;
    const patterns = keyword === 'pattern' ? [value] : keyword === 'patternProperties' ? Object.keys(value ?? {}) : [];
    const bad = patterns.find((pattern) => typeof pattern === 'string' && !isPattern(pattern));
    if (bad !== undefined) return `has a pattern that is no regular expression: ${String(bad).slice(0, 100)}`;
    const problem = partProblem(value, depth + 1);
    if (problem !== null) return problem;
  }
  return null;
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text, 'u');
    return true;
  } catch {
    return false;
  }
}

function checkInThread(schema: object, text: string): Promise<string | null> {
  const worker = new Worker(new URL('./output-thread.ts', import.meta.url), {
    workerData: { schema, text },
    resourceLimits: { maxOldGenerationSizeMb: workerMemoryMb },
    stdout: true,
    stderr: true,
  });
  return new Promise<string | null>((resolve) => {
    const timer = setTimeout(() => resolve('output.json could not be checked against the schema: it took too much time.'), checkTimeoutMs);
    worker.once('message', resolve);
    // Out of memory, or a schema that refers to itself without end.
    worker.once('error', () => resolve('output.json could not be checked against the schema: the schema cannot be followed.'));
    worker.once('exit', () => clearTimeout(timer));
  }).finally(() => worker.terminate());
}
