/** Orders to their fill, beside durable commands of single actors; bars that backtests go through a second, beside the least loop that could do the like. */
import type { BuiltInStrategy } from '../src/domains/trading/strategy/config.ts';
import { benchBesideBacktests } from './beside-backtests.ts';
import { alternate, type Slice } from './support/alternate.ts';
import type { BarsLoad } from './support/bars-load.ts';
import type { Driven } from './support/drive.ts';
import { Program } from './support/program.ts';
import { makeRow, type Row } from './support/row.ts';
import type { Surroundings } from './support/surroundings.ts';

const momentum = (lookback: number): BuiltInStrategy => ({ type: 'momentum', config: { lookback } });
const reversion: BuiltInStrategy = { type: 'mean_reversion', config: { lookback: 20, z_entry: 1.5, z_exit: 0.5 } };
const loads: { row: string; load: BarsLoad; strategy: BuiltInStrategy; together: boolean; reach: boolean }[] = [
  { row: 'momentum, a year of minutes', load: 'minutes', strategy: momentum(20), together: false, reach: true },
  { row: 'momentum, 10 years of days × 100 symbols', load: 'days', strategy: momentum(20), together: false, reach: true },
  { row: 'momentum, the same as one portfolio', load: 'days', strategy: momentum(20), together: true, reach: false },
  { row: 'mean reversion, a year of minutes', load: 'minutes', strategy: reversion, together: false, reach: false },
  { row: 'momentum, an order at every bar', load: 'dense', strategy: momentum(1), together: false, reach: false },
];
const least = { builtIn: 10e6, custom: 0.5e6 };
/** The built-in momentum of 20 bars, as a caller would write it. */
const code = `const past = new Array(20).fill(Infinity);
let at = 0;
function onBar(bar, ctx) {
  const before = past[at];
  past[at] = bar.close;
  at = (at + 1) % 20;
  return bar.close > before ? 1 : 0;
}`;

/** Of both sides; with the marks fewer than are admitted under any load. */
const inFlight = 128;

export async function benchTrading(surroundings: Surroundings): Promise<Row[]> {
  return [...(await benchOrders(surroundings)), ...(await benchBars(surroundings)), ...(await benchBesideBacktests(surroundings))];
}

/** From the risk checks to the paper fill: account, order, journal, fill and events, in two commits at least. */
async function benchOrders(surroundings: Surroundings): Promise<Row[]> {
  const env = { BENCH_DATABASE_URL: await surroundings.emptyDatabase() };
  const node = new Program('programs/order-node.ts', { env, nodeOptions: surroundings.profiled('orders') });
  const perSecond = ({ count, elapsedMs }: Driven) => ({ perSecond: (count * 1_000) / elapsedMs });
  try {
    await node.call('prepare');
    const { ours, limit, noisy } = await alternate(
      surroundings.seconds,
      async (ms) => perSecond(await node.call<Driven>('orders', { inFlight, ms })),
      async (ms) => perSecond(await node.call<Driven>('add', { inFlight, ms })),
    );
    const { orders, fills, openOrders, findings } = await node.call<{
      orders: number;
      fills: number;
      openOrders: number;
      findings: unknown[];
    }>('check');
    if (findings.length > 0 || openOrders > 0 || fills !== orders)
      throw new Error(`the books are wrong: ${JSON.stringify({ orders, fills, openOrders, findings })}`);
    return [makeRow({ bench: 'trading', row: 'orders, 1,000 accounts', unit: '/s', ours, limit, noisy, reach: { atLeast: 0.2 } })];
  } finally {
    await node.end();
  }
}

async function benchBars(surroundings: Surroundings): Promise<Row[]> {
  const ours = new Program('programs/backtests.ts', { nodeOptions: surroundings.profiled('backtests') });
  const limit = new Program('limits/bare-bars.ts');
  const rows: Row[] = [];
  const add = (row: string, figures: Slice & { limit: number; noisy: boolean }, ratio: number | null, rate: number | null) => {
    const common = { bench: 'trading', unit: 'bars/s', noisy: figures.noisy };
    rows.push(
      makeRow({ ...common, row, ours: figures.perSecond, limit: figures.limit, reach: ratio === null ? null : { atLeast: ratio } }),
    );
    if (rate !== null) rows.push(makeRow({ ...common, row: `${row}: rate`, ours: figures.perSecond, limit: rate, reach: { atLeast: 1 } }));
  };
  try {
    for (const { row, load, strategy, together, reach } of loads) {
      const figures = await alternate(
        surroundings.seconds,
        (ms) => ours.call<Slice>('bars', { load, strategy, together, ms }),
        (ms) => limit.call<Slice>('bars', { load, ms }),
      );
      add(row, { ...figures, perSecond: figures.ours }, reach ? 0.5 : null, reach ? least.builtIn : null);
    }
    const figures = await alternate(
      surroundings.seconds,
      () => ours.call<Slice>('guest', { code, years: 10 }),
      (ms) => limit.call<Slice>('guest', { code, ms }),
    );
    add('code in the sandbox, ten years of minutes', { ...figures, perSecond: figures.ours }, 0.4, least.custom);
    return rows;
  } finally {
    await Promise.all([ours.end(), limit.end()]);
  }
}
