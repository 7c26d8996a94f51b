/** Nodes that count requests together with a real Redis; a test sets its clock and can drop its answers. */
import { RedisConnection } from '../../../src/cluster/redis-connection.ts';
import { LeasedRates, type RateStore } from '../../../src/edge/limits/leased-rates.ts';
import { rateReplyOf, rateScript } from '../../../src/edge/limits/rate-script.ts';
import { noLog } from '../../../src/log.ts';

/** Each query sends the time to Redis. */
const handClock = '{math.floor(ask.nowUs / 1000000), ask.nowUs % 1000000}';

export type Way = {
  /** What becomes of the next questions. */
  manner: 'well' | 'answer lost' | 'away';
  /** Answers that have reached the node. */
  answers?: number;
};

export class SharedClock {
  /** Redis's clock, and that of every node, which began at another time. */
  us = 1_700_000_000_000_000;
}

/** A connection of the tests' own script; `end` it. */
export async function handStore(url: string): Promise<{ ask(caller: string, ask: object): ReturnType<RateStore['ask']>; end(): void }> {
  const redis = new RedisConnection({ url, name: 'limits-test', scripts: { troupe_rate: rateScript(handClock) }, numberOfKeys: 1 });
  await redis.connect(5_000);
  return {
    ask: async (caller, ask) => rateReplyOf(await redis.run('troupe_rate', [`rate:${caller}`], JSON.stringify(ask), 5_000)),
    end: () => redis.close(),
  };
}

/** @param store how queries get to Redis; `way` may lose them */
export function ratesNode(
  name: string,
  nodes: () => number,
  clock: SharedClock,
  way: Way,
  store: Awaited<ReturnType<typeof handStore>>,
): LeasedRates {
  return new LeasedRates({
    node: name,
    nodes,
    log: noLog,
    nowUs: () => clock.us - 1_600_000_000_000_000,
    clock: { nowMs: () => Math.floor(clock.us / 1_000) },
    store: {
      async ask(caller, ask) {
        if (way.manner === 'away') throw new Error('away');
        const reply = await store.ask(caller, { ...ask, nowUs: clock.us });
        if (way.manner === 'answer lost') throw new Error('lost');
        way.answers = (way.answers ?? 0) + 1;
        return reply;
      },
    },
  });
}
