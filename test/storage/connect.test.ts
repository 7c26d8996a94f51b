/** Settings of every connection to PostgreSQL. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import test from 'node:test';
import { connect } from '../../src/storage/connect.ts';
import { testDatabase } from '../support/database.ts';

const options = { skip: process.platform !== 'linux' && 'the timers of connections are shown on Linux alone' };
const keepAliveTimer = '02';
const ticksOfASecond = 100;

test('a connection whose peer vanished is detected within seconds, also while a statement waits for an hour', options, async (t) => {
  const database = await testDatabase({ empty: true });
  t.after(() => database.close());
  const client = await connect({ url: database.url, name: 'silence', statementTimeoutMs: 0 });
  t.after(() => client.end());
  await client.query('select 1');
  const { localPort, remotePort } = (client as unknown as { connection: { stream: Socket } }).connection.stream;
  const [from, to] = [localPort, remotePort].map((port) => `[0-9A-F]{8}:${port!.toString(16).toUpperCase().padStart(4, '0')}`);
  const row = readFileSync('/proc/net/tcp', 'latin1').match(new RegExp(`: ${from} ${to} .*`))!;
  const [timer, ticks] = row[0].split(/\s+/)[5]!.split(':');
  assert.equal(timer, keepAliveTimer);
  const seconds = Number.parseInt(ticks!, 16) / ticksOfASecond;
  assert.ok(seconds <= 10, `the kernel asks whether it is there after ${seconds} s`);
});
