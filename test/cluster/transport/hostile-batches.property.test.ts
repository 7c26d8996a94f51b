import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import fc from 'fast-check';
import { maxPieceBytes } from '../../../src/cluster/transport/contract.ts';
import { frameType } from '../../../src/cluster/transport/frames.ts';
import type { Wire } from '../../../src/cluster/transport/wire.ts';
import { rawWire, someAsk, type TestNode, testCluster } from '../../support/transports.ts';

const sound = '[[1,1,10000,"counter","c1","add",{"by":[1,2]},0,"command",null,"trace"],[5,"news",null],[2,1],[7,3]]';

const frame = fc
  .tuple(
    fc.oneof(fc.constantFrom(...Object.values(frameType)), fc.jsonValue()),
    fc.array(fc.oneof(fc.integer(), fc.jsonValue()), { maxLength: 12 }),
  )
  .map(([type, elements]) => [type, ...elements]);

/** With whether the stream has to end. */
const batch: fc.Arbitrary<{ bytes: Buffer; ends: boolean }> = fc.oneof(
  fc.array(frame, { maxLength: 5 }).map((frames) => ({ bytes: Buffer.from(JSON.stringify(frames)), ends: false })),
  fc.json().map((text) => ({ bytes: Buffer.from(text), ends: false })),
  fc.nat(sound.length - 1).map((length) => ({ bytes: Buffer.from(sound.slice(0, length) || '['), ends: true })),
  fc.integer({ min: 1, max: 20_000 }).map((depth) => ({ bytes: Buffer.from('['.repeat(depth)), ends: true })),
  fc.integer({ min: 1, max: 20_000 }).map((depth) => ({ bytes: Buffer.from(`${'['.repeat(depth)}${']'.repeat(depth)}`), ends: depth > 1 })),
  fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => ({ bytes: Buffer.from([0xff, ...bytes]), ends: true })),
);

test('any batch of a peer is answered or ends its stream, and the node continues with the others', async (t) => {
  const { node, other, dial } = await nodeAndPeer(t);
  let wire = await dial();
  let lastNumber = 1e9;
  await fc.assert(
    fc.asyncProperty(batch, async ({ bytes, ends }) => {
      if (wire.ended !== null) wire = await dial();
      const answered = answerTo(wire, ++lastNumber);
      wire.write({ batch: bytes });
      wire.write({ batch: Buffer.from(`[[1,${lastNumber},10000,"counter","c1","add",7,0]]`) });
      assert.equal(await answered, ends ? 'ended' : wire.ended === null ? 7 : 'ended');
    }),
    { numRuns: 150 },
  );
  assert.equal(await other.transport.ask(node.member, someAsk({ input: 1 })), 1);
});

test('an endless batch ends its stream', async (t) => {
  const { node, other, dial } = await nodeAndPeer(t, { maxPayloadBytes: 4 * maxPieceBytes });
  const wire = await dial();
  const ended = answerTo(wire, 1);
  for (let i = 0; i < 8; i++) wire.write({ piece: Buffer.alloc(maxPieceBytes, ' ') });
  assert.equal(await ended, 'ended');
  assert.equal(await other.transport.ask(node.member, someAsk({ input: 1 })), 1);
});

/** A node that returns the input of asks, another node, and a function that opens a raw stream to it. */
async function nodeAndPeer(t: TestContext, options = {}): Promise<{ node: TestNode; other: TestNode; dial(): Promise<Wire> }> {
  const [node, other] = (await testCluster(t, ['node', 'other'], options)) as [TestNode, TestNode];
  let unsound = 0;
  node.transport.serve(({ kind, id, name, commandId, effectId, trace, input }) => {
    const texts = [kind, id, name, ...[commandId, effectId, trace].filter((each) => each !== null)];
    if (!texts.every((each) => typeof each === 'string')) unsound++;
    return input;
  });
  t.after(() => assert.equal(unsound, 0));
  const dial = () => rawWire(t, node, 'a peer that says anything');
  return { node, other, dial };
}

/** The reply under that number, or that the stream has ended. */
function answerTo(wire: Wire, number: number): Promise<unknown> {
  return new Promise((resolve) =>
    wire.listen(
      ({ batch }) => {
        const frames: [type: number, to: number, value: unknown][] = batch ? JSON.parse(batch.toString()) : [];
        for (const [type, to, value] of frames) if (type === frameType.reply && to === number) resolve(value);
      },
      () => resolve('ended'),
    ),
  );
}
