/**
 * One account that floods `/mcp` with every kind of message, beside a quiet one: first with the limits of the free plan, which refuse nearly all of it, then
 * without limits, so that all of it is work. Nothing of the quiet account is refused. How long its requests took is reported, and the longest
 * turn of the service's event loop in processor time.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Scope } from '../support/scope.ts';
import { Caller, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import type { McpFlooded, McpFlooding } from './mcp-flooder.ts';

export type McpFloodReport = { limited: Beside; unlimited: Beside };
type Beside = { answered: Record<string, number>; p50Ms: number; p99Ms: number; longestTurnMs: number };

const floodMs = 8_000;
const connections = 32;
const quietEveryMs = 50;
/** Of the free plan. */
const perMinute = 60;
const watched = { NODE_OPTIONS: `--import=${pathToFileURL('test/support/loop-watch-preload.ts').href}` };

export async function mcpFlood(t: Scope): Promise<McpFloodReport> {
  const limited = await floodOne(t, true);
  const { 200: granted = 0, 400: faulty = 0 } = limited.answered;
  const most = perMinute + Math.ceil((floodMs / 60_000) * perMinute) + 1;
  assert.ok(granted + faulty <= most, `${granted + faulty} requests were let in, at most ${most} may be`);
  return { limited, unlimited: await floodOne(t, false) };
}

async function floodOne(t: Scope, limited: boolean): Promise<Beside> {
  const service = await startService(t, { ...watched, ANONYMOUS_REQUESTS_PER_MINUTE: '1000' }, { limited });
  const [busy, light] = [await Caller.register(service), await Caller.register(service)];
  const { id: taskId } = await busy.json('POST', '/v1/tasks', { prompt: 'What is 6 times 7?' });
  const { key } = await busy.json('POST', '/v1/api-keys', { name: 'flood', scopes: ['tasks.read', 'tasks.write'] });
  await longestTurn(service);
  const flooding: McpFlooding = { url: service.url, token: key, taskId, ms: floodMs, connections };
  const worker = new Worker(new URL('./mcp-flooder.ts', import.meta.url), { workerData: flooding });
  const [[answers], times] = (await Promise.all([once(worker, 'message'), lightLoad(light, limited)])) as [[McpFlooded], number[]];
  const answered = sums(answers);
  const strange = Object.keys(answered).filter((status) => !['200', '400', '429', '503'].includes(status));
  assert.deepEqual(strange, [], JSON.stringify(answers));
  times.sort((a, b) => a - b);
  const at = (share: number) => Math.round(times[Math.floor((times.length - 1) * share)]!);
  return { answered, p50Ms: at(0.5), p99Ms: at(0.99), longestTurnMs: await longestTurn(service) };
}

/** The times of answers, all of them good ones. With limits it asks as often as its own allow. */
async function lightLoad(light: Caller, limited: boolean): Promise<number[]> {
  const times: number[] = [];
  const everyMs = limited ? (floodMs / perMinute) * 2 : quietEveryMs;
  for (const endMs = performance.now() + floodMs; performance.now() < endMs; ) {
    const askedMs = performance.now();
    await light.json('GET', '/v1/auth/me');
    times.push(performance.now() - askedMs);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  return times;
}

/** Of the service's main thread since the last time, in milliseconds of processor time. */
async function longestTurn(service: Service): Promise<number> {
  const before = service.output().length;
  process.kill(service.pid, 'SIGUSR2');
  const found = () => /longest turn ([\d.]+) ms/.exec(service.output().slice(before));
  await until(() => found() !== null);
  return Number(found()![1]);
}

function sums(answers: McpFlooded): Record<string, number> {
  const all: Record<string, number> = {};
  for (const byStatus of Object.values(answers))
    for (const [status, count] of Object.entries(byStatus)) all[status] = (all[status] ?? 0) + count;
  return all;
}
