/** Many tool calls at once on one node. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';
import { integrationWorld } from '../../../support/integration-world.ts';

const many = 500;
const maxBytes = 100 * 10 ** 6;
/** More than most tools read. */
const body = JSON.stringify({ text: 'x'.repeat(20_000) });
const json = { 'content-type': 'application/json' };

test(`${many} tool calls of one account are in flight at once, in less than 100 MB`, async (t) => {
  const held: ServerResponse[] = [];
  const { promise: allArrived, resolve: onAllArrived } = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    if (request.url === '/token') return void response.writeHead(200, json).end('{"access_token":"a","scope":"repo"}');
    if (held.push(response) === many) onAllArrived();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const world = await integrationWorld(t, 'github', { clientId: 'id', clientSecret: 'secret', apiUrl: url, tokenUrl: `${url}/token` });
  await world.connect();
  const beforeBytes = process.memoryUsage().rss;
  const calls = Array.from({ length: many }, () => world.request());
  const failed = Promise.all(calls).then(() => assert.fail('answered before all had arrived'));
  await Promise.race([allArrived, failed]);
  const waitingBytes = process.memoryUsage().rss - beforeBytes;
  for (const response of held) response.writeHead(200, json).end(body);
  failed.catch(() => {});
  const answers = await Promise.all(calls);
  const answeredBytes = process.memoryUsage().rss - beforeBytes;
  assert.ok(answers.every((answer) => answer.body.text.length === 20_000));
  // The server's side of the connections is in this process too.
  t.diagnostic(`${Math.round(waitingBytes / 1e6)} MB while waiting, ${Math.round(answeredBytes / 1e6)} MB with all answers`);
  assert.ok(Math.max(waitingBytes, answeredBytes) < maxBytes, `${waitingBytes} and ${answeredBytes} bytes`);
});
