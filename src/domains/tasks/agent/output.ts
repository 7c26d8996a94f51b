/** Checks a task's output.json against its caller's schema. Both are untrusted, so the check runs in a process that can be killed. */
import { ToolError } from '../../../errors.ts';
import { type Compute, type Job, JobStopped } from '../../../providers/compute/port.ts';
import type { WorkspaceAccess } from '../../workspaces/contract.ts';

export const outputFileName = 'output.json';
const maxOutputBytes = 5 * 2 ** 20;

/** A pattern of the schema may take unlimited time on an agent's text. */
const checkJob: Job<object, string | null> = {
  name: 'output_schema',
  module: new URL('./output-job.ts', import.meta.url),
  timeMs: 5_000,
  wallMs: 50_000,
};

/** Longer than the check itself runs: it waits first for its turn. */
export const checkOutputMs = checkJob.wallMs + 10_000;

/** The error in the workspace's output.json, as a text for the model; null if it satisfies the schema. */
export async function checkOutput(
  compute: Compute,
  schema: object,
  workspace: WorkspaceAccess,
  caller: { account: string; signal: AbortSignal },
): Promise<string | null> {
  const open = async () => {
    const file = await workspace.open(outputFileName);
    if (file.sizeBytes > maxOutputBytes) throw new TooLarge();
    return file.stream;
  };
  try {
    return await compute.run(checkJob, schema, { ...caller, open });
  } catch (error) {
    if (error instanceof ToolError) return 'There is no file output.json.';
    if (error instanceof TooLarge) return `output.json is larger than ${maxOutputBytes} bytes.`;
    if (!(error instanceof JobStopped)) throw error;
    return error.reason === 'time'
      ? 'output.json could not be checked against the schema: it took too much time.'
      : 'output.json could not be checked against the schema: the schema cannot be followed.';
  }
}

class TooLarge extends Error {}
