/** Which members a node reports as unreachable, for any sequence of states of its links. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { ReachabilityDetector } from '../../src/cluster/reachability-detector.ts';

const options = { doubtAfter: 3, trustAfter: 5, maxTrustAfter: 30, maxReported: 2 };

test('H1 H2 a member is reported after enough unreachable samples, and no longer after enough reachable ones', () => {
  const samples = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 40 })), { maxLength: 20 });
  fc.assert(
    fc.property(samples, (runs) => {
      const detector = new ReachabilityDetector(options);
      const seen: boolean[] = [];
      let changes = 0;
      for (const isReached of runs.flatMap(([reached, times]) => Array<boolean>(times).fill(reached))) {
        const before = detector.unreachable.length > 0;
        const isNew = detector.sample(['x'], () => isReached);
        const after = detector.unreachable.length > 0;
        seen.push(isReached);
        assert.equal(isNew, before !== after);
        if (isNew) changes++;
        if (isNew && after) assert.ok(!seen.slice(-options.doubtAfter).includes(true), 'H1');
        if (isNew && !after) assert.ok(!seen.slice(-options.trustAfter).includes(false), 'H2');
        if (seen.length >= options.doubtAfter && !seen.slice(-options.doubtAfter).includes(true)) assert.ok(after);
        if (seen.length >= options.maxTrustAfter && !seen.slice(-options.maxTrustAfter).includes(false)) assert.ok(!after);
      }
      assert.ok(changes <= 2 + (2 * seen.length) / (options.doubtAfter + options.trustAfter));
    }),
  );
});

test('H2 a link that flaps is trusted later each time, and as before after it was stable for long', () => {
  const detector = new ReachabilityDetector(options);
  const samplesUntil = (isReached: boolean) => {
    for (let samples = 1; ; samples++) if (detector.sample(['x'], () => isReached)) return samples;
  };
  const flap = () => [samplesUntil(false), samplesUntil(true)];
  assert.deepEqual([flap(), flap(), flap(), flap(), flap()], [3, 5, 3, 10, 3, 20, 3, 30, 3, 30].reduce(inPairs, []));
  for (let samples = 0; samples < options.maxTrustAfter; samples++)
    assert.equal(
      detector.sample(['x'], () => true),
      false,
    );
  assert.deepEqual(flap(), [3, 5]);
});

test('H3 more unreachable members than the limit are not reported; the samples of a member are dropped when it leaves', () => {
  const detector = new ReachabilityDetector(options);
  const sample = (members: string[]) => {
    for (let samples = 0; samples < options.doubtAfter; samples++) detector.sample(members, (incarnation) => incarnation === 'reached');
    return detector.unreachable;
  };
  assert.deepEqual(sample(['z', 'reached', 'y']), ['y', 'z']);
  assert.deepEqual(sample(['z', 'reached', 'y', 'x']), []);
  assert.deepEqual(sample(['reached', 'x']), ['x']);
  assert.equal(
    detector.sample(['reached'], () => true),
    true,
  );
  assert.deepEqual(detector.unreachable, []);
});

function inPairs(pairs: number[][], samples: number, i: number): number[][] {
  return i % 2 === 0 ? [...pairs, [samples]] : [...pairs.slice(0, -1), [pairs.at(-1)![0]!, samples]];
}
