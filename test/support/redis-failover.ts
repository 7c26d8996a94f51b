/** Real Redis servers whose primary is replaced when it dies: watched by Sentinels, or as a Redis Cluster. All in memory, on loopback. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis, type RedisOptions } from 'ioredis';
import { freePort } from './free-port.ts';
import { neededProgram, settingsOf, startServer } from './redis.ts';
import type { Scope } from './scope.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { until } from './until.ts';

export type FailingRedis = {
  url: string;
  /** Ends, at once and for good, the primary that holds the keys; another one is made of a replica by itself. */
  killPrimary(): Promise<void>;
};

type Server = { port: number; process: ChildProcess; client: Redis };

const password = 'a secret: with/marks@in?it';

/** A primary, a replica and three Sentinels, which have a password of their own. */
export async function testSentinels(t: Scope): Promise<FailingRedis> {
  const secrets = ['--requirepass', password, '--masterauth', password];
  const primary = await start(t, () => secrets, password);
  const replica = await start(t, () => [...secrets, '--replicaof', '127.0.0.1', String(primary.port)], password);
  await until(async () => /master_link_status:up/.test(await replica.client.info('replication')));
  const sentinels: Server[] = [];
  for (let n = 0; n < 3; n++) {
    sentinels.push(
      await start(
        t,
        async (port, folder) => {
          // A Sentinel writes what it learns into its file.
          const file = join(folder, `sentinel-${port}.conf`);
          await writeFile(
            file,
            [
              `sentinel monitor primary 127.0.0.1 ${primary.port} 2`,
              `sentinel auth-pass primary "${password}"`,
              'sentinel down-after-milliseconds primary 500',
              'sentinel failover-timeout primary 3000',
              'requirepass sentinel-secret',
              'sentinel sentinel-pass sentinel-secret',
              '',
            ].join('\n'),
          );
          return { file, args: ['--sentinel'] };
        },
        'sentinel-secret',
      ),
    );
  }
  const known = async ({ client }: Server) => {
    const fields = (await client.call('SENTINEL', 'MASTER', 'primary')) as string[];
    const at = (name: string) => fields[fields.indexOf(name) + 1];
    return at('num-slaves') === '1' && at('num-other-sentinels') === '2';
  };
  await until(async () => (await Promise.all(sentinels.map(known))).every(Boolean));
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return {
    url: `redis+sentinel://default:${encodeURIComponent(password)}@${hosts}/primary?sentinel_password=sentinel-secret`,
    killPrimary: () => kill(primary),
  };
}

/** Three primaries, and a replica of the one that holds this key. */
export async function testRedisCluster(t: Scope, key: string): Promise<FailingRedis> {
  const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000', '--requirepass', password, '--masterauth', password];
  const servers: Server[] = [];
  for (let n = 0; n < 4; n++) servers.push(await start(t, (port) => [...args, '--cluster-config-file', `nodes-${port}.conf`], password));
  const [first, second, third, replica] = servers as [Server, Server, Server, Server];
  const primaries = [first, second, third];
  const share = Math.ceil(16_384 / 3);
  for (const [n, { client }] of primaries.entries()) {
    await client.cluster('ADDSLOTSRANGE', n * share, Math.min(16_383, (n + 1) * share - 1));
    await client.cluster('SET-CONFIG-EPOCH', n + 1);
  }
  for (const { port } of [second, third, replica]) await first.client.cluster('MEET', '127.0.0.1', port);
  const primary = primaries[Math.floor((await first.client.cluster('KEYSLOT', key)) / share)]!;
  const id = (await primary.client.cluster('MYID')) as string;
  await until(async () => ((await replica.client.cluster('NODES')) as string).includes(id));
  await replica.client.cluster('REPLICATE', id);
  await until(async () => /master_link_status:up/.test(await replica.client.info('replication')));
  const isOk = async ({ client }: Server) => /cluster_state:ok[\s\S]*cluster_known_nodes:4/.test((await client.cluster('INFO')) as string);
  await until(async () => (await Promise.all(servers.map(isOk))).every(Boolean));
  const hosts = servers.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return {
    url: `redis+cluster://default:${encodeURIComponent(password)}@${hosts}`,
    killPrimary: () => kill(primary),
  };
}

/**
 * A primary with a Sentinel, and a Redis Cluster of one node, which all speak TLS alone, as `localhost`.
 *
 * @param tls files that any user may read
 */
export async function testTlsRedis(
  t: Scope,
  tls: { caFile: string; certFile: string; keyFile: string },
): Promise<{ sentinels: string; cluster: string }> {
  const common = (port: number) => [
    ...['--port', '0', '--tls-port', String(port), '--tls-ca-cert-file', tls.caFile, '--tls-cert-file', tls.certFile],
    ...['--tls-key-file', tls.keyFile, '--tls-auth-clients', 'no', '--tls-replication', 'yes', '--tls-cluster', 'yes'],
  ];
  const options = { tls: { ca: await readFile(tls.caFile) }, host: 'localhost' };
  const primary = await start(t, (port) => [...common(port), '--requirepass', password], password, options);
  const sentinel = await start(
    t,
    async (port, folder) => {
      const file = join(folder, 'sentinel.conf');
      const lines = ['resolve-hostnames yes', 'announce-hostnames yes', `monitor primary localhost ${primary.port} 1`];
      await writeFile(file, `${[...lines, `auth-pass primary "${password}"`].map((line) => `sentinel ${line}\n`).join('')}`);
      return { file, args: [...common(port), '--sentinel'] };
    },
    '',
    options,
  );
  const names = ['--cluster-announce-hostname', 'localhost', '--cluster-preferred-endpoint-type', 'hostname'];
  const alone = await start(t, (port) => [...common(port), '--cluster-enabled', 'yes', ...names], '', options);
  await alone.client.cluster('ADDSLOTSRANGE', 0, 16_383);
  await until(async () => /cluster_state:ok/.test((await alone.client.cluster('INFO')) as string));
  return {
    sentinels: `rediss+sentinel://:${encodeURIComponent(password)}@localhost:${sentinel.port}/primary`,
    cluster: `rediss+cluster://localhost:${alone.port}`,
  };
}

type Arguments = readonly string[] | { file: string; args: readonly string[] };

async function start(
  t: Scope,
  more: (port: number, folder: string) => Arguments | Promise<Arguments>,
  secret: string,
  options: RedisOptions = {},
): Promise<Server> {
  const folder = await temporaryFolder('troupe-redis-');
  t.after(() => folder.remove());
  for (let attempt = 1; attempt <= 20; attempt++) {
    const port = await freePort();
    const given = await more(port, folder.path);
    const ownSettings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder.path, '--daemonize', 'no'];
    const args = 'file' in given ? [given.file, ...ownSettings, ...given.args] : [...settingsOf(port, folder.path), ...given];
    const process_ = await startServer(neededProgram(), args, folder.path);
    if (process_ === null) continue;
    const client = new Redis({
      ...options,
      port,
      ...(secret !== '' && { password: secret }),
      retryStrategy: () => 50,
      maxRetriesPerRequest: null,
    });
    client.on('error', () => {});
    const leftOver = () => void process_.kill('SIGKILL');
    process.once('exit', leftOver);
    t.after(async () => {
      process.off('exit', leftOver);
      client.disconnect();
      await kill({ process: process_ });
    });
    return { port, process: process_, client };
  }
  throw new Error('No free port was found for the Redis of a test');
}

async function kill({ process: server }: Pick<Server, 'process'>): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exited = once(server, 'exit');
  server.kill('SIGKILL');
  await exited;
}
