/**
 * One connection to Redis that reconnects by itself, and runs scripts on it. Nothing waits for Redis: while it is unavailable a script
 * fails at once. An answer may take up to `silenceMs`; after that the connection counts as broken and is reopened.
 *
 * With Sentinels, the primary is looked up through them at each connect; Sentinels close the connections of a primary that became a
 * replica. In a Redis Cluster a script runs on the node of its keys: all keys of a script have one hash tag, so they are in one slot.
 */

import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { backoffMs } from '../backoff.ts';
import { AppError } from '../errors.ts';
import { parseRedisUrl, type RedisAddress, redisHost } from '../redis-url.ts';
import { whenRunningFor } from '../within.ts';

/** Without any answer for this time the connection is dead. Longer than a slow Redis takes, because a new connection would not be faster. */
const responseTimeoutMs = 5_000;
const connectTimeoutMs = 1_000;
const firstRetryMs = 50;
/** How soon a new primary of a Redis Cluster is detected without a redirect. */
const slotsRefreshMs = 1_000;
/** Redirects from an old primary of a Redis Cluster to the new one; a script that is redirected more often fails, and is sent again. */
const maxRedirections = 4;

export type RedisConnectionOptions = {
  url: string;
  /** The connection's name in Redis's list of clients. */
  name: string;
  /** Lua texts by name, all with the same number of keys. */
  scripts: Readonly<Record<string, string>>;
  numberOfKeys: number;
  /** Longest pause between two tries to connect. Default 500 ms. */
  maxRetryPauseMs?: number;
};

type Runner = (...args: (string | number)[]) => Promise<unknown>;

export class RedisConnection {
  /** Hosts and ports: the part that messages may contain. */
  readonly host: string;
  private readonly redis: Redis | Cluster;
  private lastError: string | null = null;
  /** Our own timer: that of ioredis runs on after a refresh during which the connection was closed. */
  private slotsRefresh: NodeJS.Timeout | undefined;

  constructor({ url, name, scripts, numberOfKeys, maxRetryPauseMs = 500 }: RedisConnectionOptions) {
    const address = parseRedisUrl(url);
    this.host = redisHost(address);
    const retryMs = (attempt: number) => backoffMs(attempt, firstRetryMs, maxRetryPauseMs) * (0.5 + Math.random() / 2);
    this.redis = clientOf(address, name, retryMs);
    for (const [script, lua] of Object.entries(scripts)) this.redis.defineCommand(script, { lua, numberOfKeys });
    // The error of each Sentinel or cluster node is kept, because the final error only reports that all of them failed.
    for (const event of ['sentinelError', 'node error']) this.redis.on(event, (error: Error) => (this.lastError = errorText(error)));
    this.redis.on('error', (error) => {
      if (this.lastError === null || !error.message.startsWith('All sentinels')) this.lastError = errorText(error);
    });
    this.redis.on('ready', () => (this.lastError = null));
  }

  /** The text of the last error, without secrets; null while connected. */
  get connectionError(): string | null {
    return this.redis.status === 'ready' ? null : (this.lastError ?? 'the connection broke');
  }

  /**
   * Resolves when Redis answers. Rejects with one line for the operator if it does not within `withinMs`, and at once if it refuses the
   * credentials.
   */
  async connect(withinMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        timer = setTimeout(reject, withinMs);
        this.redis.once('ready', resolve);
        this.redis.on('error', (error) => isRefusal(error) && reject());
        this.redis.connect().catch(() => {});
      });
      const { redis } = this;
      if (redis instanceof Cluster)
        this.slotsRefresh = setInterval(() => redis.status === 'ready' && redis.refreshSlotsCache(), slotsRefreshMs).unref();
    } catch {
      const why = this.lastError ?? `no answer within ${withinMs / 1_000} s`;
      this.close();
      throw new AppError('unavailable', `Redis at ${this.host} cannot be used (${why}): check REDIS_URL`);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Runs a script. Rejects `unavailable` when Redis is unavailable, does not answer, or refused it; the script may have run. With `timeoutMs` also
   * when the answer takes longer.
   */
  async run(script: string, keys: readonly string[], argument: string, timeoutMs = responseTimeoutMs): Promise<unknown> {
    let cancel = () => {};
    try {
      const runner = (this.redis as unknown as Record<string, Runner>)[script]!;
      const late = new Promise<never>((_, reject) => {
        cancel = whenRunningFor(timeoutMs, () => reject(new Error(`no answer within ${timeoutMs} ms`)));
      });
      return await Promise.race([runner.call(this.redis, ...keys, argument), late]);
    } catch (error) {
      // Without a cause: errors of Redis contain the command, and a command may contain the password.
      const why = (this.redis.status === 'ready' ? null : this.lastError) ?? errorText(error as Error);
      throw new AppError('unavailable', `Redis at ${this.host} does not answer (${why})`);
    } finally {
      cancel();
    }
  }

  close(): void {
    clearInterval(this.slotsRefresh);
    this.redis.disconnect();
  }
}

function clientOf(address: RedisAddress, connectionName: string, retryMs: (attempt: number) => number): Redis | Cluster {
  const options = {
    connectionName,
    connectTimeout: connectTimeoutMs,
    socketTimeout: responseTimeoutMs,
    keepAlive: 5_000,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  } satisfies RedisOptions;
  const alone = {
    ...options,
    lazyConnect: true,
    enableOfflineQueue: false,
    retryStrategy: retryMs,
    // The primary has become a replica: the name may now lead to the new primary.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  } satisfies RedisOptions;
  if (address.kind === 'single') return new Redis(address.url, alone);
  const { username, password, tls, hosts } = address;
  const login = { ...(username !== null && { username }), ...(password !== null && { password }) };
  if (address.kind === 'sentinel') {
    const { primary, db, sentinelUsername, sentinelPassword } = address;
    return new Redis({
      ...alone,
      ...login,
      db,
      name: primary,
      sentinels: hosts,
      ...(sentinelUsername !== null && { sentinelUsername }),
      ...(sentinelPassword !== null && { sentinelPassword }),
      sentinelRetryStrategy: retryMs,
      sentinelCommandTimeout: connectTimeoutMs,
      ...(tls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
    });
  }
  return new Cluster(hosts, {
    lazyConnect: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: retryMs,
    slotsRefreshTimeout: connectTimeoutMs,
    maxRedirections,
    // A command that cannot be sent now fails at once; its caller tries again.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: 0,
    // Certificates name hosts, not addresses.
    ...(tls && { dnsLookup: (host: string, found: (error: null, address: string) => void) => found(null, host) }),
    redisOptions: { ...options, ...login, ...(tls && { tls: {} }) },
  });
}

/** Redis was reached and refused, e.g. the password: a retry would not help. */
function isRefusal(error: Error): boolean {
  const cause = (error as { lastNodeError?: Error }).lastNodeError ?? error;
  return cause.name === 'ReplyError' && !/^(LOADING|CLUSTERDOWN|MASTERDOWN|TRYAGAIN)/.test(cause.message);
}

/** The error's message; some have only a code, e.g. after several addresses of a host were tried. */
function errorText(given: Error): string {
  const error = (given as { lastNodeError?: Error }).lastNodeError ?? given;
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}
