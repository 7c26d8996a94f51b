import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import * as calendar from '../../../../src/domains/trading/market/calendar.ts';
import { exchangeCalendars, lean } from './published-sessions.ts';

const { firstDay, isoDate, lastDay, parseDate, sessionAt, sessionOn } = calendar;
const day = (text: string) => parseDate(text)!;
const at = (text: string) => Date.parse(text);
const iso = (ms: number) => new Date(ms).toISOString().replace(':00.000Z', 'Z');

for (const [name, list] of Object.entries({ exchangeCalendars, lean })) {
  test(`holidays and half days since 2000 are those of the published list ${name}`, () => {
    const published = (table: Record<number, string>) =>
      Object.entries(table).flatMap(([year, days]) => days.split(' ').map((monthAndDay) => `${year}-${monthAndDay}`));
    const weekdays = Array.from({ length: day(list.last) - firstDay + 1 }, (_, n) => firstDay + n).filter(
      (each) => calendar.weekday(each) % 6 !== 0,
    );
    const closed = weekdays.filter((each) => sessionOn(each) === null).map(isoDate);
    const halves = weekdays.filter((each) => sessionOn(each)?.half === true).map(isoDate);
    assert.deepEqual(closed, published(list.holidays));
    assert.deepEqual(halves, published(list.halfDays));
  });
}

test('a session is 9:30 to 16:00 or 13:00 in New York, as the time zone data of this machine has it, on every day of the century', () => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: 'America/New_York',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
  const local = (ms: number) => {
    const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]));
    return `${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}`;
  };
  for (let each = firstDay; each <= lastDay; each++) {
    assert.equal(local(calendar.newYorkMidnightMs(each)), `${isoDate(each)} 00:00`);
    const session = sessionOn(each);
    if (session === null) continue;
    assert.equal(local(session.openMs), `${isoDate(each)} 09:30`);
    assert.equal(local(session.closeMs), `${isoDate(each)} ${session.half ? '13:00' : '16:00'}`);
  }
});

test('openings move against UTC when the clocks change in New York, and not when they change in Europe', () => {
  const opens = (text: string) => iso(sessionOn(day(text))!.openMs);
  assert.equal(opens('2026-03-06'), '2026-03-06T14:30Z');
  assert.equal(opens('2026-03-09'), '2026-03-09T13:30Z');
  assert.equal(opens('2026-10-26'), '2026-10-26T13:30Z');
  assert.equal(opens('2026-10-30'), '2026-10-30T13:30Z');
  assert.equal(opens('2026-11-02'), '2026-11-02T14:30Z');
  assert.equal(opens('2006-03-31'), '2006-03-31T14:30Z');
  assert.equal(opens('2006-04-03'), '2006-04-03T13:30Z');
  assert.equal(opens('2006-10-30'), '2006-10-30T14:30Z');
});

test('a session holds its opening and not its close', () => {
  assert.equal(sessionAt(at('2026-11-20T14:29:59.999Z')), null);
  assert.equal(isoDate(sessionAt(at('2026-11-20T14:30:00Z'))!.day), '2026-11-20');
  assert.notEqual(sessionAt(at('2026-11-20T20:59:59.999Z')), null);
  assert.equal(sessionAt(at('2026-11-20T21:00:00Z')), null);
  assert.notEqual(sessionAt(at('2026-11-27T17:59:59Z')), null);
  assert.equal(sessionAt(at('2026-11-27T18:00:00Z')), null, 'a half day');
});

test('next and previous sessions skip weekends, holidays and closures of several days', () => {
  assert.equal(iso(calendar.nextOpenMs(at('2026-11-20T21:00:00Z'))), '2026-11-23T14:30Z');
  assert.equal(iso(calendar.previousCloseMs(at('2026-11-23T14:30:00Z'))), '2026-11-20T21:00Z');
  assert.equal(iso(calendar.previousCloseMs(at('2026-11-20T21:00:00Z'))), '2026-11-20T21:00Z', 'the close begins the next day');
  assert.equal(iso(calendar.nextOpenMs(at('2001-09-10T20:00:00Z'))), '2001-09-17T13:30Z');
  assert.equal(iso(calendar.nextOpenMs(at('2026-12-24T18:00:00Z'))), '2026-12-28T14:30Z');
  assert.equal(iso(calendar.nextCloseMs(at('2026-12-24T17:59:00Z'))), '2026-12-24T18:00Z');
  assert.equal(iso(calendar.nextCloseMs(at('2026-12-24T18:00:00Z'))), '2026-12-28T21:00Z');
  assert.equal(iso(calendar.sessionBefore(day('2026-03-09')).closeMs), '2026-03-06T21:00Z', 'over a change of clocks');
  assert.equal(isoDate(calendar.sessionAfter(day('2026-11-25')).day), '2026-11-27');
});

