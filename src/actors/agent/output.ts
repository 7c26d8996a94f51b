/** Checks a task's output.json against the schema its caller gave. */
import Schema from 'typebox/schema';
import { ToolError, type WorkspaceAccess } from '../../providers/tools/port.ts';

export const outputFileName = 'output.json';
const maxOutputBytes = 5 * 2 ** 20;

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
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `output.json is not JSON: ${(error as Error).message}.`;
  }
  const [fits, errors] = Schema.Errors(schema, value);
  if (fits) return null;
  const listed = errors.slice(0, 5).map((error) => `${error.instancePath || '/'}: ${error.message}`);
  return `output.json does not satisfy the schema: ${listed.join('; ')}.`;
}

/** What is wrong with a schema a caller gave; null when output can be checked against it. */
export function schemaProblem(schema: unknown): string | null {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return 'must be a JSON Schema object';
  try {
    Schema.Compile(schema as never);
    return null;
  } catch (error) {
    return `cannot be used: ${(error as Error).message.slice(0, 200)}`;
  }
}
