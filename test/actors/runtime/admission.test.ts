import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Admission } from '../../../src/actors/runtime/admission.ts';

/** A service that answers `rate` asks between two looks (100 ms), while `offered` come; returns how many waited at the end, and the shed. */
function load(admission: Admission, looks: number, rate: number, offered: number): { waiting: number; shed: number } {
  // How many looks each waiting ask has seen, oldest first.
  let ages: number[] = [];
  let shed = 0;
  for (let look = 0; look < looks; look++) {
    for (let i = 0; i < offered; i++) {
      if (admission.admits(ages.length)) ages.push(0);
      else shed++;
    }
    const answered = Math.min(rate, ages.length);
    ages = ages.slice(rate).map((age) => age + 1);
    admission.look(ages.length, ages.filter((age) => age > 2).length, answered);
  }
  return { waiting: ages.length, shed };
}

test('three times what can be answered: the excess is shed, and who is let in waits for about the time aimed at', () => {
  const admission = new Admission(100_000);
  const { waiting, shed } = load(admission, 200, 500, 1_500);
  // 500 in 100 ms: once half of what waits is older than 200 ms, so after 400 ms of work, the limit falls to 200 ms of work.
  assert.ok(waiting <= 2_500, `${waiting} wait`);
  assert.ok(shed > 0.9 * 200 * 1_000, `${shed} shed`);
});

test('when the load is gone everybody is let in again', () => {
  const admission = new Admission(100_000);
  load(admission, 50, 100, 1_000);
  const { shed } = load(admission, 200, 1_000, 100);
  assert.equal(shed, 0);
  assert.ok(admission.admits(99_999));
});

test('few asks are always let in, however long they wait', () => {
  const admission = new Admission(100_000);
  for (let look = 0; look < 100; look++) admission.look(120, 120, 0);
  assert.ok(admission.admits(127));
});

test('whatever waited for a database that was away leaves room for as many as are always let in, and soon for all', () => {
  const admission = new Admission(8_192);
  for (let look = 0; look < 50; look++) admission.look(8_000, 8_000, 0);
  assert.ok(admission.admits(127));
  assert.ok(!admission.admits(8_000));
  for (let look = 0; look < 50; look++) admission.look(100, 0, 100);
  assert.ok(admission.admits(8_191));
});
