/** When a node reports that it cannot commit, for any sequence of answers of the database. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { CommitHealth } from '../../src/cluster/commit-health.ts';

/** Stretches of samples with and without an answer. */
const stretches = fc.array(fc.record({ answers: fc.boolean(), samples: fc.integer({ min: 1, max: 30 }) }), { minLength: 1, maxLength: 8 });

/** An answer arrives between two samples, `slowness` samples after its query. */
async function played(
  stretchesOf: readonly { answers: boolean; samples: number }[],
  slowness = 0,
): Promise<{ answered: boolean; can: boolean; steady: boolean }[]> {
  let answers = true;
  const tick = () => new Promise((resolve) => setImmediate(resolve));
  const ask = async () => {
    for (let sample = 0; sample < slowness; sample++) await tick();
    return answers || Promise.reject(new Error('no answer'));
  };
  const watch = new CommitHealth({ probe: ask });
  const seen: { answered: boolean; can: boolean; steady: boolean }[] = [];
  for (const stretch of stretchesOf) {
    answers = stretch.answers;
    for (let sample = 0; sample < stretch.samples; sample++) {
      watch.sample();
      seen.push({ answered: answers, can: watch.canCommit, steady: watch.isSteady });
      await tick();
    }
  }
  return seen;
}

test('C1 a gap of less than eight samples changes nothing, a longer one is reported, and only answers restore trust', async () => {
  await fc.assert(
    fc.asyncProperty(stretches, async (chosen) => {
      const seen = await played(chosen);
      for (let i = 1; i < seen.length; i++) {
        const before = (count: number) => seen.slice(Math.max(0, i - count), i);
        if (seen[i - 1]!.can && !seen[i]!.can) assert.ok(i < 8 || before(8).every(({ answered }) => !answered));
        if (!seen[i - 1]!.can && seen[i]!.can) assert.ok(before(4).every(({ answered }) => answered));
        if (i > 8 && before(9).every(({ answered }) => !answered)) assert.equal(seen[i]!.can, false);
      }
    }),
  );
});

test('C2 after an outage a node is steady only when every other node of the same outage can commit again', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 4, max: 40 }), fc.integer({ min: 0, max: 3 }), async (outage, later) => {
      const good = { answers: true, samples: 20 };
      const [one, other] = await Promise.all([
        played([good, { answers: false, samples: outage }, good]),
        played([good, { answers: false, samples: outage + later }, good]),
      ]);
      for (let i = 20 + outage + later; i < one.length; i++)
        if (one[i]!.steady) assert.ok(other[i]!.can, 'it can before anything is taken from it');
    }),
  );
});

test('C3 a database whose answers each take up to three samples is trusted again, before another node is steady', async () => {
  const good = { answers: true, samples: 20 };
  for (const slowness of [0, 1, 2, 3]) {
    const [quick, slow] = await Promise.all([0, slowness].map((each) => played([good, { answers: false, samples: 20 }, good], each)));
    assert.equal(slow!.at(-1)!.can, true, `${slowness}`);
    for (let i = 40; i < quick!.length; i++) if (quick![i]!.steady) assert.ok(slow![i]!.can, `${slowness}`);
  }
});
