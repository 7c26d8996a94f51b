/** Runs a tool of a service like a call of an agent: its arguments are checked first. */
import assert from 'node:assert/strict';
import type { Service } from '../../../src/domains/integrations/services/service.ts';
import { ServiceFailed, type ServiceFailure } from '../../../src/domains/integrations/services/service-failure.ts';
import { checkArguments } from '../../../src/domains/tasks/tools/check-arguments.ts';
import { directCall } from './direct-call.ts';

export function runTool(service: Service, name: string, args: object, options: Parameters<typeof directCall>[1]): Promise<unknown> {
  const tool = service.tools.find((one) => one.name === name)!;
  const checked = checkArguments(tool, args);
  assert.ok(checked.ok, checked.ok ? '' : checked.message);
  return tool.run(checked.args, directCall(service, options));
}

/** How it fails: with a typed failure, or the test does. */
export async function failureOf(running: Promise<unknown>): Promise<ServiceFailure> {
  const error = await running.then(
    (result) => assert.fail(`No failure but ${JSON.stringify(result)}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ServiceFailed, `${(error as Error).stack}`);
  return error.failure;
}
