import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { shardCount } from '../../src/cluster/address.ts';
import type { Member, View } from '../../src/cluster/member.ts';
import { planOf } from '../../src/cluster/placement-plan.ts';

const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,12}$/);
const names = fc.uniqueArray(name, { minLength: 1, maxLength: 12 });

test('P1 the plan is the same for every order of the members, and for another incarnation under the same name', () => {
  fc.assert(
    fc.property(names, fc.infiniteStream(fc.nat()), (chosen, numbers) => {
      const members = chosen.map((each) => member(each));
      const shuffled = members.map((each) => ({ each, at: numbers.next().value as number })).sort((a, b) => a.at - b.at);
      assert.deepEqual(planOf(viewOf(shuffled.map(({ each }) => each))), planOf(viewOf(members)));
      const restarted = planOf(viewOf(members.map((each) => ({ ...each, incarnation: `${each.name}/2` }))));
      assert.deepEqual(restarted.map(nameOf), planOf(viewOf(members)).map(nameOf));
    }),
  );
});

test('P2 a join moves shards only to the new node, a leave moves only the shards of the node that left', () => {
  fc.assert(
    fc.property(names, (chosen) => {
      const [changing, ...staying] = chosen.map((each) => member(each));
      const without = planOf(viewOf(staying));
      const withIt = planOf(viewOf([...staying, changing!]));
      for (let shard = 0; shard < shardCount; shard++) {
        if (withIt[shard] !== changing!.incarnation) assert.equal(withIt[shard], without[shard]);
      }
    }),
  );
});

test('P3 a member that cannot commit counts as left while another can; if none can, the plan is as if all could', () => {
  fc.assert(
    fc.property(names, fc.infiniteStream(fc.boolean()), (chosen, unable) => {
      const members = chosen.map((each) => member(each, unable.next().value ? { cannotCommit: true } : {}));
      const able = members.filter(({ cannotCommit }) => cannotCommit !== true);
      const healthy = (some: Member[]) => viewOf(some.map(({ cannotCommit: _, ...each }) => each));
      assert.deepEqual(planOf(viewOf(members)), planOf(healthy(able.length > 0 ? able : members)));
    }),
  );
});

test('a node that is leaving or has only the edge role gets no shards; without other nodes the plan is empty', () => {
  const edge = member('edge', { roles: ['edge'] });
  const leaving = member('leaving', { leaving: true });
  assert.ok(planOf(viewOf([edge, leaving, member('a')])).every((owner) => owner === 'a/1'));
  assert.ok(planOf(viewOf([edge, leaving])).every((owner) => owner === null));
  assert.equal(planOf(viewOf([])).length, shardCount);
});

test('nodes whose names differ in one digit get fair shares of the shards', () => {
  for (const nodes of [3, 10, 30]) {
    const counts = new Map<string | null, number>();
    for (const owner of planOf(viewOf(Array.from({ length: nodes }, (_, i) => member(`troupe-${i}`))))) {
      counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
    const fair = shardCount / nodes;
    // Four times the spread of independent draws.
    const slack = 4 * Math.sqrt(fair);
    for (const count of counts.values()) assert.ok(Math.abs(count - fair) < slack, `${count} of ${fair} with ${nodes} nodes`);
    assert.equal(counts.size, nodes);
  }
});

function member(chosen: string, changes: Partial<Member> = {}): Member {
  return { incarnation: `${chosen}/1`, name: chosen, host: '127.0.0.1', port: 1, roles: ['edge', 'actors'], leaving: false, ...changes };
}

function viewOf(members: Member[]): View {
  return { number: 1, members };
}

function nameOf(incarnation: string | null): string | undefined {
  return incarnation?.split('/')[0];
}
