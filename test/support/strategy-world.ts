/** Strategies that run on a real runtime with the embedded paper broker, on a market whose clock and prices the test sets; their bars are the embedded ones. */
import type { EffectDefinition } from '../../src/actors/define-actor.ts';
import { accountSettingsActor } from '../../src/domains/accounts/account-settings/account-settings.ts';
import { noConnections } from '../../src/domains/trading/brokers/choose-broker.ts';
import type { LocalMarket } from '../../src/domains/trading/market/local-market.ts';
import type { Prices } from '../../src/domains/trading/market/prices.ts';
import { TradingStats } from '../../src/domains/trading/metrics.ts';
import type { OrderEntryParts } from '../../src/domains/trading/orders/order-entry.ts';
import type { Strategy } from '../../src/domains/trading/strategy/config.ts';
import { strategyEffects } from '../../src/domains/trading/strategy/effects.ts';
import type { StrategyRow } from '../../src/domains/trading/strategy/entity.ts';
import { type StartRun, strategy } from '../../src/domains/trading/strategy/messages.ts';
import { prepareStart } from '../../src/domains/trading/strategy/run-start.ts';
import type { RunSettings } from '../../src/domains/trading/strategy/settings.ts';
import { strategyActor } from '../../src/domains/trading/strategy/strategy.ts';
import type { Principal } from '../../src/edge/auth/principal.ts';
import { newId } from '../../src/ids.ts';
import { inlineCompute } from '../../src/providers/compute/inline.ts';
import type { Compute } from '../../src/providers/compute/port.ts';
import { PaperAccount, paperActors } from './paper-account.ts';
import { type TestRuntime, testRuntime } from './runtime.ts';
import { ScriptedMarket } from './scripted-market.ts';

export type StrategyWorld = {
  runtime: TestRuntime;
  market: ScriptedMarket;
  /**
   * Called before and after each effect of a run (`who`: the strategy), and when it asks for a price (`who`: the account). A promise that never resolves holds
   * it there.
   */
  atStep: (step: string, who: string) => Promise<void>;
  /** The history of a broker's prices, for runs that are started with it. */
  barsOfBroker: NonNullable<Prices['barsOf']>;
  /** The brokers at which prices and bars were requested; null: at none in particular. */
  pricedAt: Set<string | null>;
  compute: Compute;
  account(): PaperAccount;
  create(account: PaperAccount, deciding: Strategy, symbols: string[], settings?: RunSettings): Promise<string>;
  start(account: PaperAccount, id: string, source?: 'broker'): Promise<StrategyRow>;
  /** The checks of a start, without the start. */
  prepare(account: PaperAccount, id: string): Promise<StartRun>;
  row(id: string): Promise<StrategyRow>;
  /** As `StrategyWatch` does; resolves when nothing goes on any more. */
  due(id: string): Promise<StrategyRow>;
  settled(id: string): Promise<StrategyRow>;
  stop(id: string): Promise<StrategyRow>;
};

export async function strategyWorld(now: string): Promise<StrategyWorld> {
  const market = new ScriptedMarket(now);
  const orderEntry: OrderEntryParts = {
    get actors() {
      return world.runtime.actors;
    },
    connections: noConnections,
    stats: new TradingStats(),
    prices: {
      async quoteOf({ accountId }, symbol, brokerKey) {
        world.pricedAt.add(brokerKey ?? null);
        await world.atStep(`price of ${symbol}`, accountId);
        return market.quoteNow(symbol);
      },
      async barsOf(...given) {
        world.pricedAt.add(given[2] ?? null);
        return world.barsOfBroker(...given);
      },
    },
  };
  const parts = {
    get database() {
      return world.runtime.database;
    },
    compute: { run: (job, input, options) => world.compute.run(job, input, options) } as Compute,
    market: { clock: market.clock, ready: Promise.resolve() },
    orderEntry,
  };
  const watched = ([name, effect]: [string, EffectDefinition]): [string, EffectDefinition] => {
    const run: EffectDefinition['run'] = async (input, context) => {
      await world.atStep(`before ${name}`, context.actorId);
      const value = await effect.run(input, context);
      await world.atStep(`after ${name}`, context.actorId);
      return value;
    };
    return [name, { ...effect, run }];
  };
  const effects = Object.fromEntries(Object.entries(strategyEffects(parts) as Record<string, EffectDefinition>).map(watched));
  const world: StrategyWorld = {
    runtime: await testRuntime([...paperActors(market), accountSettingsActor, strategyActor(effects as never)], { suspectPauseMs: 0 }),
    market,
    atStep: async () => {},
    barsOfBroker: async () => 'own',
    pricedAt: new Set(),
    compute: inlineCompute,
    account: () => new PaperAccount(world.runtime, market),
    async create({ accountId }, deciding, symbols, settings = {}) {
      const id = newId('stg_', accountId);
      const input = { accountId, mode: 'live', name: 'One', strategy: deciding, symbols, settings } as const;
      await world.runtime.actors.ask(strategy, id, 'create', input);
      return id;
    },
    async start(_account, id, source) {
      const { version } = await world.row(id);
      const brokers = { equity: 'embedded', crypto: 'embedded' };
      const input = {
        orderMode: 'paper',
        version,
        nowMs: market.clock.nowMs(),
        brokers,
        equity: 100_000,
        ...(source && { source }),
      } as const;
      return world.runtime.actors.ask(strategy, id, 'start', input);
    },
    async prepare({ accountId }, id) {
      const principal = { accountId, mode: 'live' } as Principal;
      const request = { mode: 'paper', brokerId: null, acknowledge: false } as const;
      return prepareStart({ ...parts, market: parts.market as LocalMarket }, principal, await world.row(id), request);
    },
    row: async (id) => (await world.runtime.actors.query(strategy, id, 'get', null))!,
    async due(id) {
      await world.runtime.actors.ask(strategy, id, 'due', { nowMs: market.clock.nowMs() });
      return world.settled(id);
    },
    async settled(id) {
      // Code of callers is run in processes of its own, which take long on a busy machine.
      for (const deadlineMs = performance.now() + 90_000; performance.now() < deadlineMs; ) {
        // A node that has just begun may not answer at once.
        const row = await world.row(id).catch(() => null);
        if (row !== null && (row.status !== 'running' || row.dueAt !== null) && row.run?.stage.at !== 'placing') {
          const nowMs = row.run?.stage.at.endsWith(' again') ? row.dueAt : null;
          if (row.status !== 'running' || nowMs === null) return row;
          // A step that failed on a busy machine is repeated, at the market's present time.
          await world.runtime.actors.ask(strategy, id, 'due', { nowMs }).catch(() => {});
        }
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      throw new Error(`The run of ${id} does not come to rest: ${JSON.stringify(await world.row(id))}`);
    },
    async stop(id) {
      return world.runtime.actors.ask(strategy, id, 'stop', null);
    },
  };
  return world;
}
