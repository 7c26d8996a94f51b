/** Days, months and the amounts spent in them, over changes of clocks and of time zones. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { WalletRow } from '../../../../src/domains/commerce/wallet/entity.ts';
import { localDay } from '../../../../src/domains/commerce/wallet/local-day.ts';
import { inTimezone, limitReached, onDayOf, spend, unspend } from '../../../../src/domains/commerce/wallet/spending.ts';

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Pacific/Apia',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
];
const zone = fc.constantFrom(...zones);
const hourMs = 3_600_000;
/** Apia left out 2011-12-30; Berlin changed its clocks on 2026-03-29 and 2026-10-25. */
const moment = fc.integer({ min: Date.UTC(2011, 11, 28), max: Date.UTC(2027, 0, 3) });

test("a local day is the date of the time zone's clock, and days never go back", () => {
  fc.assert(
    fc.property(zone, moment, fc.integer({ min: 0, max: 30 * hourMs }), (timezone, atMs, laterMs) => {
      const wall = new Date(atMs).toLocaleDateString('sv-SE', { timeZone: timezone });
      assert.equal(localDay(atMs, timezone), wall);
      assert.ok(localDay(atMs + laterMs, timezone) >= wall);
    }),
  );
});

test('days with 23 and 25 hours begin at midnight', () => {
  const berlin = (text: string) => localDay(Date.parse(text), 'Europe/Berlin');
  assert.deepEqual(['2026-03-28T22:59:59.999Z', '2026-03-28T23:00:00Z', '2026-03-29T21:59:59.999Z', '2026-03-29T22:00:00Z'].map(berlin), [
    '2026-03-28',
    '2026-03-29',
    '2026-03-29',
    '2026-03-30',
  ]);
  assert.deepEqual(['2026-10-24T22:00:00Z', '2026-10-25T22:59:59.999Z', '2026-10-25T23:00:00Z'].map(berlin), [
    '2026-10-25',
    '2026-10-25',
    '2026-10-26',
  ]);
});

test('time zones in many spellings or unknown ones use bounded memory', () => {
  for (let n = 0; n < 2_100; n++) {
    const name = [...'europe/berlin'].map((letter, i) => ((n >> (i % 12)) & 1 ? letter.toUpperCase() : letter)).join('');
    assert.equal(localDay(0, name), '1970-01-01');
  }
  assert.throws(() => localDay(0, 'Mars/Olympus'), RangeError);
});

const step = fc.record({
  afterMs: fc.integer({ min: -hourMs, max: 40 * hourMs }),
  timezone: fc.option(zone, { nil: null }),
  amountMinor: fc.integer({ min: 1, max: 400 }),
  takesBack: fc.boolean(),
});

test('for any steps of the clock and changes of the time zone, no day or month of the wallet exceeds its limit, and no sum is negative', () => {
  fc.assert(
    fc.property(moment, fc.array(step, { maxLength: 60 }), (startMs, steps) => {
      let nowMs = startMs;
      let wallet = emptyWallet(nowMs);
      const kept: { amountMinor: number; id: string }[] = [];
      for (const [n, { afterMs, timezone, amountMinor, takesBack }] of steps.entries()) {
        nowMs += afterMs;
        const before = wallet;
        wallet = timezone === null ? onDayOf(wallet, nowMs) : inTimezone(wallet, timezone, nowMs);
        assert.ok(wallet.spendDay >= before.spendDay, 'no day begins twice');
        if (timezone !== null && wallet.spendDay === onDayOf(before, nowMs).spendDay)
          assert.equal(wallet.daySpentMinor, onDayOf(before, nowMs).daySpentMinor);
        const taken = takesBack ? kept.shift() : undefined;
        if (taken !== undefined) {
          const { [taken.id]: hold, ...holds } = wallet.holds;
          wallet = { ...unspend(wallet, taken.amountMinor, hold!.day), holds };
        } else if (limitReached(wallet, amountMinor) === null) {
          wallet = spend(wallet, amountMinor);
          const id = `h${n}`;
          wallet = { ...wallet, holds: { ...wallet.holds, [id]: { amountMinor, day: wallet.spendDay, expiresAtMs: 0, createdAtMs: 0 } } };
          kept.push({ id, amountMinor });
        }
        assert.ok(wallet.daySpentMinor >= 0 && wallet.daySpentMinor <= wallet.monthSpentMinor, 'the day is part of the month');
        assert.ok(wallet.daySpentMinor <= wallet.dailyMinor && wallet.monthSpentMinor <= wallet.monthlyMinor);
      }
    }),
    { numRuns: 300 },
  );
});

