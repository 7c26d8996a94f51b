/** An authenticated read of a task that agents have finished, over 64 connections: through the whole service. */
import { alternate } from './support/alternate.ts';
import { Customer } from './support/customer.ts';
import { httpLoad } from './support/http-load.ts';
import { processorMs } from './support/other-process.ts';
import { Program } from './support/program.ts';
import { makeRow, type Row } from './support/row.ts';
import { Service } from './support/service.ts';
import { median } from './support/statistics.ts';
import type { Surroundings } from './support/surroundings.ts';

const connections = 64;
/** uWebSockets.js writes these by itself. */
const automatic = new Set(['content-length', 'date', 'uwebsockets', 'connection', 'keep-alive', 'transfer-encoding']);

export async function benchHttp(surroundings: Surroundings): Promise<Row[]> {
  const service = await Service.start({ dataDir: await surroundings.emptyFolder('http'), nodeOptions: surroundings.profiled('http') });
  const raw = new Program('limits/raw-http.ts');
  try {
    const customer = await Customer.register(service.url, 'bench@example.com');
    const authorization = `Bearer ${await customer.apiKey()}`;
    const task = await customer.finishedTask(await customer.workspaceWithTable('bench'));
    if (task.agents.length === 0) throw new Error('the task has no agents');
    const path = `/v1/tasks/${task.id}`;
    const answer = await fetch(service.url + path, { headers: { Authorization: authorization } });
    const body = await answer.text();
    if (answer.status !== 200) throw new Error(`the task was answered ${answer.status}: ${body.slice(0, 200)}`);
    const headers = [...answer.headers].filter(([name]) => !automatic.has(name));
    const port = await raw.call<number>('listen', { path, authorization, headers, body });
    const p99s = { ours: [] as number[], limit: [] as number[] };
    const costs = { ours: [] as number[], limit: [] as number[] };
    const of = (url: string, pid: number, side: 'ours' | 'limit') => async (ms: number) => {
      const before = processorMs(pid);
      const load = await httpLoad({ url: url + path, authorization, connections }, ms);
      const after = processorMs(pid);
      p99s[side].push(load.p99Ms);
      if (before !== null && after !== null) costs[side].push(((after - before) * 1_000) / load.count);
      return load;
    };
    // The loaders measure whole seconds.
    const seconds = Math.max(5, surroundings.seconds);
    const { noisy, ours, limit } = await alternate(
      seconds,
      of(service.url, service.pid, 'ours'),
      of(`http://127.0.0.1:${port}`, raw.pid, 'limit'),
    );
    const about = `a task of ${body.length.toLocaleString('en-US')} bytes, ${connections} connections`;
    const rows = [
      makeRow({ bench: 'http', row: about, unit: '/s', ours, limit, reach: { atLeast: 0.55 }, noisy }),
      makeRow({ bench: 'http', row: 'p99', unit: 'ms', ours: median(p99s.ours), limit: median(p99s.limit), reach: null, noisy }),
    ];
    if (costs.ours.length === 0) return rows;
    const cost = { ours: median(costs.ours), limit: median(costs.limit) };
    return [...rows, makeRow({ bench: 'http', row: 'processor time of the server per answer', unit: 'µs', ...cost, reach: null })];
  } finally {
    await Promise.all([service.stop(), raw.end()]);
  }
}
