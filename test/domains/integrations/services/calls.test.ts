/**
 * Every service through the calls that agents make: a stored connection with its tokens, limits, further tries and bounds. The services
 * are called concurrently, so that their waits overlap.
 */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { newId } from '../../../../src/ids.ts';
import { type IntegrationWorld, integrationWorld } from '../../../support/integration-world.ts';
import { OAuthStandIn } from '../../../support/oauth-stand-in.ts';
import { serviceRows } from '../../../support/services/rows.ts';
import { failureOf } from '../../../support/services/run-tool.ts';
import { goodToken, type ServiceRow } from '../../../support/services/service-row.ts';
import type { Fault, ServiceStandIn } from '../../../support/services/service-stand-in.ts';

type Connected = { row: ServiceRow; standIn: ServiceStandIn; oauth: OAuthStandIn; scopes: readonly string[] };

const ends: (() => unknown)[] = [];
const scope = { after: (end: () => unknown) => void ends.unshift(end) };
let world: IntegrationWorld;
let connections: Connected[];
/** Short only where a service is silent: on a busy machine an answer may take its time. */
let timeoutMs: number | undefined;

before(async () => {
  connections = await Promise.all(serviceRows.map(connectable));
  const settings = connections.map(({ row, standIn, oauth }) => {
    const own = {
      clientId: 'id',
      clientSecret: 'a secret of the client',
      tokenUrl: `${oauth.url}/token`,
      revokeUrl: `${oauth.url}/revoke`,
    };
    return [row.service.name, { ...own, apiUrl: standIn.apiUrl }] as const;
  });
  const others = Object.fromEntries(settings);
  world = await integrationWorld(scope, 'gmail', others.gmail!, { others, timeoutMs: () => timeoutMs });
  for (const { row, standIn } of connections)
    await world.connect('good', { service: row.service.name, given: row.attributes?.(standIn) ?? {} });
});

async function connectable(row: ServiceRow): Promise<Connected> {
  const [standIn, oauth] = await Promise.all([row.start(scope), OAuthStandIn.start(scope)]);
  const scopes = standIn.tokens.get(goodToken)!;
  oauth.scope = undefined;
  // A renewal that is retried on a busy machine does not count as a reuse here.
  oauth.rotates = false;
  const connected = { row, standIn, oauth, scopes };
  oauth.beforeTokenAnswer = () => takeTokens(connected);
  return connected;
}

function takeTokens({ standIn, oauth, scopes }: Connected): void {
  for (const access of oauth.taken) standIn.tokens.set(access, scopes);
}

function refuseTokens({ standIn, oauth }: Connected): void {
  for (const access of oauth.taken) standIn.tokens.delete(access);
}

after(async () => {
  for (const end of ends) await end();
});

test('each tool does its work through the stored connection', async () => {
  await ofEach(async ({ row, standIn }) => {
    for (const { name } of row.service.tools) {
      // Messages that were received are stored by the inbound endpoint, which is not here.
      if (row.tools[name]!.path === null) continue;
      const { args, result, effect } = row.tools[name]!;
      assert.deepEqual(await run(row, name, args(standIn)), result(standIn), name);
      effect?.(standIn);
    }
  });
});

test('a refused token is renewed once and the call is repeated', async () => {
  await ofEach(async (connected) => {
    const { row, standIn, oauth } = connected;
    const { tool, args } = readOf(row);
    const renewals = oauth.tokenRequests.length;
    refuseTokens(connected);
    await run(row, tool, args(standIn));
    assert.equal(standIn.requests.filter(({ scopes }) => scopes === null).length, 1, row.service.name);
    assert.equal(oauth.tokenRequests.length, renewals + 1, row.service.name);
  });
});

test('a token that stays refused is forbidden, and the connection stays', async () => {
  await ofEach(async (connected) => {
    const { row, standIn, oauth } = connected;
    const { tool, args } = readOf(row);
    const { generation: before } = await world.rowOf(row.service.name);
    const { beforeTokenAnswer } = oauth;
    oauth.beforeTokenAnswer = () => {};
    refuseTokens(connected);
    const failure = await failureOf(run(row, tool, args(standIn)));
    oauth.beforeTokenAnswer = beforeTokenAnswer;
    takeTokens(connected);
    assert.equal(failure.type, 'forbidden', row.service.name);
    const { status, generation } = await world.rowOf(row.service.name);
    assert.deepEqual([status, generation], ['connected', before + 1], row.service.name);
  });
});

test('a rate limit of a second is waited for, without requests to the service meanwhile', async () => {
  await ofEach(async ({ row, standIn }) => {
    const { tool, args, path } = readOf(row);
    standIn.meet(path, row.limited.withRetryAfter('1'));
    const begunAt = performance.now();
    await Promise.all([run(row, tool, args(standIn)), run(row, tool, args(standIn))]);
    assert.ok(performance.now() - begunAt >= 990, row.service.name);
  });
});

test('a rate limit whose time is over causes one request a second, and no storm', async () => {
  await ofEach(async ({ row, standIn }) => {
    const { tool, args, path } = readOf(row);
    const asked = standIn.requestsOf(path).length;
    standIn.meet(path, row.limited.withRetryAfter('0'), row.limited.withRetryAfter('0'));
    const begunAt = performance.now();
    await run(row, tool, args(standIn));
    assert.equal(standIn.requestsOf(path).length, asked + 3, row.service.name);
    assert.ok(performance.now() - begunAt >= 1_980, row.service.name);
  });
});

