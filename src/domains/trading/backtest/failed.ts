/** A backtest cannot be completed, for a reason that its caller sees. */
export class BacktestFailed extends Error {
  override name = 'BacktestFailed';
}
