/**
 * Prompts, schemas and tables over which a careless program computes without end, sent by one account again and again beside a quiet one, to a service with the
 * offline model: every task of both ends, and the quiet account's do what they are asked. How long they took is reported.
 */
import assert from 'node:assert/strict';
import { hostilePrompts, hostileSchemas, hostileTables } from '../support/hostile-work.ts';
import type { Scope } from '../support/scope.ts';
import { Caller, startService } from '../support/service.ts';

export type HostileWorkReport = { hostileTasks: number; quietTasks: number; p50Ms: number; p99Ms: number };

const ends = ['complete', 'failed', 'cancelled'];
/** Before one of them has ended, its account asks for nothing more. */
const atOnce = 6;

/** @param rounds how many tasks the quiet account has done */
export async function hostileWork(t: Scope, rounds: number): Promise<HostileWorkReport> {
  const service = await startService(t);
  const [hostile, quiet] = [await Caller.register(service, 'hostile'), await Caller.register(service, 'quiet')];
  const { id: workspace_id } = await hostile.json('POST', '/v1/workspaces', { name: 'tables' });
  for (const [name, content] of Object.entries(hostileTables)) await hostile.upload(workspace_id, name, content);
  const requests = [
    ...hostilePrompts.map((prompt) => ({ prompt })),
    ...hostileSchemas.map((output_schema) => ({ prompt: 'Say hello', config: { output_schema } })),
    ...Object.keys(hostileTables).map((name) => ({ prompt: `Analyse ${name}`, workspace_id })),
  ];
  let going = true;
  let hostileTasks = 0;
  const attack = async (lane: number) => {
    for (let n = lane; going; n += atOnce) {
      const { id } = await hostile.json('POST', '/v1/tasks', requests[n % requests.length]);
      await hostile.untilTask(id, ends);
      hostileTasks++;
    }
  };
  const attacks = Promise.all(Array.from({ length: atOnce }, (_, lane) => attack(lane)));
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const beganMs = performance.now();
    const { id } = await quiet.json('POST', '/v1/tasks', { prompt: 'What is 6 times 7?' });
    const task = await quiet.untilTask(id, ends);
    assert.equal(task.status, 'complete', JSON.stringify(task));
    times.push(performance.now() - beganMs);
  }
  going = false;
  await attacks;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor((times.length - 1) * share)]!;
  return { hostileTasks, quietTasks: times.length, p50Ms: at(0.5), p99Ms: at(0.99) };
}
