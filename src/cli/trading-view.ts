/** What `troupe trading` prints of an account, of orders, of a halt and of the books. */
import type { Finding } from '../storage/ledger-check.ts';
import type { TradingFigures, TradingReading } from '../storage/trading-check.ts';
import { oneLine } from './plain-text.ts';

export type AccountView = {
  broker_id: string;
  mode: string;
  cash: number;
  equity: number;
  buying_power: number;
  day_pnl: number;
  max_position_size: number;
  daily_loss_limit: number;
  blocked_until: string | null;
  halted: boolean;
  at: string;
};
export type OrderView = {
  id: string;
  symbol: string;
  side: string;
  quantity: number;
  filled_quantity: number;
  filled_avg_price: number | null;
  order_type: string;
  limit_price: number | null;
  stop_price: number | null;
  status: string;
  mode: string;
  broker_name: string;
  unknown_outcome: boolean;
  reject_reason: string | null;
  created_at: string;
};
export type HaltView = { halted: boolean; halted_at: string; cancelled: string[]; not_cancelled: { id: string; reason: string }[] };

export function accountText(account: AccountView): string {
  const { mode, broker_id: broker, cash, equity, buying_power: power, day_pnl: pnl, blocked_until: blocked, at } = account;
  const state = account.halted ? 'halted' : blocked === null ? 'open' : `blocked until ${oneLine(blocked)}`;
  const lines: [string, string][] = [
    ['trading', state],
    ['cash', dollars(cash)],
    ['equity', dollars(equity)],
    ['buying power', dollars(power)],
    ["the day's result", `${dollars(pnl)} of ${dollars(-account.daily_loss_limit)}`],
    ['largest position', dollars(account.max_position_size)],
    ['prices of', oneLine(at)],
  ];
  return `${oneLine(mode).toUpperCase()}  ${oneLine(broker)}\n${lines.map(([name, value]) => `  ${name.padEnd(18)}${value}\n`).join('')}`;
}

export function orderText(order: OrderView): string {
  const { id, symbol, side, quantity, filled_quantity: filled, filled_avg_price: average, order_type: type, status, mode } = order;
  const prices = [
    order.stop_price === null ? '' : ` stop ${order.stop_price}`,
    order.limit_price === null ? '' : ` limit ${order.limit_price}`,
  ];
  const part = filled > 0 ? `, ${filled} filled at ${average}` : '';
  const notes = [order.unknown_outcome ? 'outcome unknown' : null, order.reject_reason].filter((note) => note !== null);
  const note = notes.length === 0 ? '' : ` (${notes.join('; ')})`;
  const what = `${side} ${quantity} ${symbol} ${type}${prices.join('')}`;
  return oneLine(`${order.created_at} ${id} ${mode.toUpperCase()} ${order.broker_name}: ${what}, ${status}${part}${note}`, 400);
}

export function haltText({ halted_at: at, cancelled, not_cancelled: left }: HaltView): string {
  const ids = cancelled.length === 0 ? '' : `: ${cancelled.map((id) => oneLine(id)).join(', ')}`;
  const rest = left.map(({ id, reason }) => `  not cancelled: ${oneLine(id)} (${oneLine(reason)})\n`).join('');
  return `Trading is halted since ${oneLine(at)}. ${cancelled.length} orders cancelled${ids}\n${rest}`;
}

export function booksText({ live, test, findings, leftOut, notices }: TradingReading): string {
  const linesOf = (found: readonly Finding[]) =>
    found.map(
      ({ check, accountId, mode, about }) => `  ${accountId ?? '-'}${mode === 'test' ? ' (test)' : ''}  ${oneLine(about)} (${check})\n`,
    );
  const noted = notices.length === 0 ? '' : `Notices:\n${linesOf(notices).join('')}`;
  const apart = `${test.accounts > 0 ? `Test mode: ${figuresText(test)}\n` : ''}${noted}`;
  if (findings.length === 0) return `The trading books are correct: ${figuresText(live)}\n${apart}`;
  const lines = linesOf(findings);
  const more = leftOut.map(({ check, count }) => `  … and ${count} more (${check})\n`);
  return `The trading books have errors: ${figuresText(live)}\n${apart}${lines.join('')}${more.join('')}`;
}

export function booksJson({ live, test, findings, leftOut, notices }: TradingReading) {
  const figures = ({ openOrders, ...counts }: TradingFigures) => ({ ...counts, open_orders: openOrders });
  const view = (found: readonly Finding[]) =>
    found.map(({ check, accountId, mode, about }) => ({ check, account_id: accountId, mode, about }));
  return {
    ok: findings.length === 0,
    ...figures(live),
    test: figures(test),
    findings: view(findings),
    left_out: leftOut,
    notices: view(notices),
  };
}

function figuresText({ accounts, orders, openOrders, fills }: TradingFigures): string {
  return `${accounts} accounts, ${orders} orders, ${openOrders} of them open, ${fills} fills`;
}

function dollars(amount: number): string {
  return `${amount.toFixed(2)} USD`;
}