test('at any time the previous session is closed, the next opens later, and no session is between them', () => {
  const moment = fc.integer({ min: firstDay * calendar.msPerDay, max: lastDay * calendar.msPerDay });
  fc.assert(
    fc.property(moment, (ms) => {
      const next = calendar.nextSession(ms);
      const previous = calendar.previousSession(ms);
      const now = sessionAt(ms);
      assert.ok(previous.closeMs <= ms && ms < next.openMs);
      assert.equal(calendar.nextCloseMs(ms), (now ?? next).closeMs);
      assert.deepEqual(calendar.sessionsBetween(previous.day + 1, next.day - 1), now === null ? [] : [now]);
      const local = calendar.newYorkDay(ms);
      assert.ok(calendar.newYorkMidnightMs(local) <= ms && ms < calendar.newYorkMidnightMs(local + 1));
    }),
    { numRuns: 2000 },
  );
});

test('crypto is always open, and its day is that of UTC', () => {
  const sunday = at('2026-11-22T03:00:00Z');
  assert.deepEqual(calendar.sessionState('crypto', 'exchange', sunday), { session: 'open', nextOpenMs: null, nextCloseMs: null });
  assert.equal(iso(calendar.resultDayBeganMs('crypto', sunday)), '2026-11-22T00:00Z');
  assert.equal(iso(calendar.blockEndsMs('crypto', sunday)), '2026-11-23T00:00Z');
});

test('an exchange that counts as open around the clock still has its opening times', () => {
  const sunday = at('2026-11-22T03:00:00Z');
  const times = { nextOpenMs: at('2026-11-23T14:30:00Z'), nextCloseMs: at('2026-11-23T21:00:00Z') };
  assert.deepEqual(calendar.sessionState('equity', 'exchange', sunday), { session: 'closed', ...times });
  assert.deepEqual(calendar.sessionState('equity', 'always', sunday), { session: 'open', ...times });
  assert.equal(calendar.blockEndsMs('equity', sunday), times.nextOpenMs);
  assert.equal(iso(calendar.resultDayBeganMs('equity', sunday)), '2026-11-20T21:00Z');
});

test('an invalid date is refused', () => {
  assert.equal(parseDate('2024-02-29'), calendar.dayNumber(2024, 2, 29));
  for (const text of ['2023-02-29', '2024-13-01', '2024-00-10', '2024-1-1', '20240101', '2024-01-01T00:00', '0099-01-01', ''])
    assert.equal(parseDate(text), null, text);
});

test('the next and the previous session do not depend on earlier queries', () => {
  const hourMs = 3_600_000;
  const start = fc.integer({ min: Date.UTC(2001, 0, 1), max: Date.UTC(2090, 0, 1) });
  const steps = fc.array(fc.integer({ min: -60 * hourMs, max: 60 * hourMs }), { minLength: 1, maxLength: 10 });
  fc.assert(
    fc.property(start, steps, (fromMs, all) => {
      let ms = fromMs;
      for (const step of all) {
        ms += step;
        const [next, previous] = [calendar.nextSession(ms), calendar.previousSession(ms)];
        assert.ok(next.openMs > ms && calendar.sessionBefore(next.day).openMs <= ms);
        assert.ok(previous.closeMs <= ms && calendar.sessionAfter(previous.day).closeMs > ms);
        for (const edge of [next.openMs, previous.closeMs]) {
          assert.ok(calendar.nextSession(edge).openMs > edge && calendar.nextSession(edge - 1).openMs >= edge);
          assert.equal(calendar.previousSession(previous.closeMs).day, previous.day);
        }
      }
    }),
  );
});
