/** Id prefixes of trading. */
export const tradingIds = {
  broker: 'brk_',
  strategy: 'stg_',
  position: 'pos_',
  order: 'ord_',
  fill: 'fil_',
  backtest: 'bkt_',
  sweep: 'swp_',
} as const;
