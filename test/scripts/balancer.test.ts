/** The balancer of a local cluster, with nodes that report whether they are ready. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import { Balancer } from '../../scripts/cluster/balancer.ts';

type Node = { name: string; url: string; ready: boolean; server: Server };

/** Answers with its name; the answer to `/hang` begins with it and never ends. */
async function startNode(t: TestContext, name: string): Promise<Node> {
  const server = createServer((request, response) => {
    if (request.url === '/hang') return void response.write(name);
    if (request.url === '/health/ready') response.statusCode = node.ready ? 200 : 503;
    response.setHeader('connection', 'close').end(name);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const node: Node = { name, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ready: true, server };
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return node;
}

async function balancerBefore(t: TestContext, nodes: Node[]): Promise<Balancer> {
  const balancer = await Balancer.listen('127.0.0.1', 0);
  t.after(() => balancer.close());
  for (const { name, url } of nodes) balancer.add(name, url);
  await balancer.untilReady(nodes.length, AbortSignal.timeout(60_000));
  return balancer;
}

/** A connection of its own, as a new caller has. */
async function ask(balancer: Balancer, path = '/'): Promise<{ status: number; text: string }> {
  const socket = connect(Number(new URL(balancer.url).port), '127.0.0.1');
  socket.end(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  return { status: Number(answer.split(' ')[1]), text: answer.split('\r\n\r\n')[1] ?? '' };
}

test('new connections go to the nodes round-robin', async (t) => {
  const nodes = await Promise.all(['a', 'b', 'c'].map((name) => startNode(t, name)));
  const balancer = await balancerBefore(t, nodes);
  const answers: string[] = [];
  for (let i = 0; i < 6; i++) answers.push((await ask(balancer)).text);
  const counts = ['a', 'b', 'c'].map((name) => answers.filter((answer) => answer.includes(name)).length);
  assert.deepEqual(counts, [2, 2, 2]);
});

test('a node that is not ready gets no new connections until it is ready again', async (t) => {
  const nodes = await Promise.all(['a', 'b'].map((name) => startNode(t, name)));
  const balancer = await balancerBefore(t, nodes);
  nodes[0]!.ready = false;
  while (balancer.ready.length > 1) await new Promise((resolve) => setTimeout(resolve, 5));
  for (let i = 0; i < 4; i++) assert.match((await ask(balancer)).text, /b/);
  nodes[0]!.ready = true;
  await balancer.untilReady(2, AbortSignal.timeout(60_000));
  assert.notEqual((await ask(balancer)).text, (await ask(balancer)).text);
});

test('a connection refused by a stopped node goes to the next node', async (t) => {
  const nodes = await Promise.all(['a', 'b'].map((name) => startNode(t, name)));
  const balancer = await balancerBefore(t, nodes);
  nodes[0]!.server.close();
  nodes[0]!.server.closeAllConnections();
  for (let i = 0; i < 4; i++) assert.match((await ask(balancer)).text, /b/);
});

test('connections of an ended node are closed, those of others continue', async (t) => {
  const nodes = await Promise.all(['a', 'b'].map((name) => startNode(t, name)));
  const balancer = await balancerBefore(t, nodes);
  const hanging = new Map<string, Socket>();
  for (const _ of nodes) {
    const socket = connect(Number(new URL(balancer.url).port), '127.0.0.1');
    socket.write('GET /hang HTTP/1.1\r\nhost: x\r\n\r\n');
    let answer = '';
    while (!/\r\n\r\n1\r\n[ab]/.test(answer)) answer += (await once(socket, 'data')).join('');
    hanging.set(/[ab]/.exec(answer.split('\r\n\r\n')[1]!)![0], socket);
  }
  const closed = once(hanging.get('a')!, 'close');
  balancer.remove('a');
  await closed;
  assert.equal(hanging.get('b')!.destroyed, false);
  hanging.get('b')!.destroy();
});

test('while no node is ready callers get 503 with Retry-After', async (t) => {
  const balancer = await balancerBefore(t, []);
  assert.deepEqual(await ask(balancer), { status: 503, text: 'No node is ready now' });
});

test('a port in use is reported in one line', async (t) => {
  const balancer = await balancerBefore(t, []);
  const { port } = new URL(balancer.url);
  await assert.rejects(Balancer.listen('127.0.0.1', Number(port)), {
    message: `Port ${port} of 127.0.0.1 is taken: stop who has it, or give another by --port`,
  });
});
