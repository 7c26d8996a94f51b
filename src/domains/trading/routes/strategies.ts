/** Strategies: created, read, changed and deleted; started and stopped. */
import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Clock } from '../../../clock.ts';
import type { Principal } from '../../../edge/auth/principal.ts';
import type { HttpRequest } from '../../../edge/http/message.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { AnyName } from '../../../edge/http/validate.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { modeNote } from '../../../edge/routes/mode.ts';
import { ownedInMode } from '../../../edge/routes/ownership.ts';
import { PageOf, PageQuery, page } from '../../../edge/routes/page.ts';
import { AppError, invalidField } from '../../../errors.ts';
import type { Compute } from '../../../providers/compute/port.ts';
import type { Database } from '../../../storage/database.ts';
import { tradingIds } from '../ids.ts';
import { symbolPattern } from '../market/symbol.ts';
import { checkedConfig, checkedSymbols } from '../strategy/check.ts';
import { type StrategyType, strategyTypes } from '../strategy/config.ts';
import { codeFault } from '../strategy/effects.ts';
import { Strategy, type StrategyRow } from '../strategy/entity.ts';
import { strategy } from '../strategy/messages.ts';
import { prepareStart, type StartParts } from '../strategy/run-start.ts';
import { StrategyView, strategyView } from './strategy-view.ts';

export type StrategyRouteParts = StartParts & { actors: ActorSystem; database: Database; compute: Compute; clock: Clock };

const base = '/trading/strategies';
const one = `${base}/{id}` as const;
/** Strategies of an account in one mode. Concurrent requests may exceed it by a few. */
const maxStrategies = 1_000;
const Name = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' });
const Symbols = Type.Array(Type.String({ maxLength: 32, pattern: symbolPattern }), {
  minItems: 1,
  maxItems: 100,
  examples: [['AAPL', 'MSFT']],
  description: 'Equities as `AAPL`, pairs of crypto as `BTC-USD`; each shares equally in the equity',
});
const Config = Type.Record(AnyName, Type.Unknown(), {
  examples: [{ lookback: 20 }],
  description:
    'momentum: {lookback}. mean_reversion: {lookback, z_entry, z_exit}. arbitrage: {pair: [A, B], lookback (20), z_entry, z_exit}. custom: {code, warm_up_bars}: JavaScript with `function onBar(bar, ctx)`, which returns the target weight from -1 to 1. All: {timeframe, capital} of runs',
});

