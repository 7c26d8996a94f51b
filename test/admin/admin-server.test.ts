/** The admin port: its answers, its refusals, and that no client can block it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import test, { type TestContext } from 'node:test';
import { type AdminOptions, type AdminServer, startAdminServer } from '../../src/admin/admin-server.ts';
import { noLog } from '../../src/log.ts';
import { Metrics } from '../../src/metrics.ts';

async function admin(t: TestContext, options: Partial<AdminOptions> = {}): Promise<{ server: AdminServer; url: string; metrics: Metrics }> {
  const metrics = options.metrics ?? new Metrics(noLog);
  const server = await startAdminServer({
    host: '127.0.0.1',
    port: 0,
    portGiven: true,
    metrics,
    status: () => ({ node: 'a' }),
    readiness: () => 'ready',
    log: noLog,
    ...options,
  });
  assert.ok(server !== null);
  t.after(() => server.close());
  return { server, url: `http://127.0.0.1:${server.port}`, metrics };
}

async function takenPort(t: TestContext): Promise<number> {
  const holder = net.createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  t.after(() => holder.close());
  return (holder.address() as net.AddressInfo).port;
}

test('metrics, status and liveness are answered; other paths are 404', async (t) => {
  const { url, metrics } = await admin(t, { status: async () => ({ node: 'a', shards: { owned: 1024 } }) });
  metrics.gauge('troupe_ready', 'whether it is', () => 1);
  const scraped = await fetch(`${url}/metrics`);
  assert.match(scraped.headers.get('content-type')!, /^text\/plain; version=0\.0\.4/);
  assert.match(await scraped.text(), /# HELP troupe_ready whether it is\n# TYPE troupe_ready gauge\ntroupe_ready 1\n/);
  assert.deepEqual(await (await fetch(`${url}/status?x=1`)).json(), { node: 'a', shards: { owned: 1024 } });
  assert.deepEqual(await (await fetch(`${url}/health/live`)).json(), { status: 'alive' });
  assert.equal((await fetch(`${url}/metrics`, { method: 'HEAD' })).status, 200);
  for (const path of ['/', '/metrics/', '/../metrics2', '/status/x', '//metrics', '/v1/tasks'])
    assert.equal((await fetch(url + path)).status, 404, path);
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) assert.equal((await fetch(`${url}/metrics`, { method })).status, 404, method);
});

test('readiness reports the reason when the node is not ready', async (t) => {
  let readiness = 'ready';
  const { url } = await admin(t, { readiness: () => readiness });
  assert.equal((await fetch(`${url}/health/ready`)).status, 200);
  readiness = 'draining';
  const response = await fetch(`${url}/health/ready`);
  assert.deepEqual([response.status, await response.json()], [503, { status: 'draining' }]);
});

test('a status that cannot be computed is 500 without details', async (t) => {
  const { url } = await admin(t, {
    status: () => {
      throw new Error('postgres://ann:secret@db');
    },
  });
  const response = await fetch(`${url}/status`);
  assert.equal(response.status, 500);
  assert.equal(await response.text(), 'Internal Server Error\n');
});

test('a default port in use is only logged; a configured port in use prevents the start with one line', async (t) => {
  const port = await takenPort(t);
  const said: string[] = [];
  const log = { ...noLog, warn: (_: object, message: string) => void said.push(message) };
  const options: AdminOptions = {
    host: '127.0.0.1',
    port,
    portGiven: false,
    metrics: new Metrics(log),
    status: () => null,
    readiness: () => 'ready',
    log,
  };
  assert.equal(await startAdminServer(options), null);
  assert.equal(said.length, 1);
  await assert.rejects(startAdminServer({ ...options, portGiven: true }), (error: Error) => {
    assert.equal(error.message, `The admin port cannot listen on 127.0.0.1:${port} (the port is taken): check ADMIN_PORT and ADMIN_HOST`);
    return true;
  });
  await assert.rejects(startAdminServer({ ...options, port: 0, host: '203.0.113.1' }), /ADMIN_HOST/);
});

test('a client without a request is disconnected, and connections beyond the limit are not accepted', async (t) => {
  const { server, url } = await admin(t);
  const sockets = Array.from({ length: 40 }, () => net.connect(server.port, '127.0.0.1'));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  // Eight are refused at once; the others say half a request and are cut off later. Then there is room again.
  const ended = sockets.map((socket) => {
    socket.on('error', () => {});
    socket.write('GET /metrics HTTP/1.1\r\nHos');
    socket.resume();
    return new Promise((resolve) => socket.once('close', resolve));
  });
  await Promise.all(ended);
  assert.equal((await fetch(`${url}/health/live`)).status, 200);
});

test('a request with an endless body or endless headers is refused', async (t) => {
  const { server } = await admin(t);
  const socket = net.connect(server.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(`GET /metrics HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
  const [answer] = await once(socket, 'data');
  assert.match(String(answer), /^HTTP\/1\.1 431 /);
  const other = net.connect(server.port, '127.0.0.1');
  other.on('error', () => {});
  other.write('POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n');
  const [refused] = await once(other, 'data');
  assert.match(String(refused), /^HTTP\/1\.1 404 /);
  assert.match(String(refused), /Connection: close/i);
  socket.destroy();
  other.destroy();
});
