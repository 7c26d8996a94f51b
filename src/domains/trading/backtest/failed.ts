/** A backtest cannot be completed; the caller sees the reason. */
export class BacktestFailed extends Error {
  override name = 'BacktestFailed';
}
