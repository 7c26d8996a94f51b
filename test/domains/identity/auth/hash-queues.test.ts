/** The order of password hashes while other networks request many. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { HashQueues, type HashRequester } from '../../../../src/domains/identity/auth/hash-queues.ts';

/** One hash at a time, each of which ends when `step` is called; `order` lists their users, and `finish` ends all. */
function open(options = {}) {
  const hashQueues = new HashQueues({ maxRunning: 1, ...options });
  const order: string[] = [];
  const running: (() => void)[] = [];
  let finished = false;
  const ask = (name: string, line: HashRequester): Promise<void> =>
    hashQueues.pass(line, async () => {
      order.push(name);
      if (!finished) await new Promise<void>((resolve) => running.push(resolve));
    });
  async function step(): Promise<void> {
    running.shift()!();
    while (running.length === 0) await new Promise(setImmediate);
  }
  function finish(): void {
    finished = true;
    for (const end of running) end();
  }
  return { hashQueues, order, ask, step, finish };
}
const settled = () => new Promise(setImmediate);

test('a flood of one network, from all its addresses, delays another user by at most the running hashes and one turn', async () => {
  for (const flooder of [(n: number) => `2001:db8:1:${n.toString(16)}::1`, (n: number) => `198.51.100.${n}`]) {
    const { hashQueues, order, ask, step, finish } = open();
    for (let n = 0; n < 200; n++) void ask(`flood ${n}`, hashQueues.requesterOf(flooder(n), 'login')).catch(() => {});
    await settled();
    void ask('right', hashQueues.requesterOf('203.0.113.7', 'login'));
    await settled();
    for (let n = 0; n < 3; n++) await step();
    assert.ok(order.includes('right'), order.join());
    finish();
  }
});

test('a flood of registrations from any number of networks does not prevent logins', async () => {
  const { hashQueues, order, ask, step, finish } = open();
  let refused = 0;
  for (let n = 0; n < 300; n++)
    void ask(`flood ${n}`, hashQueues.requesterOf(`198.${n % 200}.${n % 250}.1`, 'register')).catch(() => refused++);
  await settled();
  assert.ok(refused >= 190, String(refused));
  void ask('right', hashQueues.requesterOf('203.0.113.7', 'login'));
  await settled();
  for (let n = 0; n < 2; n++) await step();
  assert.ok(order.includes('right'), order.join());
  finish();
});

test('networks with an earlier correct password, and signed-in users, are not delayed by guesses from other networks', async () => {
  const { hashQueues, order, ask, step, finish } = open();
  hashQueues.noteRight('2001:db8:9::1');
  for (let n = 0; n < 300; n++) void ask(`flood ${n}`, hashQueues.requesterOf(`198.${n % 200}.${n % 250}.1`, 'login')).catch(() => {});
  await settled();
  void ask('known', hashQueues.requesterOf('2001:db8:9:ffff::2', 'login'));
  void ask('proven', hashQueues.requesterOfUser('usr_1'));
  await settled();
  for (let n = 0; n < 4; n++) await step();
  assert.ok(order.includes('known') && order.includes('proven'), order.join());
  finish();
});

test('the number of waiting hashes is limited for an address, a network and a lane, and the waiting ones are served', async () => {
  const counted = async (name: (n: number) => string, many: number, options: object) => {
    const hashQueues = new HashQueues({ maxRunning: 1, ...options });
    const asked = Array.from({ length: many }, (_, n) =>
      hashQueues.pass(hashQueues.requesterOf(name(n), 'login'), settled as () => Promise<void>),
    );
    const outcomes = await Promise.allSettled(asked);
    for (const outcome of outcomes) if (outcome.status === 'rejected') assert.equal(outcome.reason.code, 'overloaded');
    return outcomes.filter(({ status }) => status === 'fulfilled').length;
  };
  assert.equal(await counted(() => '198.51.100.1', 10, { maxWaitingOfAddress: 3 }), 4);
  assert.equal(await counted((n) => `198.51.100.${n}`, 10, { maxWaitingOfNetwork: 5 }), 6);
  assert.equal(await counted((n) => `198.51.${n}.1`, 10, { maxWaitingOfQueue: 7 }), 8);
});
