/** The API reference's chapter on trading, with examples. */
import { exampleId } from '../../edge/http/examples.ts';
import type { ReferencePart } from '../../edge/http/reference-part.ts';

export const tradingApi: ReferencePart = {
  chapters: [
    {
      name: 'Trading',
      paths: ['/trading'],
      description:
        'Quotes, orders, positions, brokers, strategies and backtests. Everything is paper unless live trading is on in the settings and the request says so. ' +
        'A test key trades in a paper account of its own, which begins with 100,000 USD.',
    },
  ],
  examples: {
    '/trading/backtests/{id}': exampleId('bkt_'),
    '/trading/orders/{id}': exampleId('ord_'),
    '/trading/brokers/{id}': exampleId('brk_'),
    'Broker.id': exampleId('brk_'),
    '/trading/strategies/{id}': exampleId('stg_'),
    '/trading/sweeps/{id}': exampleId('swp_'),
    'Backtest.id': exampleId('bkt_'),
    'BacktestSummary.id': exampleId('bkt_'),
    'Sweep.id': exampleId('swp_'),
    'SweepSummary.id': exampleId('swp_'),
    'Strategy.id': exampleId('stg_'),
    'Strategy.symbols': ['AAPL', 'MSFT'],
    'TradingOrder.id': exampleId('ord_'),
    'TradingOrder.client_order_id': 'rebalance-7',
    'TradingOrder.broker_order_id': '61e69015-8549-4bfd-b9c3-01e75843f47d',
    'TradingOrder.reject_reason': 'insufficient buying power',
    'TradingOrder.replaced_by': exampleId('ord_'),
    'TradingOrder.replaces': exampleId('ord_'),
    'TradingOrder.parent_id': exampleId('ord_'),
    'Fill.id': exampleId('fil_'),
    'Fill.order_id': exampleId('ord_'),
    'Fill.broker_fill_id': '20261120150001',
    'Position.id': exampleId('pos_'),
    'TradingAccount.cash': 98_989.9,
    'TradingAccount.equity': 99_999.8,
    broker_id: 'embedded',
    buying_power: 98_989.9,
    day_pnl: -0.2,
    symbol: 'AAPL',
  },
};
