/** What a node reports that it does not hear, for any way in which its links come and go. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { Hearing } from '../../src/cluster/hearing.ts';

const options = { doubtAfter: 3, trustAfter: 5, longestTrust: 30, mostReported: 2 };

test('H1 H2 a member is reported after so many looks in vain, and no longer after so many that heard it', () => {
  const looks = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 40 })), { maxLength: 20 });
  fc.assert(
    fc.property(looks, (runs) => {
      const hearing = new Hearing(options);
      const seen: boolean[] = [];
      let changes = 0;
      for (const isHeard of runs.flatMap(([heard, times]) => Array<boolean>(times).fill(heard))) {
        const before = hearing.unheard.length > 0;
        const isNew = hearing.look(['x'], () => isHeard);
        const after = hearing.unheard.length > 0;
        seen.push(isHeard);
        assert.equal(isNew, before !== after);
        if (isNew) changes++;
        if (isNew && after) assert.ok(!seen.slice(-options.doubtAfter).includes(true), 'H1');
        if (isNew && !after) assert.ok(!seen.slice(-options.trustAfter).includes(false), 'H2');
        if (seen.length >= options.doubtAfter && !seen.slice(-options.doubtAfter).includes(true)) assert.ok(after);
        if (seen.length >= options.longestTrust && !seen.slice(-options.longestTrust).includes(false)) assert.ok(!after);
      }
      assert.ok(changes <= 2 + (2 * seen.length) / (options.doubtAfter + options.trustAfter));
    }),
  );
});

test('H2 a link that flaps is trusted later each time, and as before when it has stood for long', () => {
  const hearing = new Hearing(options);
  const looksUntil = (isHeard: boolean) => {
    for (let looks = 1; ; looks++) if (hearing.look(['x'], () => isHeard)) return looks;
  };
  const flap = () => [looksUntil(false), looksUntil(true)];
  assert.deepEqual([flap(), flap(), flap(), flap(), flap()], [3, 5, 3, 10, 3, 20, 3, 30, 3, 30].reduce(inPairs, []));
  for (let looks = 0; looks < options.longestTrust; looks++)
    assert.equal(
      hearing.look(['x'], () => true),
      false,
    );
  assert.deepEqual(flap(), [3, 5]);
});

test('H3 more than a few are not reported; who leaves is forgotten, with what was held against it', () => {
  const hearing = new Hearing(options);
  const look = (members: string[]) => {
    for (let looks = 0; looks < options.doubtAfter; looks++) hearing.look(members, (incarnation) => incarnation === 'heard');
    return hearing.unheard;
  };
  assert.deepEqual(look(['z', 'heard', 'y']), ['y', 'z']);
  assert.deepEqual(look(['z', 'heard', 'y', 'x']), []);
  assert.deepEqual(look(['heard', 'x']), ['x']);
  assert.equal(
    hearing.look(['heard'], () => true),
    true,
  );
  assert.deepEqual(hearing.unheard, []);
});

function inPairs(pairs: number[][], looks: number, i: number): number[][] {
  return i % 2 === 0 ? [...pairs, [looks]] : [...pairs.slice(0, -1), [pairs.at(-1)![0]!, looks]];
}
