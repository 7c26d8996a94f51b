/**
 * A flood of one account beside a quiet one: slow fetches, endless code, and lists by the dozen on one side; on the other small tasks, code,
 * lists and a mail for a new password, one after the other. The quiet account does all of it alone first, then beside the flood. Whatever the
 * machine: nothing of the quiet account is refused, and all of it ends while the flood goes on. How long it took is reported.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { callTool, finish, openAiServer, plan, type Script } from '../support/openai-server.ts';
import type { Scope } from '../support/scope.ts';
import { Caller, type Service, startService } from '../support/service.ts';

export type Times = { p50Ms: number; p99Ms: number };
export type FloodReport = { what: string; alone: Times; beside: Times }[];

/** More than all places for tools, and more than one account may have. */
const slowFetches = 270;
const endlessCodes = 34;
const listsAtOnce = 24;
const email = 'quiet-flood@example.com';
const ends = ['complete', 'failed', 'cancelled'];

/** @param rounds how often the quiet account does each of its things */
export async function flood(t: Scope, rounds: number): Promise<FloodReport> {
  const site = await slowSite(t);
  const model = await openAiServer(work(site.url));
  t.after(() => model.close());
  const service = await startService(t, {
    MODEL_BASE_URL: model.url,
    MODEL_API_KEY: 'test-key',
    MODEL_NAME: 'scripted',
    OUTBOUND_ALLOW: '127.0.0.0/8',
  });
  const busy = await Caller.register(service);
  await Caller.register(service, email.slice(0, email.indexOf('@')));
  const quiet = await Caller.register(service);
  for (let i = 0; i < 20; i++) await busy.json('POST', '/v1/workspaces', { name: `w ${i}` });

  const alone = await times(service, quiet, rounds);
  for (let i = 0; i < slowFetches; i++) await begin(busy, 'slow fetch');
  for (let i = 0; i < endlessCodes; i++) await begin(busy, 'endless code');
  await site.isBusy;
  const listing = lists(busy);
  const beside = await times(service, quiet, rounds).finally(() => listing.stop());
  assert.ok(site.hanging() > 0, 'the flood goes on');
  const refused = await listing.stop();
  assert.equal(refused, 0, 'what one account lists at once is answered');
  site.release();
  return [...alone].map(([what, ms]) => ({ what, alone: timesOf(ms), beside: timesOf(beside.get(what)!) }));
}

async function times(service: Service, quiet: Caller, rounds: number): Promise<Map<string, number[]>> {
  const deeds: Record<string, () => Promise<unknown>> = {
    'a small task': () => finished(quiet, 'small'),
    'a task that fetches': () => finished(quiet, 'quick fetch'),
    'a task that computes': () => finished(quiet, 'quick code'),
    'a list': () => quiet.json('GET', '/v1/workspaces'),
    'a mail for a new password': () => resetMail(service),
  };
  const took = new Map<string, number[]>();
  for (const [what, act] of Object.entries(deeds)) {
    const all: number[] = [];
    // No more than three mails an hour go to one address.
    for (let round = 0; round < (what.startsWith('a mail') ? 1 : rounds); round++) {
      const beganMs = performance.now();
      await act();
      all.push(performance.now() - beganMs);
    }
    took.set(what, all);
  }
  return took;
}

function begin(caller: Caller, prompt: string): Promise<any> {
  return caller.json('POST', '/v1/tasks', { prompt, config: { autonomy_level: 100, max_agents: 1 } });
}

async function finished(caller: Caller, prompt: string): Promise<void> {
  const { id } = await begin(caller, prompt);
  const task = await caller.untilTask(id, ends);
  assert.equal(task.status, 'complete', JSON.stringify(task));
}

async function resetMail(service: Service): Promise<void> {
  const folder = join(service.dataDir, 'mail');
  const mails = async () => (await readdir(folder).catch(() => [])).length;
  const before = await mails();
  const nobody = Caller.withToken(service, '');
  await nobody.json('POST', '/v1/auth/forgot-password', { email });
  while ((await mails()) === before) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** So many lists at once, twice a second, until it is stopped; then how many were refused. */
function lists(caller: Caller): { stop(): Promise<number> } {
  let going = true;
  let refused = 0;
  const one = async () => {
    const { status } = await caller.fetch('GET', '/v1/workspaces?limit=20');
    if (status !== 200) refused++;
  };
  const bursts = async () => {
    while (going) {
      await Promise.all(Array.from({ length: listsAtOnce }, one));
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  };
  const all = bursts();
  return {
    async stop() {
      going = false;
      await all;
      return refused;
    },
  };
}

/** Each task has one agent, which does what its prompt names and finishes. */
function work(site: string): Script {
  const deeds: Record<string, () => ReturnType<typeof callTool>> = {
    'slow fetch': () => callTool('fetch_url', { url: `${site}/slow` }),
    'quick fetch': () => callTool('fetch_url', { url: `${site}/quick` }),
    'endless code': () => callTool('code_exec', { code: 'for (;;) {}' }),
    'quick code': () => callTool('code_exec', { code: '6 * 7' }),
  };
  return ({ body: { messages, response_format: format } }) => {
    const said = messages.map(({ content }) => JSON.stringify(content)).join('\n');
    const name = Object.keys(deeds).find((deed) => said.includes(deed));
    if (format !== undefined) return plan([{ type: 'builder', title: 'one', prompt: name ?? 'small', after: [] }]);
    const isFirst = !messages.some(({ role }) => role === 'assistant');
    return isFirst && name !== undefined ? deeds[name]!() : finish('Done.');
  };
}

/** A server whose slow page hangs until it is released. */
async function slowSite(t: Scope) {
  const hanging = new Set<ServerResponse>();
  let isReleased = false;
  const { promise: isBusy, resolve } = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    if (request.url !== '/slow' || isReleased) return void response.end('a page');
    hanging.add(response);
    response.once('close', () => hanging.delete(response));
    resolve();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isBusy,
    hanging: () => hanging.size,
    release() {
      isReleased = true;
      for (const response of hanging) response.end('a page');
    },
  };
}

function timesOf(ms: number[]): Times {
  const sorted = [...ms].sort((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!);
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}