export function strategyRoutes(parts: StrategyRouteParts): AnyRoute[] {
  const { actors, database, compute, clock } = parts;
  const list = route({
    method: 'GET',
    path: base,
    summary: 'List strategies, newest first',
    description: modeNote,
    scope: 'trading.read',
    query: PageQuery,
    responses: { 200: PageOf(StrategyView) },
    async handler({ principal: { accountId, mode }, query: { limit, offset } }) {
      const where = { accountId, mode, deletedAt: null };
      const [rows, total] = await database.listPage(accountId, Strategy, where, { limit, offset });
      const data = rows.map((row) => strategyView(row as StrategyRow));
      return answer(200, page(data, offset, total));
    },
  });

  const create = route({
    method: 'POST',
    path: base,
    summary: 'Create a strategy',
    description: `Paper, and stopped until it is started. An account has ${maxStrategies} at most (409).`,
    scope: 'trading.write',
    errors: [409],
    body: Type.Object({ name: Name, type: Type.Enum([...strategyTypes]), symbols: Symbols, config: Config }),
    responses: { 201: StrategyView },
    async handler(context) {
      const { principal, body } = context;
      const { accountId, mode } = principal;
      const symbols = checkedSymbols(body.symbols);
      const checked = await usable(principal, body.type, body.config, context.request);
      const { id, commandId } = commandIds(context, tradingIds.strategy, clock.nowMs());
      const others = { accountId, mode, deletedAt: null, id: { $ne: id } };
      if ((await database.list(accountId, (em) => em.count(Strategy, others))) >= maxStrategies)
        throw new AppError('conflict', `An account has ${maxStrategies} strategies at most: delete one`);
      const input = { accountId, mode, name: body.name, symbols, ...checked };
      return answer(201, strategyView(await actors.ask(strategy, id, 'create', input, { commandId })));
    },
  });

  const get = route({
    method: 'GET',
    path: one,
    summary: 'Get a strategy',
    extension: true,
    scope: 'trading.read',
    responses: { 200: StrategyView },
    async handler({ principal, params }) {
      return answer(200, strategyView(await own(principal, params.id)));
    },
  });

  const change = route({
    method: 'PATCH',
    path: one,
    summary: 'Change a strategy',
    description: 'Creates the next version. A run continues with the version with which it was started. `config` is replaced as a whole.',
    extension: true,
    scope: 'trading.write',
    errors: [409],
    body: Type.Object({ name: Type.Optional(Name), symbols: Type.Optional(Symbols), config: Type.Optional(Config) }),
    responses: { 200: StrategyView },
    async handler({ principal, params, request, body: { name, symbols, config } }) {
      const { id, type } = await own(principal, params.id);
      if (name === undefined && symbols === undefined && config === undefined) throw nothingToChange();
      const input = {
        ...(name !== undefined && { name }),
        ...(symbols !== undefined && { symbols: checkedSymbols(symbols) }),
        ...(config !== undefined && (await usable(principal, type, config, request))),
      };
      return answer(200, strategyView(await actors.ask(strategy, id, 'change', input)));
    },
  });

  const remove = route({
    method: 'DELETE',
    path: one,
    summary: 'Delete a strategy',
    description: 'A running strategy must be stopped first. Its backtests, orders and positions stay.',
    extension: true,
    scope: 'trading.write',
    errors: [409],
    responses: { 204: null },
    async handler({ principal, params }) {
      const { id } = await own(principal, params.id);
      await actors.ask(strategy, id, 'remove', null);
      return { status: 204 };
    },
  });

  const start = route({
    method: 'POST',
    path: `${one}/start`,
    summary: 'Start a strategy',
    description:
      'From the next bar on that is complete it decides after each bar, as in a backtest, and orders the difference between what its weights come to and what its own orders have made it hold. `live` is real money: it needs live trading in the settings, a live broker, and a completed backtest of this version, or `acknowledge`. The run keeps the version and the brokers that it was started with.',
    extension: true,
    scope: 'trading.write',
    errors: [402, 409],
    body: Type.Object(
      {
        mode: Type.Optional(Type.Enum(['paper', 'live'], { default: 'paper' })),
        broker_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'As of an order: a connection, or `embedded`' })),
        acknowledge: Type.Optional(Type.Boolean({ default: false, description: 'Real money without a backtest' })),
      },
      { examples: [{ mode: 'paper' }] },
    ),
    responses: { 200: StrategyView },
    async handler(context) {
      const { principal, body } = context;
      const row = await own(principal, context.params.id);
      const { mode = 'paper', broker_id: brokerId = null, acknowledge = false } = body;
      const input = await prepareStart(parts, principal, row, { mode, brokerId, acknowledge });
      const { commandId } = commandIds(context, tradingIds.strategy);
      return answer(200, strategyView(await actors.ask(strategy, row.id, 'start', input, { commandId })));
    },
  });

  const stop = route({
    method: 'POST',
    path: `${one}/stop`,
    summary: 'Stop a strategy',
    description: 'Its open orders are cancelled. Its holdings stay and belong to it again when it is started.',
    extension: true,
    scope: 'trading.write',
    responses: { 200: StrategyView },
    async handler(context) {
      const { id } = await own(context.principal, context.params.id);
      const { commandId } = commandIds(context, tradingIds.strategy);
      return answer(200, strategyView(await actors.ask(strategy, id, 'stop', null, { commandId })));
    },
  });

  return [list, create, get, change, remove, start, stop];

  /** The configuration; code in it was evaluated once. */
  async function usable({ accountId }: Principal, type: StrategyType, config: Record<string, unknown>, { signal }: HttpRequest) {
    const checked = checkedConfig(type, config);
    if (checked.strategy.type !== 'custom') return checked;
    const fault = await codeFault(compute, accountId, checked.strategy.config.code, signal);
    if (fault !== null) throw invalidField(['body', 'config', 'code'], fault);
    return checked;
  }

  async function own(principal: Principal, id: string): Promise<StrategyRow> {
    const row = id.startsWith(tradingIds.strategy) ? await actors.query(strategy, id, 'get', null) : null;
    return ownedInMode(principal, row, 'Strategy');
  }
}

function nothingToChange(): AppError {
  const msg = 'Give at least one of name, symbols and config';
  return new AppError('invalid', msg, { issues: [{ loc: ['body'], msg, type: 'value_error', input: {}, ctx: {} }] });
}
