import assert from 'node:assert/strict';
import test from 'node:test';
import { clientText, FrameReader } from '../../bench/support/frames.ts';

/** As a server sends them: no mask. */
function frame(opcode: number, payloadBytes: number): Buffer {
  const length =
    payloadBytes < 126
      ? [payloadBytes]
      : payloadBytes < 65_536
        ? [126, payloadBytes >> 8, payloadBytes & 0xff]
        : [127, 0, 0, 0, 0, 0, payloadBytes >> 16, (payloadBytes >> 8) & 0xff, payloadBytes & 0xff];
  return Buffer.concat([Buffer.from([0x80 | opcode, ...length]), Buffer.alloc(payloadBytes, 'x')]);
}

test('frames of every length are counted once, for any division of the bytes', () => {
  const sizes = [0, 1, 5, 125, 126, 300, 0, 70_000, 2];
  const bytes = Buffer.concat(sizes.map((size) => frame(1, size)));
  for (const cut of [1, 2, 3, 7, 11, 128, 4_096, bytes.length]) {
    const reader = new FrameReader();
    const seen: number[] = [];
    for (let at = 0; at < bytes.length; at += cut) {
      const chunk = bytes.subarray(at, at + cut);
      reader.read(chunk, chunk.length, (opcode, payloadBytes) => {
        assert.equal(opcode, 1);
        seen.push(payloadBytes);
      });
    }
    assert.deepEqual(seen, sizes, `cut every ${cut} bytes`);
  }
});

test('a frame that arrives in one piece is returned without a copy', () => {
  const bytes = Buffer.concat([frame(9, 0), frame(1, 20), frame(1, 30)]);
  const shown: string[] = [];
  new FrameReader().read(bytes, bytes.length, (opcode, payloadBytes, chunk, start) => {
    if (opcode === 1 && chunk !== null) shown.push(chunk.toString('utf8', start, start + payloadBytes));
  });
  assert.deepEqual(shown, ['x'.repeat(20), 'x'.repeat(30)]);
});

test('frames of clients are masked, as servers require', () => {
  const bytes = clientText('y'.repeat(200));
  assert.equal(bytes[1]! & 0x80, 0x80);
  assert.equal(bytes.readUInt16BE(2), 200);
  assert.equal(bytes.subarray(8).toString(), 'y'.repeat(200));
});
