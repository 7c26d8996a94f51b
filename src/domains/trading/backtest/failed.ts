/** A backtest cannot be completed, for a reason that its caller is told. */
export class BacktestFailed extends Error {
  override name = 'BacktestFailed';
}
