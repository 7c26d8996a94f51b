/** The process of one node: its configuration, its signals, its start and stop. */
import { ConfigError, readConfig } from './config.ts';
import { createLog, type Log, logConsole } from './log.ts';
import { secretsOf } from './log-secrets.ts';
import type { Disposers } from './node/disposers.ts';
import { domains } from './node/domains.ts';
import { startNode } from './node/node.ts';
import { productOf } from './node/product.ts';
import { startWithRetries } from './node/start-retry.ts';

/** Stops the started parts in reverse order. A part that fails to stop does not prevent the others from stopping. */
async function disposeAll(disposers: Disposers, graceMs: number, log: Log): Promise<void> {
  for (let stop = disposers.pop(); stop !== undefined; stop = disposers.pop()) {
    try {
      await stop(graceMs);
    } catch (err) {
      log.error({ err }, 'a part of the service did not stop cleanly');
    }
  }
}

async function main(): Promise<void> {
  const config = readConfig();
  const log = createLog(config.logLevel, { node: config.nodeName }, { secrets: secretsOf(config) });
  logConsole(log);
  const disposers: Disposers = [];
  let stopping: Promise<void> | null = null;
  const stop = (why: string, graceMs: number, code = 0): void => {
    if (stopping !== null) return;
    log.info({ why }, 'stopping');
    stopping = disposeAll(disposers, graceMs, log).then(() => process.exit(code));
  };
  // Its state in memory may be stale: a new process has none, and is refused while the other node runs.
  const takenOver = ({ message }: Error): void => {
    process.stderr.write(`${message}\n`);
    stop('another node has the database', 0, 1);
  };
  // Ctrl-C is sent by a waiting user; SIGTERM by an orchestrator whose balancers must notice that the node leaves.
  process.on('SIGINT', () => stop('SIGINT', 0));
  process.on('SIGTERM', () => stop('SIGTERM', config.drainGraceMs));
  // The launcher (scripts/run.mjs) has ended: this process is no longer needed.
  process.on('disconnect', () => stop('the process that started this one has ended', 0));
  process.channel?.unref();
  process.on('unhandledRejection', (err) => log.error({ err }, 'unhandled promise rejection'));
  const start = () =>
    startNode(productOf(domains), config, log, disposers, () => stop('an operator asked for it', config.drainGraceMs), takenOver);
  try {
    const { address } = await startWithRetries({
      start,
      undo: () => disposeAll(disposers, 0, log),
      log,
      isWanted: () => stopping === null,
      // The embedded PostgreSQL is started by this process itself.
      ...(config.databaseUrl === null && { retryForMs: 0 }),
    });
    if (stopping === null) announce(address);
  } catch (error) {
    if (stopping === null) throw error;
  }
}

function announce(address: string): void {
  process.stdout.write(
    `Troupe serves on ${address}\n  API reference  ${address}/docs\n  Try it         npm run troupe -- run "Analyse sales.csv and tell me what stands out" --file examples/sales.csv\n`,
  );
}

main().catch((error: Error) => {
  const known = error instanceof ConfigError || error.name === 'Error' || error.name === 'AppError';
  process.stderr.write(`${known ? error.message : (error.stack ?? error.message)}\n`);
  process.exit(1);
});
