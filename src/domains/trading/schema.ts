/** The tables of trading. */
import type { Schema } from '../../storage/schema.ts';
import { Backtest } from './backtest/entity.ts';
import { ConnectedBroker } from './brokers/connection/entity.ts';
import { ClientOrder } from './client-order/entity.ts';
import { TradingAccounts } from './migrations/0034-trading-accounts.ts';
import { Brokers } from './migrations/0035-brokers.ts';
import { Backtests } from './migrations/0036-backtests.ts';
import { Strategies } from './migrations/0037-strategies.ts';
import { RoomForUpdates } from './migrations/0045-room-for-updates.ts';
import { Strategy, StrategyVersion } from './strategy/entity.ts';
import { Sweep } from './sweep/entity.ts';
import { TradingAccount, TradingEntry } from './trading-account/entity.ts';
import { TradingFill, TradingOrder } from './trading-order/entity.ts';

export const tradingSchema: Schema = {
  entities: [
    TradingAccount,
    TradingEntry,
    TradingOrder,
    TradingFill,
    ClientOrder,
    ConnectedBroker,
    Strategy,
    StrategyVersion,
    Backtest,
    Sweep,
  ],
  migrations: [TradingAccounts, Brokers, Backtests, Strategies, RoomForUpdates],
};
