/**
 * The load of money, the reading of the books and their checker together, when the first answer to every request is lost: with the
 * service as it is nothing is found, with one that forgets its idempotency keys what it does twice.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, type TestContext, test } from 'node:test';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { onBusiness } from '../support/on-business.ts';
import { randomFrom } from '../support/random.ts';
import { checkMoney, moneyRules } from './check-money.ts';
import { gatherMoney, type KeptMoney } from './gather-money.ts';
import { History } from './history.ts';
import { settle } from './settle.ts';
import { manners, Spender } from './spender.ts';

/** The number of completed operations of each kind that moves money; each was requested twice. */
const ofAKind = 3;
let service: ClusterProcesses;

before(async () => {
  service = await ClusterProcesses.start({ nodes: 1, redis: false, links: false });
  await onBusiness(service.databaseUrl());
});
after(() => service.close());

describe('where the first answer to everything is lost', { concurrency: true }, () => {
  test('lost answers cause no duplicate effects', async (t) => {
    const { found, history } = await spendThrough(t, (key) => key);
    assert.deepEqual(found, []);
    assert.deepEqual(history.anomalies, []);
  });

  test('a service that forgets idempotency keys is detected', async (t) => {
    const { found } = await spendThrough(t, () => randomUUID());
    for (const name of ['authorizations', 'deposits', 'orders'] as const)
      assert.ok(
        found.some(({ rule, words }) => rule === moneyRules[name] && /took effect 2 times/.test(words)),
        `${name}: ${JSON.stringify(found, null, 1)}`,
      );
  });
});

/** What the checker finds of one spender, whose requests arrive with the keys that `keyOf` makes of theirs. */
async function spendThrough(t: TestContext, keyOf: (key: string) => string) {
  const history = new History();
  const [node] = service.nodes;
  const door = await losingDoor(t, node!.url, keyOf);
  const spender = await Spender.register({ history, nodes: () => [door], random: randomFrom(7) }, manners[0]!);
  const kinds = ['authorize', 'deposit', 'place order'];
  const repeated = (kind: string) =>
    history.operations.filter(({ name, requests, outcome }) => name === kind && requests > 1 && outcome === 'done');
  await spender.work(() => kinds.every((kind) => repeated(kind).length >= ofAKind));
  const unpaid = await settle(service.databaseUrl(), { customers: [], traders: [], spenders: [spender] });
  const books = { doors: [node!], databaseUrl: service.databaseUrl() };
  const kept = ofAccount(await gatherMoney(books, [spender.client], history, unpaid), spender.account);
  return { found: checkMoney(history.operations, kept), history };
}

/** A way to the service on which the first answer to each key about money is lost, after the service has given it. */
async function losingDoor(t: TestContext, url: string, keyOf: (key: string) => string): Promise<{ url: string }> {
  const lost = new Set<unknown>();
  const server = createServer(async (request, response) => {
    const { authorization, 'content-type': contentType, 'idempotency-key': key } = request.headers;
    const headers = {
      ...(authorization === undefined ? {} : { authorization }),
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
      ...(key === undefined ? {} : { 'idempotency-key': keyOf(String(key)) }),
    };
    const { method = 'GET' } = request;
    const answer = await fetch(url + request.url, { method, headers, body: method === 'GET' ? undefined : await text(request) });
    const body = await answer.text();
    if (method === 'POST' && request.url!.startsWith('/v1/commerce/') && !lost.has(key)) {
      lost.add(key);
      return response.destroy();
    }
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' }).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function ofAccount(kept: KeptMoney, account: string): KeptMoney {
  const own = <T extends { account: string }>(list: readonly T[]) => list.filter((one) => one.account === account);
  return {
    ...kept,
    authorizations: own(kept.authorizations),
    orders: own(kept.orders),
    entries: own(kept.entries),
    events: own(kept.events),
    unpaid: own(kept.unpaid),
  };
}
