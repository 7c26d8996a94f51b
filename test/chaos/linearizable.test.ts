/** The checker of register histories: with hand-made histories, and compared with a checker that tries every order. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { randomFrom } from '../support/random.ts';
import { judgeRegister, type RegisterOperation } from './linearizable.ts';

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

test('sequential operations', () => {
  assert.equal(verdictOf(write('a', 1, 0, 1), read('a', 2, 3), write('b', 2, 4, 5), read('b', 6, 7)), 'linearizable');
  assert.equal(verdictOf(read(null, 0, 1), write('a', 1, 2, 3)), 'linearizable');
  assert.equal(verdictOf(), 'linearizable');
});

test('a read that returns a value overwritten before it began', () => {
  assert.equal(verdictOf(write('a', 1, 0, 1), write('b', 2, 2, 3), read('a', 4, 5)), 'not linearizable');
  assert.equal(verdictOf(write('a', 1, 0, 1), read(null, 2, 3)), 'not linearizable');
});

test('reads beside a write may see either value, but never the new one first', () => {
  assert.equal(verdictOf(write('a', 1, 0, 1), write('b', 2, 2, 10), read('a', 3, 4), read('b', 5, 6)), 'linearizable');
  assert.equal(verdictOf(write('a', 1, 0, 1), write('b', 2, 2, 10), read('b', 3, 4), read('a', 5, 6)), 'not linearizable');
});

test('versions that were answered twice, left out, or in the wrong order', () => {
  assert.equal(verdictOf(write('a', 1, 0, 5), write('b', 1, 1, 6)), 'not linearizable');
  assert.equal(verdictOf(write('a', 1, 0, 1), write('b', 3, 2, 3)), 'not linearizable');
  assert.equal(verdictOf(write('a', 2, 0, 1), write('b', 1, 2, 3)), 'not linearizable');
  assert.equal(verdictOf(write('a', 2, 0, 5), write('b', 1, 1, 6)), 'linearizable');
});

test('a write with an unknown outcome takes effect late, or never, or once', () => {
  const lost = (value: string, from: number) => write(value, null, from, Number.POSITIVE_INFINITY);
  assert.equal(verdictOf(lost('x', 0), write('a', 1, 1, 2), read('a', 3, 4)), 'linearizable');
  assert.equal(verdictOf(lost('x', 0), write('a', 1, 1, 2), read('a', 3, 4), read('x', 5, 6)), 'linearizable');
  assert.equal(verdictOf(lost('x', 0), write('a', 1, 1, 2), read('x', 3, 4), write('b', 2, 5, 6)), 'not linearizable');
  assert.equal(verdictOf(write('a', 1, 1, 2), read('x', 3, 4), lost('x', 5)), 'not linearizable', 'not before it was asked for');
  assert.equal(verdictOf(lost('x', 0), read('x', 1, 2), write('b', 2, 3, 4), read('x', 5, 6)), 'not linearizable', 'not twice');
});

test('a search that takes too long reports an unknown result', () => {
  const many = Array.from({ length: 12 }, (_, n) => write(`v${n}`, null, n, Number.POSITIVE_INFINITY));
  assert.equal(judgeRegister([...many, read('none of them', 20, 21)].map(numbered), 1_000).kind, 'undecided');
});

test(`the checker has the same result as trying every order (seed ${seed})`, () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: 6 }), (from, count) => {
      const random = randomFrom(from);
      const history = Array.from({ length: count }, () => {
        const invokedMs = random.between(0, 12);
        const returnedMs = invokedMs + random.between(0, 6);
        if (random.next() < 0.45) return read(random.pick([null, 'a', 'b']), invokedMs, returnedMs);
        const unknown = random.next() < 0.3;
        const end = unknown ? Number.POSITIVE_INFINITY : returnedMs;
        return write(random.pick(['a', 'b']), unknown ? null : random.between(1, 3), invokedMs, end);
      }).map(numbered);
      assert.equal(judgeRegister(history).kind === 'linearizable', someOrderExplains(history, 0, null));
    }),
    { seed, numRuns: 3_000 },
  );
});

test('a long history of a real register, with unanswered writes, is checked quickly', () => {
  const random = randomFrom(seed);
  const history: RegisterOperation[] = [];
  let version = 0;
  let value: string | null = null;
  for (let n = 0; n < 1_000; n++) {
    const invokedMs = n * 10 - random.between(0, 25);
    const returnedMs = n * 10 + random.between(1, 25);
    if (random.next() < 0.5) history.push(read(value, invokedMs, returnedMs));
    else if (random.next() < 0.008) {
      if (random.next() < 0.5) [version, value] = [version + 1, `v${n}`];
      history.push(write(`v${n}`, null, invokedMs, Number.POSITIVE_INFINITY));
    } else {
      [version, value] = [version + 1, `v${n}`];
      history.push(write(value, version, invokedMs, returnedMs));
    }
  }
  assert.equal(judgeRegister(history.map(numbered)).kind, 'linearizable');
});

type Unnumbered = Omit<RegisterOperation, 'id'>;

function write(value: string, version: number | null, invokedMs: number, returnedMs: number): RegisterOperation {
  return { id: 0, kind: 'write', value, version, invokedMs, returnedMs };
}

function read(value: string | null, invokedMs: number, returnedMs: number): RegisterOperation {
  return { id: 0, kind: 'read', value, version: null, invokedMs, returnedMs };
}

function numbered(operation: Unnumbered, n: number): RegisterOperation {
  return { ...operation, id: n + 1 };
}

function verdictOf(...operations: RegisterOperation[]): string {
  return judgeRegister(operations.map(numbered)).kind;
}

/** Tries every order in which each operation comes before all operations that began after its end. */
function someOrderExplains(left: readonly RegisterOperation[], version: number, value: string | null): boolean {
  if (left.every(({ returnedMs }) => returnedMs === Number.POSITIVE_INFINITY)) return true;
  return left.some((operation) => {
    if (left.some((other) => other !== operation && other.returnedMs < operation.invokedMs)) return false;
    const rest = left.filter((other) => other !== operation);
    if (operation.kind === 'read') return operation.value === value && someOrderExplains(rest, version, value);
    if (operation.version !== null && operation.version !== version + 1) return false;
    return someOrderExplains(rest, version + 1, operation.value);
  });
}
