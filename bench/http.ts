/** An authenticated look at a task that agents have finished, over 64 connections: the whole way through the service. */
import { alternate } from './support/alternate.ts';
import { Customer } from './support/customer.ts';
import { httpLoad } from './support/http-load.ts';
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
    const of = (url: string, side: 'ours' | 'limit') => async (ms: number) => {
      const load = await httpLoad({ url: url + path, authorization, connections }, ms);
      p99s[side].push(load.p99Ms);
      return load;
    };
    // The loaders measure whole seconds.
    const seconds = Math.max(5, surroundings.seconds);
    const { noisy, ours, limit } = await alternate(seconds, of(service.url, 'ours'), of(`http://127.0.0.1:${port}`, 'limit'));
    const about = `GET /v1/tasks/{id}, ${connections} connections`;
    return [
      makeRow({ bench: 'http', row: about, unit: '/s', ours, limit, reach: { atLeast: 0.55 }, noisy }),
      makeRow({ bench: 'http', row: 'p99', unit: 'ms', ours: median(p99s.ours), limit: median(p99s.limit), reach: null, noisy }),
    ];
  } finally {
    await Promise.all([service.stop(), raw.end()]);
  }
}