test('repeatable calls are retried after an outage, a lost answer, an answer that is not JSON, and a time-out', async () => {
  const faults = [
    { status: 502, text: '<html>Bad gateway</html>' },
    'lost',
    { status: 200, text: '<html>Sign in</html>' },
    'hang',
  ] as const;
  await ofEach(async ({ row, standIn }) => {
    const { tool, args, path, repeatable } = readOf(row);
    for (const fault of repeatable ? faults : []) {
      standIn.requests.length = 0;
      standIn.meet(path, fault);
      if (fault === 'hang') timeoutMs = 4_000;
      await run(row, tool, args(standIn));
      assert.ok(standIn.requestsOf(path).length >= 2, `${row.service.name} at ${JSON.stringify(fault)}`);
    }
  });
  timeoutMs = undefined;
});

test('a write whose answer is lost is made once if the service does not detect repeats, and reported as unknown', async () => {
  await ofEach(async ({ row, standIn }) => {
    const once = row.service.tools.filter(({ name, repeatable }) => !repeatable && row.tools[name]!.path !== null);
    for (const { name } of once) {
      const { args, path } = row.tools[name]!;
      standIn.requests.length = 0;
      standIn.meet(path!, 'lost');
      const failure = await failureOf(run(row, name, fresh(args(standIn))));
      assert.equal(failure.type, 'unavailable', name);
      assert.match(failure.message, /not known/, name);
      assert.equal(standIn.requestsOf(path!).filter(({ method }) => method !== 'GET').length, 1, name);
    }
  });
});

test('an answer of three megabytes is not read to its end and not requested again', async () => {
  const giant: Fault = { status: 200, text: `{"items":["${'x'.repeat(3 * 2 ** 20)}"]}`, headers: { 'content-type': 'application/json' } };
  await ofEach(async ({ row, standIn }) => {
    const { tool, args, path, repeatable } = readOf(row);
    standIn.meet(path, giant);
    const failure = await failureOf(run(row, tool, args(standIn)));
    assert.equal(failure.type, repeatable ? 'invalid' : 'unavailable', row.service.name);
    assert.match(failure.message, /more than 2 MiB/);
    assert.equal(standIn.requestsOf(path).length, 1, row.service.name);
  });
});

test('an answer of more values than are parsed without a pause is refused as a long one', async () => {
  const many = `{${Array.from({ length: 60_000 }, (_, n) => `"k${n}":1`).join()}}`;
  await ofEach(async ({ row, standIn }) => {
    const { tool, args, path } = readOf(row);
    standIn.meet(path, { status: 200, text: many, headers: { 'content-type': 'application/json' } });
    assert.match((await failureOf(run(row, tool, args(standIn)))).message, /more values than are read/, row.service.name);
  });
});

test('no failure shows a token, even where the service repeats it', async () => {
  await ofEach(async ({ row, standIn, oauth }) => {
    const { tool, args, path } = readOf(row);
    const token = [...oauth.taken].at(-1)!;
    const message = `Token ${token} may not do this`;
    standIn.meet(path, { status: 403, json: { message, error: { message, code: 10, status: 'PERMISSION_DENIED' } } });
    const failure = await failureOf(run(row, tool, args(standIn)));
    assert.ok(!JSON.stringify(failure).includes(token), `${row.service.name}: ${failure.message}`);
  });
});

test('a rate limit without a time is retried, a long one is reported at once with its end', async () => {
  await ofEach(async ({ row, standIn }) => {
    const { tool, args, path } = readOf(row);
    // GitHub names the end of this one too.
    if (row.limited.plain.headers === undefined) {
      standIn.meet(path, row.limited.plain);
      await run(row, tool, args(standIn));
    }
    standIn.meet(path, row.limited.withRetryAfter('600'));
    const failure = await failureOf(run(row, tool, args(standIn)));
    assert.equal(failure.type, 'rate_limited', row.service.name);
    const waitMs = Date.parse((failure as { retryAt: string }).retryAt) - world.clock.nowMs();
    assert.ok(waitMs > 590_000 && waitMs <= 601_000, `${row.service.name}: ${waitMs}`);
    const asked = standIn.requestsOf(path).length;
    assert.equal((await failureOf(run(row, tool, args(standIn)))).type, 'rate_limited');
    assert.equal(standIn.requestsOf(path).length, asked, `${row.service.name}: asked again before the limit ended`);
  });
});

/** The first tool that may be repeated; of a service where none makes requests, its first. */
function readOf({ service, tools }: ServiceRow) {
  const tool = service.tools.find(({ name, repeatable }) => repeatable && tools[name]!.path !== null) ?? service.tools[0]!;
  const { args, path } = tools[tool.name]!;
  return { tool: tool.name, args, path: path!, repeatable: tool.repeatable };
}

/** Names that are taken once are made new. */
function fresh(args: Record<string, unknown>): Record<string, unknown> {
  return typeof args.name === 'string' ? { ...args, name: `${args.name}-again` } : args;
}

async function ofEach(check: (connected: Connected) => Promise<void>): Promise<void> {
  for (const { standIn } of connections) {
    standIn.faults = [];
    standIn.requests.length = 0;
  }
  await Promise.all(connections.map(check));
}

async function run({ service }: ServiceRow, name: string, args: object): Promise<unknown> {
  const tool = service.tools.find((one) => one.name === name)!;
  const { signal } = new AbortController();
  const call = { integrationId: world.idOf(service.name), callId: newId('call_', null), isRepeat: false, signal };
  return tool.run(args, await world.calls.open(call));
}
