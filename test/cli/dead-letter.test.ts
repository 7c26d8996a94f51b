/** `troupe dead-letter` as an operator runs it: shown and hidden data, and that retried letters are consumed once. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { deadLetter } from '../../src/cli/dead-letter.ts';
import { loadConfig } from '../../src/config.ts';
import { effects, probe, probeActor, probeOptions } from '../support/probe-actor.ts';
import { type TestRuntime, testRuntime } from '../support/runtime.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { troupe } from './command.ts';

type Ended = { code: number | null; out: string; error: string };

async function commandAt(t: TestContext, databaseUrl: string): Promise<(...args: string[]) => Promise<Ended>> {
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  return async (...args) => {
    const command = troupe(['dead-letter', ...args], { folder: folder.path, dataDir: folder.path, env: { DATABASE_URL: databaseUrl } });
    const code = await command.exit;
    return { code, out: command.stdout(), error: command.stderr() };
  };
}

const secret = 'correct-horse-battery';
const account = 'acct_01hq3v7c2m4k8n0p5r9s1t6wxy';
const poison = { overflow: true, account, seats: 3, code: 271_828, words: ['please', `send ${secret}`], password: secret };

test('dead letters are shown without their payload; a letter retried by two concurrent commands is consumed once, and retry and discard are recorded', async (t) => {
  const node = await testRuntime([probeActor], { ...probeOptions, outbox: { sweepIntervalMs: 20 } });
  t.after(() => node.close());
  const command = await commandAt(t, node.url);
  effects.work = async () => 'poison';
  await node.actors.ask(probe, 's', 'send', { to: 'r', inputs: [poison] });
  await node.actors.ask(probe, 'a', 'begin', { effect: 'work', input: {} });
  await until(async () => (await letters(node)).length === 2, 'the dead letters');
  // As a version wrote it that named no source, with an error that repeats the payload.
  await node.sql(
    `insert into dead_letter (id, kind, actor_id, command, input, error, created_at) values ('msg_old', 'probe', 'b', 'effect work', $1, $2, now())`,
    [JSON.stringify(poison), `TypeError: "send ${secret}" is too much`],
  );
  const [message, outcome] = await letters(node);

  const [list, shown, payload] = (await Promise.all([
    command('list', '--json'),
    command('show', message!),
    command('show', message!, '--payload'),
  ])) as [Ended, Ended, Ended];
  const listed = JSON.parse(list.out);
  assert.deepEqual([listed.total, listed.dead_letters.map(({ id }: any) => id).sort()], [3, [message, outcome, 'msg_old'].sort()]);
  const byId = new Map<string, any>(listed.dead_letters.map((letter: any) => [letter.id, letter]));
  const { source, actor, command: name, attempts, size_bytes, error } = byId.get(message!);
  assert.deepEqual(
    { source, actor, name, attempts, size_bytes },
    {
      source: 'message',
      actor: { kind: 'probe', id: 'r' },
      name: 'receive',
      attempts: 3,
      size_bytes: JSON.stringify(poison).length,
    },
  );
  assert.match(error, /^error: .* violates check constraint/);
  assert.deepEqual([byId.get(outcome!).source, byId.get('msg_old').source, byId.get('msg_old').attempts], ['outcome', 'effect', null]);
  assert.equal(byId.get('msg_old').error, 'TypeError: "[secret]" is too much');
  assert.match(shown.out, /\nactor {4}probe\/r\ncommand {2}receive\ntries {4}3 tries\nsize {5}\d+ B\nerror {4}error: /);
  assert.ok(!shown.out.includes('seats') && payload.out.includes('"seats": 3') && payload.out.includes(`"account": "${account}"`));
  assert.match(payload.out, /"code": "\(masked\)"[^}]*"\(text of 6 characters\)"[^}]*"password": "\(masked\)"/);
  for (const { out } of [list, shown, payload]) assert.ok(!out.includes(secret) && !out.includes('271828') && !out.includes('please'), out);

  await node.sql('alter table probe drop constraint probe_value_check');
  const both = await Promise.all([command('retry', message!), command('retry', message!)]);
  assert.deepEqual(both.map(({ code }) => code).sort(), [0, 1]);
  assert.equal(both.find(({ code }) => code === 0)!.out, `${message} is sent to its actor again\n`);
  assert.match(
    both.find(({ code }) => code === 1)!.error,
    new RegExp(`^${message} is no longer a dead letter: \\S+@\\S+ retried it at 20\\d\\d-\\S+Z\n$`),
  );
  await until(async () => (await received(node, 'r')).length > 0, 'the message');
  await node.actors.ask(probe, 'r', 'touch', null);
  assert.deepEqual([await received(node, 'r'), await node.sql('select id from message')], [[poison], []]);

  const [effect, discarded] = (await Promise.all([command('retry', 'msg_old'), command('discard', outcome!, 'msg_none', '--json')])) as [
    Ended,
    Ended,
  ];
  assert.deepEqual([effect.code, effect.out], [1, '']);
  assert.match(effect.error, /^msg_old is an effect .* It can only be discarded\n$/);
  assert.equal(discarded.code, 1);
  const unknown = 'There is no dead letter msg_none: see dead-letter list';
  assert.deepEqual([JSON.parse(discarded.out), discarded.error], [{ discarded: [outcome], refused: [unknown] }, `${unknown}\n`]);
  assert.deepEqual(await letters(node), ['msg_old']);
  const log = JSON.parse((await command('log', '--json')).out).actions;
  assert.deepEqual(
    log.map(({ id, action, actor }: any) => [id, action, actor.id]),
    [
      [outcome, 'discard', 'a'],
      [message, 'retry', 'r'],
    ],
  );
});

test('wrong usage exits with 2 and one line, an unreachable database with 4', async (t) => {
  const command = await commandAt(t, 'postgres://me:secret@127.0.0.1:1/none');
  const [used, nowhere, help] = (await Promise.all([command(), command('list'), command('--help')])) as [Ended, Ended, Ended];
  assert.deepEqual([used.code, used.out], [2, '']);
  assert.match(used.error, /^Give a command: list, show, retry, discard or log\nUsage: npm run troupe -- dead-letter /);
  assert.equal(nowhere.code, 4);
  assert.match(nowhere.error, /^The database none at 127\.0\.0\.1:1 cannot be used \(.*\): check DATABASE_URL\n$/);
  assert.deepEqual([help.code, help.error], [0, '']);
  const config = loadConfig({});
  const wrong = [
    ['show'],
    ['show', 'a', 'b'],
    ['retry'],
    ['discard'],
    ['list', 'a'],
    ['list', '--limit', '0'],
    ['list', '--payload'],
    ['log', '--kind', 'x'],
  ];
  for (const args of wrong) await assert.rejects(deadLetter(args, config), { name: 'Failure', kind: 'usage' }, args.join(' '));
});

async function letters(node: TestRuntime): Promise<string[]> {
  // The message's first.
  return (await node.sql(`select id from dead_letter order by command = 'receive' desc, id`)).map(({ id }) => id);
}

async function received(node: TestRuntime, id: string): Promise<unknown[]> {
  return (await node.actors.query(probe, id, 'state', null))?.received ?? [];
}
