/**
 * Weights computed by a caller's own code. The loop over the bars and the book behind `ctx` run inside the sandbox, in batches. Its output
 * is used only as weights: the engine computes prices, and the sandbox's equity must equal the engine's in every bit.
 */
import { createHash } from 'node:crypto';
import type { JobContext } from '../../../providers/compute/port.ts';
import { type Guest, GuestFailed } from '../../../providers/sandbox/port.ts';
import { barDate, bytesOf } from '../bars.ts';
import type { Terms } from './engine.ts';
import { BacktestFailed } from './failed.ts';
import { columnsPerSymbol, type GuestSettings, guestProgram } from './guest-program.ts';
import type { Market } from './market.ts';

export const customLimits = {
  memoryBytes: 64 * 2 ** 20,
  /** Processor time of one call of onBar, and of the evaluation of the code. */
  barMs: 1_000,
  /** Processor time in all. */
  runMs: 60_000,
} as const;

export type CustomRun = {
  code: string;
  market: Market;
  daily: boolean;
  terms: Terms;
  openGuest: JobContext['openGuest'];
  /** Called after each batch with the completed share of the bars. */
  onProgress?: (share: number) => unknown;
};
export type CustomWeights = {
  weights: Float64Array[];
  /** SHA-256 of the equity that the sandbox's book computed. */
  equityHash: string;
};

/** Doubles in one batch: few enough to be sent in milliseconds. */
const batchDoubles = 48 * 1024;

/** Throws `BacktestFailed` if the code does not return a finite number at each bar within its limits. */
export async function customWeights({ code, market, daily, terms, openGuest, onProgress }: CustomRun): Promise<CustomWeights> {
  const { symbols, time, columns, dividends } = market;
  const paysDividends = dividends.some((column) => column !== null);
  const perBar = 1 + columnsPerSymbol(paysDividends) * symbols.length;
  const batchBars = Math.max(1, Math.floor(batchDoubles / perBar));
  const settings: GuestSettings = {
    symbols,
    batchBars,
    initialCapital: terms.initialCapital,
    commission: terms.commissionBps / 10_000,
    slippage: terms.slippageBps / 10_000,
    firstTime: time[0] ?? 0,
    daily,
    paysDividends,
  };
  const weights = symbols.map(() => new Float64Array(time.length));
  const hash = createHash('sha256');
  // At most two batches are in flight; the input of an answered batch is no longer read.
  const buffers = [new Float64Array(perBar * batchBars), new Float64Array(perBar * batchBars)] as const;
  const send = (guest: Guest, from: number) => {
    const to = Math.min(from + batchBars, time.length);
    const numbers = buffers[(from / batchBars) & 1]!;
    let at = 0;
    const put = (column: Float64Array) => numbers.set(column.subarray(from, to), batchBars * at++);
    put(time);
    columns.forEach(({ open, high, low, close, volume }, s) => {
      [open, high, low, close, volume].forEach(put);
      if (!paysDividends) return;
      if (dividends[s] === null) at++;
      else put(dividends[s]!);
    });
    return guest.run({ count: to - from, numbers });
  };
  try {
    const { memoryBytes, barMs: stepMs, runMs: cpuMs } = customLimits;
    const [inputs, outputs] = [perBar * batchBars, (symbols.length + 1) * batchBars];
    const guest = await openGuest({ harness: guestProgram, settings, code, inputs, outputs, memoryBytes, stepMs, cpuMs });
    // One batch is always in flight while another is computed.
    let coming = send(guest, 0);
    for (let from = 0; from < time.length; from += batchBars) {
      const next = from + batchBars < time.length ? send(guest, from + batchBars) : null;
      next?.catch(() => {});
      const output = await coming;
      if (next !== null) coming = next;
      const count = Math.min(batchBars, time.length - from);
      weights.forEach((column, s) => column.set(output.subarray(s * batchBars, s * batchBars + count), from));
      hash.update(bytesOf(output.subarray(symbols.length * batchBars, symbols.length * batchBars + count)));
      await onProgress?.((from + count) / time.length);
    }
    await guest.close();
  } catch (error) {
    if (error instanceof GuestFailed) throw new BacktestFailed(describe(error, market, daily));
    throw error;
  }
  for (const column of weights) if (!column.every((weight) => weight >= -1 && weight <= 1)) throw new BacktestFailed(tampered);
  return { weights, equityHash: hash.digest('hex') };
}

/** Evaluates the code without any bar. Throws `BacktestFailed` if it cannot be used. */
export async function checkCode(code: string, openGuest: JobContext['openGuest']): Promise<void> {
  const market = { symbols: ['A'], time: new Float64Array(0) };
  const settings: GuestSettings = {
    symbols: market.symbols,
    batchBars: 1,
    initialCapital: 1,
    commission: 0,
    slippage: 0,
    firstTime: 0,
    daily: true,
    paysDividends: false,
  };
  const inputs = 1 + columnsPerSymbol(false);
  try {
    const { memoryBytes, barMs: stepMs, runMs: cpuMs } = customLimits;
    const guest = await openGuest({ harness: guestProgram, settings, code, inputs, outputs: 2, memoryBytes, stepMs, cpuMs });
    await guest.run({ count: 0, numbers: new Float64Array(inputs) });
    await guest.close();
  } catch (error) {
    if (error instanceof GuestFailed) throw new BacktestFailed(describe(error, market, true));
    throw error;
  }
}

/** Throws when the sandbox's book and the engine's differ in a single bit. */
export function checkEquity(equityHash: string, equity: Float64Array): void {
  if (createHash('sha256').update(bytesOf(equity)).digest('hex') !== equityHash) throw new BacktestFailed(tampered);
}

const tampered = 'the code changed the program that calls it: the book in the sandbox differs from the one that follows from its weights';

function describe({ reason, step, message }: GuestFailed, { symbols, time }: Pick<Market, 'symbols' | 'time'>, daily: boolean): string {
  const bar = Math.floor((step - 1) / symbols.length);
  const known = step > 0 && bar < time.length;
  const where = known ? ` at ${barDate(time[bar]!, daily)} (${symbols[(step - 1) % symbols.length]})` : '';
  if (reason === 'step_time') return known ? `onBar took longer than 1 s${where}` : 'the code took longer than 1 s before the first bar';
  if (reason === 'time') return `the code took longer than ${customLimits.runMs / 1_000} s of processor time${where}`;
  if (reason === 'memory') return `the code needed more than ${customLimits.memoryBytes / 2 ** 20} MiB of memory${where}`;
  if (reason === 'crash') return `the code was stopped: ${message}`;
  return known ? `onBar failed${where}: ${message}` : `the code cannot be used: ${message}`;
}
