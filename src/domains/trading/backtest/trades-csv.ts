/** The list of round trips as CSV. The same trades give the same bytes. */
import { barDate } from '../bars.ts';
import { money } from './curve.ts';
import type { Market } from './market.ts';
import { places } from './metrics.ts';
import type { TradeColumns } from './trade-log.ts';

const header = 'symbol,side,entry_date,exit_date,quantity,entry_price,exit_price,commission,profit\n';

/** In chunks of some thousand lines. A trade that is open at the end has an empty `exit_date`, and the last close as its exit price. */
export function* tradesCsv(trades: TradeColumns, { symbols, time }: Market, daily: boolean): Generator<Uint8Array> {
  yield Buffer.from(header);
  const linesAtOnce = 4_096;
  for (let from = 0; from < trades.count; from += linesAtOnce) {
    let lines = '';
    for (let i = from; i < Math.min(from + linesAtOnce, trades.count); i++) {
      const exit = trades.exitBar[i]!;
      const cells = [
        symbols[trades.symbol[i]!],
        trades.side[i] === 1 ? 'long' : 'short',
        barDate(time[trades.entryBar[i]!]!, daily),
        exit < 0 ? '' : barDate(time[exit]!, daily),
        decimal(trades.quantity[i]!),
        decimal(trades.entryPrice[i]!),
        decimal(trades.exitPrice[i]!),
        money(trades.commission[i]!),
        money(trades.profit[i]!),
      ];
      lines += `${cells.join(',')}\n`;
    }
    yield Buffer.from(lines);
  }
}

/** At most nine decimal places, without trailing zeros and never with an exponent. */
function decimal(value: number): string {
  const rounded = places(value, 9);
  if (Math.abs(rounded) >= 1e21) return String(BigInt(rounded));
  const text = rounded.toFixed(9);
  let end = text.length;
  while (text[end - 1] === '0') end--;
  return text.slice(0, text[end - 1] === '.' ? end - 1 : end);
}
