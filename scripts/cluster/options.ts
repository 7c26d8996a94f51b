/** The options of `npm run cluster`: its arguments, and the environment of the service. */
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Config, loadConfig } from '../../src/config.ts';

export type ClusterToolOptions = {
  nodes: number;
  port: number;
  restart: boolean;
  config: Config;
  redisUrl: string | null;
  /** The part of the environment that nodes get. */
  env: Record<string, string | undefined>;
};

/** Reported on one line, with the usage. */
export class UsageError extends Error {}

export const usage = 'npm run cluster -- [--nodes 3] [--port 8080] [--restart]';

export const help = `Usage: ${usage}

A cluster on this machine for trying: nodes behind one port, with Redis and PostgreSQL.

  --nodes N    how many nodes, 1 to 20 (default 3)
  --port P     where the cluster is reached (default PORT, else 8080; 0: any free one)
  --restart    when a node dies, or the Redis, start it again

It uses the Redis of REDIS_URL and the PostgreSQL of DATABASE_URL. Without them it starts its own with their data in DATA_DIR:
PostgreSQL from the service's packages, Redis from a redis-server on the PATH or from the Debian package, unpacked without root.
All other settings are passed on to the nodes. Ctrl-C stops it in order, a second one at once; the data stays.
`;

const maxNodes = 20;
/** Set by the nodes or the tool: one value for all would be wrong. */
const ownOfNodes = [
  ...['PORT', 'HOST', 'DATA_DIR', 'NODE_NAME', 'ROLES', 'CLUSTER_HOST', 'CLUSTER_PORT', 'CLUSTER_ANNOUNCE', 'ADMIN_PORT'],
  ...['REDIS_URL', 'DATABASE_URL'],
];

/** Throws `UsageError`, or `ConfigError` for an invalid variable. 'help' if help was requested. */
export function readOptions(args: string[], environment: Record<string, string | undefined>): ClusterToolOptions | 'help' {
  const { nodes, port, restart, help } = parsed(args);
  if (help) return 'help';
  const given = { ...environment };
  for (const name of Object.keys(given)) if (given[name]?.trim() === '') delete given[name];
  // A node with only REDIS_URL is refused, because it would have no shared database; here one is started.
  const made = { DATABASE_URL: 'postgres://made' };
  const redisUrl = given.REDIS_URL === undefined ? null : loadConfig({ ...made, REDIS_URL: given.REDIS_URL }).redisUrl;
  const config = loadConfig({ ...given, REDIS_URL: undefined, ROLES: undefined });
  const env = { ...given };
  for (const name of ownOfNodes) delete env[name];
  return {
    nodes: wholeNumber('--nodes', nodes, 1, maxNodes) ?? 3,
    port: wholeNumber('--port', port, 0, 65_535) ?? config.port,
    restart: restart ?? false,
    config,
    redisUrl,
    env,
  };
}

/** As the service reads it: the environment, with additions from a `.env` file in the current folder. */
export function readEnvironment(): Record<string, string | undefined> {
  if (existsSync('.env')) process.loadEnvFile('.env');
  return process.env;
}

function parsed(args: string[]) {
  try {
    return parseArgs({
      args,
      options: { nodes: { type: 'string' }, port: { type: 'string' }, restart: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]);
  }
}

function wholeNumber(name: string, text: string | undefined, minimum: number, maximum: number): number | null {
  if (text === undefined) return null;
  const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  throw new UsageError(`${name} must be a whole number from ${minimum} to ${maximum}`);
}
