/** Billing periods, for any day of sign-up and any time. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { periodAt } from '../../../../src/domains/accounts/account/period.ts';

const moment = fc.date({ min: new Date('2020-01-01T00:00:00Z'), max: new Date('2060-12-31T23:59:59Z'), noInvalidDate: true });
const days = (...dates: string[]) => dates.map((date) => Date.parse(`${date}T00:00:00Z`));

test('every time is in one period; periods have no gaps, and begin on the day of sign-up or the last day of the month', () => {
  fc.assert(
    fc.property(moment, moment, (signedUp, later) => {
      const nowMs = Math.max(signedUp.getTime(), later.getTime());
      const { startsAtMs, endsAtMs } = periodAt(signedUp.getTime(), nowMs);
      assert.ok(startsAtMs <= nowMs && nowMs < endsAtMs);
      const days = (endsAtMs - startsAtMs) / 86_400_000;
      assert.ok(days >= 28 && days <= 31, `${days} days`);
      assert.deepEqual(periodAt(signedUp.getTime(), endsAtMs - 1), { startsAtMs, endsAtMs });
      assert.equal(periodAt(signedUp.getTime(), endsAtMs).startsAtMs, endsAtMs);
      const [first, next] = [new Date(startsAtMs), new Date(startsAtMs + 86_400_000)];
      assert.ok(first.getUTCDate() === signedUp.getUTCDate() || (next.getUTCDate() === 1 && first.getUTCDate() < signedUp.getUTCDate()));
    }),
  );
});

test('after a sign-up on a 31st, periods begin on the last day of shorter months, and on the 31st of longer ones', () => {
  const signedUp = Date.parse('2026-01-31T17:30:00Z');
  const starts = days('2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31');
  for (const [n, startsAtMs] of starts.slice(0, -1).entries()) {
    assert.deepEqual(periodAt(signedUp, startsAtMs), { startsAtMs, endsAtMs: starts[n + 1] });
  }
  assert.equal(periodAt(signedUp, Date.parse('2028-02-29T00:00:00Z')).startsAtMs, Date.parse('2028-02-29T00:00:00Z'), 'a leap year');
});

test('a time before the day of sign-up is in the first period', () => {
  const signedUp = Date.parse('2026-03-15T00:00:00Z');
  assert.deepEqual(periodAt(signedUp, signedUp - 5_000), periodAt(signedUp, signedUp));
});
