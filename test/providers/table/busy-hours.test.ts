/** What hourly rows say: the block of busy hours, the means of the first and the last day, and hours that tie. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { profileText } from './tables.ts';

const startMs = Date.UTC(2025, 2, 3);
/** Two weeks of hours from a Monday: busy from 9 to 12 on working days. */
const hourly = (value: (hour: number, weekday: number) => number) =>
  `time,level_v,calls\n${Array.from({ length: 14 * 24 }, (_, i) => {
    const at = new Date(startMs + i * 3_600_000);
    return `${at.toISOString().slice(0, 16).replace('T', ' ')},${(20 + Math.floor(i / 24) / 10).toFixed(1)},${value(at.getUTCHours(), at.getUTCDay())}`;
  }).join('\n')}\n`;
const textsOf = async (text: string, kind: string) =>
  (await profileText(text)).remarks.filter((each) => each.kind === kind).map((each) => each.text);

test('the hours and days in which nearly all of a quantity falls are told as a block, with the means there and elsewhere', async () => {
  const found = await textsOf(
    hourly((hour, weekday) => (weekday > 0 && weekday < 6 && hour >= 9 && hour < 13 ? 10 + hour : hour === 3 ? 2 : 1)),
    'hours_of_day',
  );
  const block = found.find((text) => text.includes('falls mostly'));
  assert.equal(
    block,
    'calls falls mostly in the hours from 09:00 to 12:59 on Monday, Tuesday, Wednesday, Thursday and Friday: mean 20.50 over 40 rows there, 1.05 over the other 296 rows.',
  );
  assert.match(found[0]!, /lowest from 00:00, 01:00, 02:00, 04:00, 05:00, 06:00 and 13 more \(14\)/);
});

test('hours that differ little, or do not follow each other, are no block', async () => {
  for (const value of [(hour: number) => 5 + (hour % 7), (hour: number) => (hour === 4 || hour === 15 ? 40 : 1)])
    assert.ok((await textsOf(hourly(value), 'hours_of_day')).every((text) => !text.includes('falls mostly')));
});

test('readings of several times a day are compared by the means of the first and the last day', async () => {
  const [level] = await textsOf(
    hourly((hour) => hour + 1),
    'level',
  );
  assert.match(
    level!,
    /^level_v has a mean of 20 on 2025-03-03 and of 21\.30 on 2025-03-16, the first and the last day \(\+6\.5 %\); highest/,
  );
});
