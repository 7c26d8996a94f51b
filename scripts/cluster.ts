/** `npm run cluster -- [--nodes 3] [--port 8080] [--restart]`: a cluster on this machine for trying, until Ctrl-C. See `--help`. */
import { relative } from 'node:path';
import { ConfigError } from '../src/config.ts';
import { LocalCluster } from './cluster/local-cluster.ts';
import { type ClusterToolOptions, help, readEnvironment, readOptions, UsageError, usage } from './cluster/options.ts';

type Ending = { why: string; code: number };

process.exitCode = await main(process.argv.slice(2));
process.stdout.write('', () => process.exit());

async function main(args: string[]): Promise<number> {
  let options: ClusterToolOptions | 'help';
  try {
    options = readOptions(args, readEnvironment());
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n${error instanceof UsageError ? `Usage: ${usage}\n` : ''}`);
    return 2;
  }
  if (options === 'help') {
    process.stdout.write(help);
    return 0;
  }
  return runCluster(options);
}

async function runCluster(options: ClusterToolOptions): Promise<number> {
  const { config, nodes, port, restart, redisUrl, env } = options;
  const ending = new AbortController();
  let cluster: LocalCluster | null = null;
  let killing: Promise<never> | null = null;
  const end = (why: string, code: number) => ending.abort({ why, code } satisfies Ending);
  process.on('SIGINT', () => {
    if (!ending.signal.aborted) return end('Ctrl-C', 0);
    process.stderr.write('At once\n');
    if (cluster === null) process.exit(130);
    killing ??= cluster.kill().then(() => process.exit(130));
  });
  process.on('SIGTERM', () => end('SIGTERM', 0));
  process.on('SIGHUP', () => end('SIGHUP', 0));
  // The launcher (scripts/run.mjs) has ended without a signal: this command is no longer wanted.
  process.on('disconnect', () => end('the process that started this one has ended', 0));
  process.channel?.unref();

  process.stdout.write(`Starting ${nodes} node${nodes === 1 ? '' : 's'} on ${config.dataDir} ...\n`);
  const startedAtMs = performance.now();
  try {
    cluster = await LocalCluster.start({
      nodes,
      port,
      restart,
      redisUrl,
      env,
      host: config.host,
      dataDir: config.dataDir,
      databaseUrl: config.databaseUrl,
      signal: ending.signal,
      print: (line) => process.stdout.write(`${line}\n`),
      onLost: (why) => end(why, 1),
    });
  } catch (error) {
    if (ending.signal.aborted) return (ending.signal.reason as Ending).code;
    process.stderr.write(`${(error as Error).message}\n`);
    return 1;
  }
  process.stdout.write(await announcement(cluster, options, performance.now() - startedAtMs));
  await untilAborted(ending.signal);
  const { why, code } = ending.signal.reason as Ending;
  process.stdout.write(`Stopping (${why}); once more Ctrl-C: at once\n`);
  await cluster.stop();
  // Everything may have ended before the second Ctrl-C; then the first exit code counts.
  return killing ?? code;
}

async function announcement(
  { url, nodes, stores }: LocalCluster,
  { config, redisUrl }: ClusterToolOptions,
  tookMs: number,
): Promise<string> {
  const row = (name: string, pid: number, where: string) => `  ${name.padEnd(8)} pid ${String(pid).padEnd(8)} ${where}\n`;
  const rows = await Promise.all(nodes.map(async (node) => row(node.name, node.pid, await node.url)));
  if (stores.redisPid !== null) rows.push(row('redis', stores.redisPid, stores.redisUrl));
  const settings = [
    config.databaseUrl === null && relative('.data', config.dataDir) !== '' ? `DATA_DIR=${config.dataDir} ` : '',
    // Without both, DATA_DIR shows the cluster; with only this one it would not.
    config.databaseUrl !== null && redisUrl === null ? `REDIS_URL=${stores.redisUrl} ` : '',
  ].join('');
  const troupe = (command: string) => `${settings}npm run troupe -- ${command}`;
  const tries: [string, string][] = [
    ['who has which shards', troupe('cluster status --watch')],
    [`${nodes[0]!.name} dies, its work goes on elsewhere`, `kill -9 ${nodes[0]!.pid}`],
    ['a node leaves, and nobody notices', troupe(`cluster drain ${nodes.at(-1)!.name}`)],
    ['a task', troupe(`run "What stands out?" --file examples/sales.csv --url ${url}`)],
  ];
  const width = Math.max(...tries.map(([what]) => what.length));
  const summary = `${nodes.length} node${nodes.length === 1 ? '' : 's'}, up in ${(tookMs / 1_000).toFixed(1)} s`;
  return [
    `Troupe serves on ${url} (${summary})\n${rows.join('')}\nTry\n`,
    ...tries.map(([what, command]) => `  ${what.padEnd(width)}  ${command}\n`),
    '\nCtrl-C stops it in order, a second one at once; the data stays.\n',
  ].join('');
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })));
}
