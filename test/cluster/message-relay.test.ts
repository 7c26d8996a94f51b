/** Messages in transit between nodes: sent immediately; if one may be lost, its receiver is asked to rescan the database (P1, P2). */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Member } from '../../src/cluster/member.ts';
import { MessageRelay } from '../../src/cluster/message-relay.ts';
import type { MessageDraft } from '../../src/storage/commit-unit.ts';
import { MemoryLinks } from '../support/memory-links.ts';
import { until } from '../support/until.ts';

test('messages go only to the owners of their shards', async () => {
  const { relays, received, owners } = await nodes();
  owners.set(1, 'b').set(2, 'c');
  relays.a!.relay([message('m1', 1), message('m2', 2), message('m3', 1)]);
  await until(() => received.b!.length > 0 && received.c!.length > 0, 'the messages');
  assert.deepEqual([received.a, received.b, received.c], [[], [['m1', 'm3']], [['m2']]]);
});

test('P1 after a cut link is repaired the receiver is asked to rescan before it gets further messages', async () => {
  const { relays, received, owners, links } = await nodes();
  owners.set(1, 'b');
  links.harm('a', 'b', 'cut');
  links.harm('a', 'c', 'cut');
  relays.a!.relay([message('m1', 1)]);
  links.heal('a', 'b');
  await until(() => received.b!.length > 0, 'the message');
  assert.deepEqual(received.b, [null]);
  relays.a!.relay([message('m2', 1)]);
  await until(() => received.b!.length > 1, 'the next');
  assert.deepEqual(received.b, [null, ['m2']]);
});

test('P1 a stream that breaks after messages were sent causes a rescan, since they may be lost', async () => {
  const { relays, received, owners, links } = await nodes();
  owners.set(1, 'b');
  relays.a!.relay([message('m1', 1)]);
  links.harm('a', 'b', 'cut');
  links.heal('a', 'b');
  await until(() => received.b!.includes(null), 'the rescan');
});

test('P3 while a link is cut a third node forwards the request to rescan', async () => {
  const { relays, received, owners, links } = await nodes();
  owners.set(1, 'b');
  links.harm('a', 'b', 'cut');
  relays.a!.relay([message('m1', 1)]);
  await until(() => received.b!.includes(null), 'the rescan');
  assert.deepEqual(received.c, []);
});

test('P2 messages for a shard without an owner, or with another one, cause a rescan by its new owner', async () => {
  const { relays, received, owners } = await nodes();
  owners.set(1, null).set(2, 'c');
  relays.a!.relay([message('m1', 1), message('m2', 2)]);
  await until(() => received.c!.length > 0, 'the message at c');
  const moved = [1, 2].map((shard) => ({ shard, epoch: 9, owner: 'b' }));
  relays.a!.moved(moved);
  relays.a!.moved(moved);
  await until(() => received.b!.length > 0, 'the message at b');
  assert.deepEqual(received.b, [null], 'once for both');
});

test('too many messages for one notification cause a rescan', async () => {
  const { relays, received, owners } = await nodes();
  owners.set(1, 'b').set(2, 'c');
  relays.a!.relay([...Array.from({ length: 501 }, (_, i) => message(`m${i}`, 1)), message('large', 2, 'x'.repeat(300_000))]);
  await until(() => received.b!.length > 0 && received.c!.length > 0, 'the message');
  assert.deepEqual([received.b, received.c], [[null], [null]]);
});

/** Three nodes with streams between all of them. `received`: the ids of messages, or null for a rescan. */
async function nodes() {
  const links = new MemoryLinks();
  const names = ['a', 'b', 'c'];
  const members = new Map(
    names.map((name): [string, Member] => [name, { incarnation: name, name, host: '127.0.0.1', port: 1, roles: [], leaving: false }]),
  );
  const owners = new Map<number, string | null>();
  const received: Record<string, (string[] | null)[]> = {};
  const relays: Record<string, MessageRelay> = {};
  let streams = 0;
  for (const name of names) {
    const peers = links.peersOf(name);
    const notes: (string[] | null)[] = (received[name] = []);
    const relay = (relays[name] = new MessageRelay({
      self: name,
      peers,
      ownerOf: (shard) => owners.get(shard) ?? null,
      member: (incarnation) => members.get(incarnation) ?? null,
      members: () => [...members.values()],
      onMessages: (messages) => void notes.push(messages?.map(({ id }) => id) ?? null),
    }));
    peers.onUp((incarnation) => {
      streams++;
      relay.up(incarnation);
    });
    peers.onDown((incarnation) => relay.down(incarnation));
    peers.setMembers([...members.values()].filter(({ incarnation }) => incarnation !== name));
  }
  await until(() => streams >= 6, 'the streams');
  return { links, relays, received, owners };
}

function message(id: string, shard: number, input: unknown = null): MessageDraft {
  return { id, shard, kind: 'probe', actorId: 'x', command: 'receive', input, createdAt: 0 } as MessageDraft;
}
