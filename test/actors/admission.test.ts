import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Admission, lateAfterMs, sampleEveryMs } from '../../src/actors/admission.ts';

/** A service that answers `rate` asks per sample (50 ms) and is offered `offered`. Returns the asks waiting at the end and the shed asks. */
function load(admission: Admission, samples: number, rate: number, offered: number): { waiting: number; shed: number } {
  // The age of each waiting ask in samples, oldest first.
  let ages: number[] = [];
  let shed = 0;
  for (let sample = 0; sample < samples; sample++) {
    for (let i = 0; i < offered; i++) {
      if (admission.admits(ages.length)) ages.push(0);
      else shed++;
    }
    const answered = ages.splice(0, rate);
    ages = ages.map((age) => age + 1);
    admission.sample(ages.length, answered.length, answered.filter(isLate).length);
  }
  return { waiting: ages.length, shed };
}

function isLate(age: number): boolean {
  return age * sampleEveryMs > lateAfterMs;
}

test('at three times the capacity the excess is shed, and admitted asks wait for about the target time', () => {
  const admission = new Admission(100_000);
  const { waiting, shed } = load(admission, 400, 250, 750);
  assert.ok((waiting * sampleEveryMs) / 250 <= 1.2 * lateAfterMs + sampleEveryMs, `${waiting} wait`);
  assert.ok(shed > 0.9 * 400 * 500, `${shed} shed`);
});

test('admitted asks never wait long, at any load and speed', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ rate: fc.integer({ min: 150, max: 1_000 }), excess: fc.integer({ min: 2, max: 8 }) }), {
        minLength: 1,
        maxLength: 4,
      }),
      (phases) => {
        const admission = new Admission(100_000);
        for (const { rate, excess } of phases) {
          const { waiting } = load(admission, 150, rate, rate * excess);
          assert.ok((waiting * sampleEveryMs) / rate <= 1.5 * lateAfterMs + sampleEveryMs, `${waiting} wait at ${rate}`);
        }
      },
    ),
    { numRuns: 40 },
  );
});

test('a burst on an idle service is admitted, not shed', () => {
  const admission = new Admission(100_000);
  load(admission, 1_000, 100, 1);
  assert.ok(admission.admits(999));
  assert.ok(!admission.admits(1_000), 'more than a quarter of a second of unknown work is not');
});

test('a burst may be as large as the number of asks answered in the last interval', () => {
  const admission = new Admission(100_000);
  load(admission, 200, 2_000, 500);
  assert.ok(admission.admits(2_000));
  assert.ok(!admission.admits(10_000));
});

test('after the overload all asks are admitted again', () => {
  const admission = new Admission(100_000);
  load(admission, 50, 100, 1_000);
  const { shed } = load(admission, 200, 1_000, 100);
  assert.equal(shed, 0);
  assert.ok(admission.admits(999));
});

test('a minimum number of asks is always admitted, however long they wait', () => {
  const admission = new Admission(100_000);
  for (let sample = 0; sample < 100; sample++) admission.sample(250, 0, 250);
  assert.ok(admission.admits(255));
});

test('after an outage of the database the minimum number of asks is admitted at once, and all asks soon after', () => {
  const admission = new Admission(8_192);
  for (let sample = 0; sample < 50; sample++) admission.sample(8_000, 0, 8_000);
  assert.ok(admission.admits(255));
  assert.ok(!admission.admits(256));
  for (let sample = 0; sample < 50; sample++) admission.sample(100, 100, 0);
  assert.ok(admission.admits(999));
});
