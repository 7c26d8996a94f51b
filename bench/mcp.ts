/** Tool calls by MCP: the whole way through the service, beside the SDK's bare handler. */
import { alternate } from './support/alternate.ts';
import { Customer } from './support/customer.ts';
import { httpLoad } from './support/http-load.ts';
import { processorMs, residentBytes } from './support/other-process.ts';
import { Program } from './support/program.ts';
import { makeRow, type Row } from './support/row.ts';
import { Service } from './support/service.ts';
import { median } from './support/statistics.ts';
import type { Surroundings } from './support/surroundings.ts';

const connections = 64;
const wantedPerSecond = 2_000;

export async function benchMcp(surroundings: Surroundings): Promise<Row[]> {
  const service = await Service.start({ dataDir: await surroundings.emptyFolder('mcp'), nodeOptions: surroundings.profiled('mcp') });
  const raw = new Program('limits/raw-mcp.ts');
  try {
    const customer = await Customer.register(service.url, 'bench@example.com');
    const authorization = `Bearer ${await customer.apiKey()}`;
    const task = await customer.finishedTask(await customer.workspaceWithTable('bench'));
    const post = callOf('get_task', { task_id: task.id });
    const answer = await fetch(`${service.url}/mcp`, { method: 'POST', ...post, headers: { ...post.headers, authorization } });
    const { result } = (await answer.json()) as { result: { structuredContent?: { id?: string } } };
    if (result?.structuredContent?.id !== task.id) throw new Error(`the call was answered ${answer.status}: ${JSON.stringify(result)}`);
    const port = await raw.call<number>('listen', { result });
    const costs = { ours: [] as number[], limit: [] as number[] };
    const of = (url: string, pid: number, side: 'ours' | 'limit') => async (ms: number) => {
      const before = processorMs(pid);
      const load = await httpLoad({ url: `${url}/mcp`, authorization, connections, post }, ms);
      const after = processorMs(pid);
      if (before !== null && after !== null) costs[side].push(((after - before) * 1_000) / load.count);
      return load;
    };
    // The loaders measure whole seconds.
    const seconds = Math.max(5, surroundings.seconds);
    const sides = [of(service.url, service.pid, 'ours'), of(`http://127.0.0.1:${port}`, raw.pid, 'limit')] as const;
    const { noisy, ours, limit } = await alternate(seconds, ...sides);
    const about = `tools/call, a task of ${JSON.stringify(task).length.toLocaleString('en-US')} bytes`;
    const rows = [
      makeRow({ bench: 'mcp', row: about, unit: '/s', ours, limit, reach: { atLeast: 1 }, noisy }),
      makeRow({
        bench: 'mcp',
        row: 'the same beside what is wanted',
        unit: '/s',
        ours,
        limit: wantedPerSecond,
        reach: { atLeast: 1 },
        noisy,
      }),
    ];
    const [held, heldByRaw] = [residentBytes(service.pid), residentBytes(raw.pid)];
    if (held === null || heldByRaw === null || costs.ours.length === 0) return rows;
    const cost = { ours: median(costs.ours), limit: median(costs.limit) };
    return [
      ...rows,
      makeRow({ bench: 'mcp', row: 'processor time of the server per call', unit: 'µs', ...cost, reach: null }),
      makeRow({ bench: 'mcp', row: 'resident after the load', unit: 'MB', ours: held / 2 ** 20, limit: heldByRaw / 2 ** 20, reach: null }),
    ];
  } finally {
    await Promise.all([service.stop(), raw.end()]);
  }
}

function callOf(name: string, args: object): { body: string; headers: Record<string, string> } {
  const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
  return {
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta } }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
  };
}
