/** code_exec: JavaScript of an agent, run in a sandbox process that can access only the task's workspace. */

import Type from 'typebox';
import { ToolError } from '../../../errors.ts';
import { type FileCall, type SandboxFiles, type SandboxPool, sandboxLimits } from '../../../providers/sandbox/port.ts';
import type { Tool, ToolContext } from './port.ts';
import { readWholeText } from './read-text.ts';

export function createCodeExec(pool: SandboxPool): Tool {
  return {
    name: 'code_exec',
    agentTypes: ['researcher', 'builder', 'analyst', 'trader'],
    description:
      'Runs JavaScript (no Node, no modules, no network, no timers) and answers {stdout, result, error}: stdout is what console.log printed, result the value of the ' +
      'last expression as JSON, error the message with its line, or null. await works at the top level. The code has three functions for the workspace: ' +
      'readFile(path) returns the text, writeFile(path, text) writes a file that is delivered to the user, listFiles() returns [{name, type, size_bytes}]. ' +
      'Limits: 10 seconds, 128 MB. Use it for every calculation instead of working figures out yourself.',
    parameters: Type.Object({
      code: Type.String({ minLength: 1, maxLength: sandboxLimits.codeChars, description: 'JavaScript; the last expression is the result' }),
    }),
    // Its functions for files need the scopes of the tools for files: the workspace itself checks them.
    need: null,
    highConsequence: false,
    repeatable: true,
    // Includes waiting for a free sandbox.
    timeoutMs: 120_000,
    run: ({ code }: { code: string }, context) => pool.run(context.accountId, code, workspaceFiles(context), context.signal),
  };
}

/** The code's three functions. Their limits are applied here, outside the code's process. */
function workspaceFiles({ workspace, signal }: ToolContext): SandboxFiles {
  let calls = 0;
  let writes = 0;
  let chars = 0;
  const spend = (count: number) => {
    chars += count;
    if (chars > sandboxLimits.totalChars) throw new ToolError(`one run may read and write ${sandboxLimits.totalChars} characters`);
  };
  return async (call: FileCall) => {
    if (++calls > sandboxLimits.calls) throw new ToolError(`one run may make ${sandboxLimits.calls} file calls`);
    if (call.op === 'listFiles')
      return (await workspace.list()).map(({ name, type, sizeBytes }) => ({ name, type, size_bytes: sizeBytes }));
    if (call.op === 'readFile') {
      const text = await readWholeText(workspace, call.path, sandboxLimits.fileChars, signal);
      spend(text.length);
      return text;
    }
    if (++writes > sandboxLimits.writes) throw new ToolError(`one run may write ${sandboxLimits.writes} files`);
    if (call.text.length > sandboxLimits.fileChars) throw new ToolError(`a file may have ${sandboxLimits.fileChars} characters`);
    spend(call.text.length);
    const written = await workspace.write(call.path, call.text);
    return { path: written.name, size_bytes: written.sizeBytes, version: written.version };
  };
}
