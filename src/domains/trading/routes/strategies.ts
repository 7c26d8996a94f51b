/** Strategies: made, read, changed and deleted. */
import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Clock } from '../../../clock.ts';
import type { Principal } from '../../../edge/auth/principal.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { modeNote } from '../../../edge/routes/mode.ts';
import { ownedInMode } from '../../../edge/routes/ownership.ts';
import { PageOf, PageQuery, page } from '../../../edge/routes/page.ts';
import { AppError } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';
import { tradingIds } from '../ids.ts';
import { symbolPattern } from '../market/symbol.ts';
import { checkedConfig, checkedSymbols } from '../strategy/check.ts';
import { strategyTypes } from '../strategy/config.ts';
import { Strategy, type StrategyRow } from '../strategy/entity.ts';
import { strategy } from '../strategy/messages.ts';
import { StrategyView, strategyView } from './strategy-view.ts';

export type StrategyRouteParts = { actors: ActorSystem; database: Database; clock: Clock };

const base = '/trading/strategies';
const one = `${base}/{id}` as const;
const Name = Type.String({ minLength: 1, maxLength: 200 });
const Symbols = Type.Array(Type.String({ maxLength: 32, pattern: symbolPattern }), {
  minItems: 1,
  maxItems: 100,
  examples: [['AAPL', 'MSFT']],
  description: 'Equities as `AAPL`, pairs of crypto as `BTC-USD`; each shares equally in the equity',
});
const Config = Type.Record(Type.String(), Type.Unknown(), {
  examples: [{ lookback: 20 }],
  description:
    'momentum: {lookback}. mean_reversion: {lookback, z_entry, z_exit}. arbitrage: {pair: [A, B], lookback (20), z_entry, z_exit}. custom: {code, warm_up_bars}: JavaScript with `function onBar(bar, ctx)`, which returns the target weight from -1 to 1. All: {timeframe, capital} of runs',
});

export function strategyRoutes({ actors, database, clock }: StrategyRouteParts): AnyRoute[] {
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
      const [rows, total] = await database.list(accountId, (em) =>
        em.findAndCount(Strategy, where, { orderBy: { createdAt: 'desc', id: 'desc' }, limit, offset, disableIdentityMap: true }),
      );
      const data = rows.map((row) => strategyView(row as StrategyRow));
      return answer(200, page(data, offset, total));
    },
  });

  const create = route({
    method: 'POST',
    path: base,
    summary: 'Make a strategy',
    description: 'Paper, and stopped until it is started.',
    scope: 'trading.write',
    body: Type.Object({ name: Name, type: Type.Enum([...strategyTypes]), symbols: Symbols, config: Config }),
    responses: { 201: StrategyView },
    async handler(context) {
      const { principal, body } = context;
      const { accountId, mode } = principal;
      const symbols = checkedSymbols(body.symbols);
      const checked = checkedConfig(body.type, body.config);
      const { id, commandId } = commandIds(context, tradingIds.strategy, clock.nowMs());
      const input = { accountId, mode, name: body.name, symbols, ...checked };
      return answer(201, strategyView(await actors.ask(strategy, id, 'create', input, { commandId })));
    },
  });

  const get = route({
    method: 'GET',
    path: one,
    summary: 'Look at a strategy',
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
    description: 'Makes its next version. What runs goes on with the version it was started with. `config` is replaced as a whole.',
    extension: true,
    scope: 'trading.write',
    errors: [409],
    body: Type.Object({ name: Type.Optional(Name), symbols: Type.Optional(Symbols), config: Type.Optional(Config) }),
    responses: { 200: StrategyView },
    async handler({ principal, params, body: { name, symbols, config } }) {
      const { id, type } = await own(principal, params.id);
      if (name === undefined && symbols === undefined && config === undefined) throw nothingToChange();
      const input = {
        ...(name !== undefined && { name }),
        ...(symbols !== undefined && { symbols: checkedSymbols(symbols) }),
        ...(config !== undefined && checkedConfig(type, config)),
      };
      return answer(200, strategyView(await actors.ask(strategy, id, 'change', input)));
    },
  });

  const remove = route({
    method: 'DELETE',
    path: one,
    summary: 'Delete a strategy',
    description: 'One that runs has to be stopped before. Its backtests, orders and positions stay.',
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

  return [list, create, get, change, remove];

  async function own(principal: Principal, id: string): Promise<StrategyRow> {
    const row = id.startsWith(tradingIds.strategy) ? await actors.query(strategy, id, 'get', null) : null;
    return ownedInMode(principal, row, 'Strategy');
  }
}

function nothingToChange(): AppError {
  const msg = 'Give at least one of name, symbols and config';
  return new AppError('invalid', msg, { issues: [{ loc: ['body'], msg, type: 'value_error', input: {}, ctx: {} }] });
}
