/**
 * One connection to Redis that comes back by itself, and runs scripts on it. Nothing waits for Redis: while it is away a script fails at
 * once. An answer may be slow, up to `silenceMs`; after that the connection is taken for broken and made anew.
 */
import { Redis } from 'ioredis';
import { AppError } from '../errors.ts';

/** No answer at all for so long: nobody is there any more. Longer than a slow Redis takes, as a new connection would be no faster. */
const silenceMs = 5_000;
const connectTimeoutMs = 1_000;
const firstRetryMs = 50;

export type RedisConnectionOptions = {
  url: string;
  /** What the connection is called in Redis's own list. */
  name: string;
  /** Lua texts by name, all with the same number of keys. */
  scripts: Readonly<Record<string, string>>;
  numberOfKeys: number;
  /** Between two tries to connect. Default 500. */
  longestRetryMs?: number;
};

type Runner = (...args: (string | number)[]) => Promise<unknown>;

export class RedisConnection {
  /** Host and port: what may stand in messages. */
  readonly host: string;
  private readonly redis: Redis;
  private lastTrouble: string | null = null;

  constructor({ url, name, scripts, numberOfKeys, longestRetryMs = 500 }: RedisConnectionOptions) {
    this.host = new URL(url).host;
    this.redis = new Redis(url, {
      lazyConnect: true,
      connectionName: name,
      connectTimeout: connectTimeoutMs,
      socketTimeout: silenceMs,
      keepAlive: 5_000,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (attempt) => Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(attempt, 10)) * (0.5 + Math.random() / 2),
      // A primary that became a replica: the name may lead to the new primary by now.
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
    });
    for (const [script, lua] of Object.entries(scripts)) this.redis.defineCommand(script, { lua, numberOfKeys });
    this.redis.on('error', (error) => (this.lastTrouble = wordsOf(error)));
    this.redis.on('ready', () => (this.lastTrouble = null));
  }

  /** What was wrong last, in words without secrets; null while the connection stands. */
  get trouble(): string | null {
    return this.redis.status === 'ready' ? null : (this.lastTrouble ?? 'the connection broke');
  }

  /** Resolves when Redis answers. Rejects with one line for people when it does not within `withinMs`, and at once when it refuses us. */
  async connect(withinMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        timer = setTimeout(reject, withinMs);
        this.redis.once('ready', resolve);
        // It was reached and said no, e.g. to the password: that stays so.
        this.redis.on('error', (error) => error.name === 'ReplyError' && !error.message.startsWith('LOADING') && reject());
        this.redis.connect().catch(() => {});
      });
    } catch {
      const why = this.lastTrouble ?? `no answer within ${withinMs / 1_000} s`;
      this.close();
      throw new AppError('unavailable', `Redis at ${this.host} cannot be used (${why}): check REDIS_URL`);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Runs a script. Rejects `unavailable` when Redis is away or silent, or refused it; the script may have run. With `timeoutMs` also when the
   * answer takes longer.
   */
  async run(script: string, keys: readonly string[], argument: string, timeoutMs = silenceMs): Promise<unknown> {
    let timer: NodeJS.Timeout | undefined;
    try {
      const runner = (this.redis as unknown as Record<string, Runner>)[script]!;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
      });
      return await Promise.race([runner.call(this.redis, ...keys, argument), late]);
    } catch (error) {
      // Without a cause: errors of Redis carry the command, and a command may carry the password.
      throw new AppError('unavailable', `Redis at ${this.host} does not answer (${this.lastTrouble ?? wordsOf(error as Error)})`);
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.redis.disconnect();
  }
}

/** Its message; some have none but a code, as where several addresses of a host were tried. */
function wordsOf(error: Error): string {
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}
