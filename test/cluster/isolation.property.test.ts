/** Who is isolated, for any number of members and any cut links between them. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { isolatedOf } from '../../src/cluster/isolation.ts';
import { canOwn, type Member, type View } from '../../src/cluster/member.ts';
import { planOf } from '../../src/cluster/placement-plan.ts';

/** Members whose links are cut at random, mostly in parts, and who report it on one side or both. */
const clusters = fc
  .tuple(
    fc.array(
      fc.record({
        startedAtMs: fc.option(fc.nat(3), { nil: undefined }),
        part: fc.nat(2),
        runsActors: fc.integer({ min: 0, max: 5 }).map((n) => n > 0),
        leaving: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
      }),
      { minLength: 1, maxLength: 9 },
    ),
    fc.array(fc.tuple(fc.nat(8), fc.nat(8)), { maxLength: 10 }),
    fc.boolean(),
    fc.infiniteStream(fc.nat(2)),
  )
  .map(([made, cuts, inParts, sides]) => {
    const unreachable = made.map(() => new Set<string>());
    const cut = (i: number, j: number) => {
      if (i === j || i >= made.length || j >= made.length) return;
      const side = sides.next().value as number;
      if (side !== 1) unreachable[i]!.add(incarnation(j));
      if (side !== 0) unreachable[j]!.add(incarnation(i));
    };
    for (const [i, j] of cuts) cut(i, j);
    if (inParts) made.forEach((a, i) => made.forEach((b, j) => void (i < j && a.part !== b.part && cut(i, j))));
    return made.map(({ startedAtMs, runsActors, leaving }, i) =>
      member(i, { startedAtMs, roles: runsActors ? ['edge', 'actors'] : ['edge'], leaving, unreachable: [...unreachable[i]!] }),
    );
  });

test('I1 the order of the members and the side that reports a lost link do not change the result', () => {
  fc.assert(
    fc.property(clusters, fc.infiniteStream(fc.nat()), (members, numbers) => {
      const shuffled = members.map((each) => ({ each, at: numbers.next().value as number })).sort((a, b) => a.at - b.at);
      const isolated = isolatedOf(viewOf(members));
      assert.deepEqual(isolatedOf(viewOf(shuffled.map(({ each }) => each))), isolated);
      const both = members.map((a) => ({ ...a, unreachable: members.filter((b) => !linked(a, b)).map((b) => b.incarnation) }));
      assert.deepEqual(isolatedOf(viewOf(both)), isolated);
      const unknownNodes = members.map((each) => ({ ...each, unreachable: [...each.unreachable!, 'gone/1', each.incarnation] }));
      assert.deepEqual(isolatedOf(viewOf(unknownNodes)), isolated, 'a node that is no member is ignored');
    }),
  );
});

test('I2 if all are near each other, or no member can own shards, none is isolated', () => {
  fc.assert(
    fc.property(clusters, (members) => {
      const isolated = isolatedOf(viewOf(members));
      const allNear = members.every((a) => members.every((b) => near(members, a, b)));
      if (allNear || !members.some(canOwn)) assert.equal(isolated.size, 0);
      assert.equal(isolatedOf(viewOf(members.map(({ unreachable: _, ...each }) => each))).size, 0, 'an earlier version reports nothing');
    }),
  );
});

test('I3 members that are not isolated are near each other and can own shards, and no other member is near all of them', () => {
  fc.assert(
    fc.property(clusters, (members) => {
      const view = viewOf(members);
      const isolated = isolatedOf(view);
      const together = members.filter((each) => !isolated.has(each.incarnation));
      for (const a of together) for (const b of together) assert.ok(isolated.size === 0 || near(members, a, b));
      for (const a of members) if (isolated.has(a.incarnation)) assert.ok(!together.every((b) => near(members, a, b)));
      if (!members.some(canOwn)) return;
      assert.ok(together.some(canOwn));
      for (const owner of planOf(view)) assert.ok(owner !== null && !isolated.has(owner), 'every shard is planned, on one of them');
    }),
  );
});

test('I4 the largest neighbourhood with a possible owner is not isolated; of equal ones that of the oldest member', () => {
  fc.assert(
    fc.property(clusters, (members) => {
      const isolated = isolatedOf(viewOf(members));
      if (isolated.size === 0) return;
      for (const a of members) {
        const links = members.filter((b) => linked(a, b));
        if (links.some(canOwn)) assert.ok(members.length - isolated.size >= links.length);
      }
    }),
  );
  const [old, young] = [member(1, { startedAtMs: 1, unreachable: [incarnation(0)] }), member(0, { startedAtMs: 2 })];
  assert.deepEqual([...isolatedOf(viewOf([old, young]))], [young.incarnation]);
});

test('I5 a member without links is isolated and isolates no other; only its shards move', () => {
  fc.assert(
    fc.property(clusters, (members) => {
      const linkedOwners = members.some((a) => members.some((b) => a !== b && linked(a, b) && (canOwn(a) || canOwn(b))));
      fc.pre(linkedOwners);
      const lonely = member(99, { startedAtMs: 0, unreachable: members.map((each) => each.incarnation) });
      const [without, withIt] = [viewOf(members), viewOf([lonely, ...members])];
      assert.deepEqual([...isolatedOf(withIt)].sort(), [...isolatedOf(without), lonely.incarnation].sort());
      assert.deepEqual(planOf(withIt), planOf(without));
    }),
  );
});

test('I6 a cut that separates no members moves no shards, and a repaired cut moves the shards back', () => {
  fc.assert(
    fc.property(clusters, (members) => {
      const whole = viewOf(members.map((each) => ({ ...each, unreachable: [] })));
      const [planned, before] = [planOf(viewOf(members)), planOf(whole)];
      const isolated = isolatedOf(viewOf(members));
      planned.forEach((owner, shard) => {
        if (!isolated.has(before[shard] ?? '')) assert.equal(owner, before[shard]);
      });
    }),
  );
});

test('isolation of two equal parts of three hundred members is computed quickly', (t) => {
  const members = Array.from({ length: 300 }, (_, i) =>
    member(i, { startedAtMs: i, unreachable: Array.from({ length: 150 }, (_, n) => incarnation(2 * n + (i % 2 === 0 ? 1 : 0))) }),
  );
  const beganMs = performance.now();
  const isolated = isolatedOf(viewOf(members));
  t.diagnostic(`300 members: ${(performance.now() - beganMs).toFixed(1)} ms`);
  assert.deepEqual([...isolated].sort(), members.flatMap((each, i) => (i % 2 === 1 ? [each.incarnation] : [])).sort());
});

function linked(a: Member, b: Member): boolean {
  return a.incarnation === b.incarnation || !(a.unreachable!.includes(b.incarnation) || b.unreachable!.includes(a.incarnation));
}

function near(members: readonly Member[], a: Member, b: Member): boolean {
  return linked(a, b) || members.some((by) => linked(a, by) && linked(by, b));
}

function incarnation(n: number): string {
  return `n${n}/1`;
}

function member(n: number, changes: Partial<Member> = {}): Member {
  const name = incarnation(n).split('/')[0]!;
  return { incarnation: incarnation(n), name, host: '127.0.0.1', port: 1, roles: ['edge', 'actors'], leaving: false, ...changes };
}

function viewOf(members: Member[]): View {
  return { number: 1, members };
}