/** Around nights that are not 24 hours after the one before, ends of months, and the leap day that there is and the one that there is not. */
const borders = [
  '2026-03-29',
  '2026-10-25',
  '2026-03-08',
  '2026-11-01',
  '2024-02-28',
  '2024-02-29',
  '2024-03-01',
  '2026-02-28',
  '2026-12-31',
];
const nearBorder = fc
  .tuple(fc.constantFrom(...borders), fc.integer({ min: -30, max: 30 }))
  .map(([day, hours]) => Date.parse(day) + hours * hourMs);
const payment = fc.record({
  afterMs: fc.integer({ min: 0, max: 9 * hourMs }),
  movesTo: fc.option(zone, { nil: null, freq: 8 }),
  amountMinor: fc.integer({ min: 1, max: 300 }),
});

test('every payment counts on one day and in one month: the local date of an account whose time zone does not change', () => {
  fc.assert(
    fc.property(nearBorder, zone, fc.boolean(), fc.array(payment, { minLength: 10, maxLength: 60 }), (startMs, home, stays, payments) => {
      let nowMs = startMs;
      let wallet: WalletRow = { ...emptyWallet(startMs), timezone: home, spendDay: localDay(startMs, home) };
      const made: { day: string; wallDay: string; amountMinor: number }[] = [];
      const sumOf = (paid: typeof made) => paid.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
      for (const { afterMs, movesTo, amountMinor } of payments) {
        nowMs += afterMs;
        wallet = onDayOf(wallet, nowMs);
        const ended = wallet.spendDay;
        if (!stays && movesTo !== null) wallet = inTimezone(wallet, movesTo, nowMs);
        // Further east today is called tomorrow, and what was paid today goes along.
        for (const one of made) if (one.day === ended) one.day = wallet.spendDay;
        if (limitReached(wallet, amountMinor) === null) {
          wallet = spend(wallet, amountMinor);
          made.push({
            day: wallet.spendDay,
            wallDay: new Date(nowMs).toLocaleDateString('sv-SE', { timeZone: wallet.timezone }),
            amountMinor,
          });
        }
        const month = wallet.spendDay.slice(0, 7);
        assert.equal(wallet.daySpentMinor, sumOf(made.filter(({ day }) => day === wallet.spendDay)));
        assert.equal(wallet.monthSpentMinor, sumOf(made.filter(({ day }) => day.startsWith(month))));
      }
      for (const { day, wallDay } of made) if (stays) assert.equal(day, wallDay);
      for (const one of made) {
        assert.ok(sumOf(made.filter(({ day }) => day === one.day)) <= wallet.dailyMinor);
        assert.ok(sumOf(made.filter(({ day }) => day.slice(0, 7) === one.day.slice(0, 7))) <= wallet.monthlyMinor);
      }
    }),
    { numRuns: 300 },
  );
});

test('a change to a time zone further east or west resets no sum on that day', () => {
  const nowMs = Date.parse('2026-11-30T20:00:00Z');
  const spent = { ...spend(emptyWallet(nowMs), 700), monthSpentMinor: 900 };
  const east = inTimezone(spent, 'Pacific/Kiritimati', nowMs);
  assert.deepEqual([east.spendDay, east.daySpentMinor, east.monthSpentMinor], ['2026-12-01', 700, 700]);
  const west = inTimezone(east, 'Pacific/Pago_Pago', nowMs);
  assert.deepEqual([west.spendDay, west.daySpentMinor], ['2026-12-01', 700]);
  assert.equal(onDayOf(west, nowMs + 24 * hourMs).daySpentMinor, 700, 'there it is still the day before');
});

function emptyWallet(nowMs: number): WalletRow {
  const limits = { perTransactionMinor: 300, dailyMinor: 1_000, monthlyMinor: 3_000 };
  const sums = { spendDay: localDay(nowMs, 'UTC'), daySpentMinor: 0, monthSpentMinor: 0 };
  return {
    id: 'acct_1',
    currency: 'USD',
    balanceMinor: 0,
    heldMinor: 0,
    ...limits,
    timezone: 'UTC',
    ...sums,
    holds: {},
    waiting: [],
    updatedAt: 0,
  } as unknown as WalletRow;
}
