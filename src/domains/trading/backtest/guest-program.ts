/**
 * The trusted half of the program in the sandbox: the loop over the bars, the calls of the caller's `onBar`, and the book that `ctx` is filled from,
 * which does the same operations in the same order as `engine.ts`. It is text, since it is evaluated inside the sandbox's engine. The caller's code
 * shares its global objects, so it takes hold of all it needs before that code is evaluated, and the host checks its figures afterwards.
 *
 * Arrays, with `batchBars` places for each column: input = time, then for each symbol open, high, low, close, volume, dividend; output = for each symbol the
 * weights, then equity. A step is one call of onBar: bar · symbols + symbol + 1.
 */
export type GuestSettings = {
  symbols: readonly string[];
  batchBars: number;
  initialCapital: number;
  commission: number;
  slippage: number;
  firstTime: number;
  daily: boolean;
  paysDividends: boolean;
};

/** The column of dividends exists only if there are dividends. */
export const columnsPerSymbol = (paysDividends: boolean): number => (paysDividends ? 6 : 5);

export const guestProgram = `(settings, inputBuffer, outputBuffer, progressBuffer) => {
  'use strict';
  const { symbols, batchBars, initialCapital, commission, slippage, firstTime, paysDividends, daily } = settings;
  const n = symbols.length;
  const input = new Float64Array(inputBuffer);
  const output = new Float64Array(outputBuffer);
  const progress = new Float64Array(progressBuffer);
  const perSymbol = paysDividends ? 6 : 5;
  const column = (array, at) => array.subarray(at * batchBars, (at + 1) * batchBars);
  const each = (make) => { const all = []; for (let s = 0; s < n; s++) all[s] = make(s); return all; };
  const times = column(input, 0);
  const opens = each((s) => column(input, 1 + perSymbol * s));
  const highs = each((s) => column(input, 2 + perSymbol * s));
  const lows = each((s) => column(input, 3 + perSymbol * s));
  const closes = each((s) => column(input, 4 + perSymbol * s));
  const volumes = each((s) => column(input, 5 + perSymbol * s));
  const dividends = paysDividends ? each((s) => column(input, 6 + perSymbol * s)) : [];
  const weightsOut = each((s) => column(output, s));
  const equityOut = column(output, n);

  const floor = Math.floor;
  const slice = Function.prototype.call.bind(String.prototype.slice);
  const isoText = Function.prototype.call.bind(Date.prototype.toISOString);
  const imul = Math.imul;
  const ErrorType = TypeError;
  const PromiseType = Promise;
  const ArrayType = Array;
  /** The bar's time. In a batch of one symbol it is looked up when it is read: the current step tells the row. */
  let now = firstTime;
  let firstStep = 0;
  const nowMs = () => (firstStep === 0 ? now : times[progress[0] - firstStep]);

  // The clock is that of the bars, and random numbers are the same in every run.
  const Clock = Date;
  const construct = Reflect.construct;
  function Dated(...parts) {
    if (new.target === undefined) return new Clock(nowMs()).toString();
    return construct(Clock, parts.length === 0 ? [nowMs()] : parts, new.target);
  }
  Dated.prototype = Clock.prototype;
  Dated.prototype.constructor = Dated;
  Dated.now = () => nowMs();
  Dated.parse = Clock.parse;
  Dated.UTC = Clock.UTC;
  globalThis.Date = Dated;
  let state = 0x5eed;
  Math.random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };

  const minuteTexts = [];
  for (let minute = 0; minute < 1440; minute++) minuteTexts[minute] = slice(isoText(new Clock(minute * 60000)), 10, 16) + ':00Z';
  let day = NaN;
  let dayText = '';
  /** Moves the clock to the bar, and returns its date. */
  const dateAt = (ms) => {
    now = ms;
    const since = ms - day;
    if (!(since >= 0 && since < 86400000)) {
      day = floor(ms / 86400000) * 86400000;
      dayText = slice(isoText(new Clock(day)), 0, 10);
    }
    return daily ? dayText : dayText + minuteTexts[floor((ms - day) / 60000)];
  };

  const quantities = each(() => 0);
  const lastCloses = each(() => 0);
  const sized = each(() => 0);
  const weights = each(() => 0);
  const indices = each(() => 0);
  const contexts = each((s) => ({ symbol: symbols[s], index: 0, position: 0, quantity: 0, cash: initialCapital, equity: initialCapital, symbols: symbols.slice() }));
  let cash = initialCapital;
  let step = 0;
  let decide;

  const kind = (value) => {
    if (value === null) return 'null';
    if (typeof value === 'number') return value !== value ? 'NaN' : 'Infinity';
    if (typeof value === 'object') return value instanceof PromiseType ? 'a promise' : ArrayType.isArray(value) ? 'an array' : 'an object';
    return typeof value === 'undefined' ? 'nothing' : 'a ' + typeof value;
  };

  /** The order of symbol s, filled at the open of row i. */
  const fill = (s, i, open, equityAtOpen) => {
    const weight = weights[s];
    sized[s] = weight;
    const held = quantities[s];
    const value = equityAtOpen > 0 ? (weight / n) * equityAtOpen : 0;
    const buys = value / (open * (1 + commission)) > held;
    const price = buys ? open * (1 + slippage) : open * (1 - slippage);
    const target = value === 0 ? 0 : value / (price * (1 + commission));
    const traded = target - held;
    if (buys ? !(traded > 0) : !(traded < 0)) return;
    const notional = (traded < 0 ? -traded : traded) * price;
    cash -= traded * price;
    cash -= notional * commission;
    quantities[s] = target;
  };
  const equityAt = (i) => {
    let equity = cash;
    for (let o = 0; o < n; o++) { const price = opens[o][i]; equity += quantities[o] * (price > 0 ? price : lastCloses[o]); }
    return equity;
  };

  /** What \`batch\` does, for one symbol: it has a bar in every row, and what it holds stays in local variables. */
  const batchOfOne = (count) => {
    const onBar = decide, ctx = contexts[0], time = times, open = opens[0], high = highs[0], low = lows[0], close = closes[0], volume = volumes[0];
    const paid = dividends[0], pays = paysDividends, decided = weightsOut[0], values = equityOut, calls = progress;
    const rate = commission, gross = 1 + commission, above = 1 + slippage, below = 1 - slippage;
    const minutes = daily ? [''] : minuteTexts;
    let held = quantities[0], weight = weights[0], filled = sized[0], index = indices[0], money = cash;
    let today = NaN, dayOf = '';
    firstStep = index + 1;
    for (let i = 0; i < count; i++) {
      let since = time[i] - today;
      if (!(since < 86400000)) {
        dateAt(time[i]);
        since = time[i] - (today = day);
        dayOf = dayText;
      }
      const first = open[i], last = close[i];
      if (pays && paid[i] !== 0 && held !== 0) {
        money += held * paid[i];
        ctx.cash = money;
      }
      if (weight !== filled) {
        ctx.position = filled = weight;
        const atOpen = money + held * first;
        const value = atOpen > 0 ? weight * atOpen : 0;
        const buys = value / (first * gross) > held;
        const price = buys ? first * above : first * below;
        const target = value === 0 ? 0 : value / (price * gross);
        const traded = target - held;
        if (buys ? traded > 0 : traded < 0) {
          money -= traded * price;
          money -= (traded < 0 ? -traded : traded) * price * rate;
          ctx.quantity = held = target;
          ctx.cash = money;
        }
      }
      ctx.equity = values[i] = held === 0 ? money : money + held * last;
      ctx.index = index;
      calls[0] = ++index;
      const answer = onBar({ date: dayOf + minutes[since / 60000 | 0], open: first, high: high[i], low: low[i], close: last, volume: volume[i] }, ctx);
      // Most answers are long or flat, which need no check of type and size.
      if (answer === 1 || answer === 0) decided[i] = weight = answer;
      else if (typeof answer !== 'number' || answer - answer !== 0) throw new ErrorType('onBar returned ' + kind(answer) + ', not a finite number');
      else decided[i] = weight = answer > 1 ? 1 : answer < -1 ? -1 : answer;
    }
    now = time[count - 1];
    firstStep = 0;
    cash = money;
    quantities[0] = held;
    weights[0] = weight;
    sized[0] = filled;
    indices[0] = index;
  };

  return {
    start() {
      if (typeof onBar !== 'function') throw new ErrorType('the code defines no function onBar(bar, ctx)');
      decide = onBar;
    },
    batch(count) {
      if (n === 1) return batchOfOne(count);
        const onBar = decide;
      for (let i = 0; i < count; i++) {
        const date = dateAt(times[i]);
        for (let s = 0; paysDividends && s < n; s++) {
          const amount = dividends[s][i];
          if (amount !== 0 && quantities[s] !== 0) cash += quantities[s] * amount;
        }
        let equityAtOpen = NaN;
        for (let s = 0; s < n; s++) {
          if (weights[s] === sized[s]) continue;
          const open = opens[s][i];
          if (!(open > 0)) continue;
          if (equityAtOpen !== equityAtOpen) equityAtOpen = equityAt(i);
          fill(s, i, open, equityAtOpen);
        }
        let equity = cash;
        for (let s = 0; s < n; s++) {
          const close = closes[s][i];
          if (close > 0) lastCloses[s] = close;
          const quantity = quantities[s];
          if (quantity !== 0) equity += quantity * lastCloses[s];
        }
        equityOut[i] = equity;
        for (let s = 0; s < n; s++) {
          progress[0] = ++step;
          const close = closes[s][i];
          if (close > 0) {
            const ctx = contexts[s];
            ctx.index = indices[s]++;
            ctx.position = sized[s];
            ctx.quantity = quantities[s];
            ctx.cash = cash;
            ctx.equity = equity;
            const weight = onBar({ date, open: opens[s][i], high: highs[s][i], low: lows[s][i], close, volume: volumes[s][i] }, ctx);
            if (typeof weight !== 'number' || weight - weight !== 0) throw new ErrorType('onBar returned ' + kind(weight) + ', not a finite number');
            weights[s] = weight > 1 ? 1 : weight < -1 ? -1 : weight;
          }
          weightsOut[s][i] = weights[s];
        }
      }
    },
  };
}`;
