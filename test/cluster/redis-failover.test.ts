/** A Redis whose primary dies and is replaced: no ask fails, and the nodes restore the view automatically. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { promisify } from 'node:util';
import { keysOf } from '../../src/cluster/membership-scripts.ts';
import { RedisLimits } from '../../src/edge/limits/redis-limits.ts';
import { authority, withoutOpenssl } from '../support/certificates.ts';
import { probeIdIn, testCluster } from '../support/cluster-nodes.ts';
import { probe } from '../support/probe-actor.ts';
import { withoutRedis } from '../support/redis.ts';
import { testRedisCluster, testSentinels, testTlsRedis } from '../support/redis-failover.ts';

const options = { skip: withoutRedis, timeout: 300_000 };
const start = { Sentinels: testSentinels, 'a Redis Cluster': (t: any) => testRedisCluster(t, keysOf('test')[0]!) };

test('keys have the names that earlier versions use and share one slot of a Redis Cluster, so that nodes of two versions see each other', () => {
  assert.deepEqual(
    keysOf('id'),
    ['state', 'members', 'counts', 'heard', 'gone', 'waiting', 'drains'].map((name) => `troupe:{id}:${name}`),
  );
});

for (const [what, startRedis] of Object.entries(start))
  test(
    `with ${what}, the death of the primary fails no ask and moves no shard, and placement continues automatically`,
    options,
    async (t) => {
      const redis = await startRedis(t);
      const cluster = await testCluster(t, { leaseMs: 1_000, renewEveryMs: 100, redisUrl: redis.url });
      const limits = new RedisLimits(redis.url, 'test', 'test');
      t.after(() => limits.close());
      await limits.connect();
      const [a, b] = [await cluster.join('a'), await cluster.join('b')];
      await cluster.settled();
      assert.equal(
        await limits.sockets('troupe_socket_report', { node: 'n', counts: { caller: 1 }, all: true, leaseMs: 60_000 }),
        'reported',
      );
      const epochs = await cluster.sql('select sum(epoch)::text as sum from shard');
      const ids = [a, b].map((node) => probeIdIn((shard) => node.placement.epochOf(shard) !== null));
      let sum = 0;
      const ask = async () => {
        for (const id of ids) await a.actors.ask(probe, id, 'add', { n: 1 });
        sum += 1;
      };
      await ask();
      await redis.killPrimary();
      const answers = () =>
        limits.sockets('troupe_socket_report', { node: 'other', counts: {}, all: true, leaseMs: 60_000 }).then(
          () => true,
          () => false,
        );
      // A node that the replacement serves before it misses its lease never notices.
      do await ask();
      while (!(await answers()) || [a, b].some(({ membership }) => membership.state !== 'member'));
      assert.deepEqual(await cluster.sql('select sum(epoch)::text as sum from shard'), epochs, 'nothing moved');
      assert.deepEqual(await cluster.sql('select distinct value from probe'), [{ value: sum }]);
      assert.deepEqual(
        cluster.lines.filter(({ level, message }) => level === 'error' || message.startsWith('this node was expelled')),
        [],
      );
      const c = await cluster.join('c');
      await cluster.settled();
      assert.ok(c.owned().length > 200, 'who joins is given its share');
      await b.kill();
      await cluster.settled();
      assert.equal(await a.actors.ask(probe, ids[1]!, 'add', { n: 1 }), sum + 1, 'who dies is followed');
      assert.equal(await limits.sockets('troupe_socket_open', { node: 'n', caller: 'caller', have: 1, limit: 2 }), 'open');
    },
  );

test('a connection to a Redis Cluster that is closed while it reads the slots keeps no process alive', options, async (t) => {
  const { url } = await testRedisCluster(t, '{x}');
  // All nodes delay their answers for longer than a refresh is away.
  const program = `
    import { Redis } from 'ioredis';
    import { setTimeout as pause } from 'node:timers/promises';
    import { RedisConnection } from './src/cluster/redis-connection.ts';
    import { parseRedisUrl } from './src/redis-url.ts';
    const { hosts, password } = parseRedisUrl(${JSON.stringify(url)});
    const connection = new RedisConnection({ url: ${JSON.stringify(url)}, name: 'test', scripts: {}, numberOfKeys: 1 });
    await connection.connect(60_000);
    const nodes = hosts.map(({ host, port }) => new Redis({ host, port, password }));
    await Promise.all(nodes.map((node) => node.client('PAUSE', 5_000, 'ALL')));
    for (const node of nodes) node.disconnect();
    await pause(1_500);
    connection.close();
    console.log('closed');`;
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module-typescript', '--eval', program];
  const ended = promisify(execFile)(process.execPath, args, { env: { PATH: process.env.PATH }, timeout: 120_000 });
  assert.deepEqual(await ended, { stdout: 'closed\n', stderr: '' });
});

test('rediss+sentinel and rediss+cluster encrypt all connections and check certificates', {
  ...options,
  skip: withoutRedis || withoutOpenssl,
}, async (t) => {
  const ours = await authority(t);
  const redis = await testTlsRedis(t, { caFile: ours.caFile, ...(await ours.node('localhost')) });
  // Which authorities Node.js trusts is known to a process when it starts.
  const count = (url: string, withinMs: number, trusted: Record<string, string>) => {
    const program = `
      import { RedisConnection } from './src/cluster/redis-connection.ts';
      const scripts = { count: "return redis.call('INCR', KEYS[1])" };
      const redis = new RedisConnection({ url: ${JSON.stringify(url)}, name: 'test', scripts, numberOfKeys: 1 });
      await redis.connect(${withinMs}).then(() => redis.run('count', ['{x}'], '')).then(console.log, (error) => console.log(error.message));
      redis.close();`;
    const args = ['--disable-warning=ExperimentalWarning', '--input-type=module-typescript', '--eval', program];
    return promisify(execFile)(process.execPath, args, { env: { PATH: process.env.PATH, ...trusted } });
  };
  const urls = Object.values(redis);
  const known = await Promise.all(urls.map((url) => count(url, 60_000, { NODE_EXTRA_CA_CERTS: ours.caFile })));
  assert.deepEqual(
    known,
    urls.map(() => ({ stdout: '1\n', stderr: '' })),
  );
  const unknown = await Promise.all(urls.map((url) => count(url, 3_000, {})));
  for (const { stdout } of unknown) assert.match(stdout, /cannot be used \(.+\): check REDIS_URL/);
});
