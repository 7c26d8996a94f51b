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
    '/trading/strategies/{id}': exampleId('stg_'),
    '/trading/sweeps/{id}': exampleId('swp_'),
    'Backtest.id': exampleId('bkt_'),
    'BacktestSummary.id': exampleId('bkt_'),
    'Sweep.id': exampleId('swp_'),
    'SweepSummary.id': exampleId('swp_'),
    'Strategy.id': exampleId('stg_'),
    'Strategy.symbols': ['AAPL', 'MSFT'],
  },
};
