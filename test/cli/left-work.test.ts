/** `troupe left-work` as an operator runs it: work that no node knows is listed by name and put aside, and the work behind it continues. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { readLeftWorkOptions } from '../../src/cli/left-work-options.ts';
import { shardOf } from '../../src/cluster/address.ts';
import { olderProbe, probe, probeOptions } from '../support/probe-actor.ts';
import { testRuntime } from '../support/runtime.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { troupe } from './command.ts';

test('work recorded by a newer version is listed and put aside as dead letters; the work behind it is consumed', async (t) => {
  const node = await testRuntime([olderProbe], { ...probeOptions, outbox: { sweepIntervalMs: 20 } });
  t.after(() => node.close());
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  const run = async (...args: string[]) => {
    const command = troupe(['left-work', ...args], { folder: folder.path, dataDir: folder.path, env: { DATABASE_URL: node.url } });
    const code = await command.exit;
    return { code, out: command.stdout(), error: command.stderr() };
  };
  const shard = shardOf('probe', 'r');
  await node.sql(
    `insert into message (id, shard, kind, actor_id, command, input, sender, created_at) select 'msg_' || n, $1, 'probe', 'r', command, to_json(n), 'probe/s', now() - interval '1 h'
      from unnest(array['receiveNew', 'receiveNew', 'receive']) with ordinality m(command, n)`,
    [shard],
  );
  await node.sql(
    `insert into timer (kind, actor_id, name, shard, command, input, due_at) values ('probe', 'r', 'nap', $1, 'woke', '{}', now() - interval '2 h'), ('probe', 'r', 'later', $1, 'woke', '{}', now())`,
    [shard],
  );
  await node.sql(
    `insert into effect (id, shard, kind, actor_id, name, input, created_at) values ('eff_1', $1, 'probe', 'r', 'work', '{}', now() - interval '3 h')`,
    [shard],
  );
  const listed = await run('list', '--json');
  assert.deepEqual(
    JSON.parse(listed.out).waiting.map(({ place, name, rows }: any) => [place, name, rows]),
    [
      ['effect', 'work', 1],
      ['message', 'receive', 1],
      ['message', 'receiveNew', 2],
      ['timer', 'woke', 1],
    ],
  );
  const messages = await run('put-aside', 'message', 'probe/receiveNew');
  assert.deepEqual(
    [messages.code, messages.out],
    [0, '2 of message probe/receiveNew are dead letters now: see dead-letter list --kind probe\n'],
  );
  await until(async () => ((await node.actors.query(probe, 'r', 'state', null))?.received.length ?? 0) === 1, 'what waited behind them');
  assert.equal((await run('put-aside', 'timer', 'probe/woke')).code, 0);
  const letters = await node.sql('select actor_id, command, source, source_id, error from dead_letter order by source_id');
  assert.deepEqual(
    letters.map(({ command, source, source_id }) => [command, source, source_id]),
    [
      ['receiveNew', 'message', 'msg_1'],
      ['receiveNew', 'message', 'msg_2'],
      ['woke', 'timer', 'nap'],
    ],
  );
  for (const { error } of letters) assert.match(error, /^Put aside by \S+@\S+: no node had taken it$/);
  assert.deepEqual(await node.sql('select name from timer'), [{ name: 'later' }]);
  assert.deepEqual(await node.sql('select id from message'), []);
  const again = await run('put-aside', 'message', 'probe/receiveNew');
  assert.deepEqual([again.code, again.error], [1, 'No message probe/receiveNew has waited for 10 minutes: see left-work list\n']);
});

test('missing and superfluous options are refused', () => {
  const refused: [string[], RegExp][] = [
    [[], /list or put-aside/],
    [['list', 'message'], /takes no names/],
    [['list', '--limit', '5'], /option of put-aside/],
    [['put-aside', 'effect', 'probe/work'], /actor waits for its outcome/],
    [['put-aside', 'message', 'probe'], /KIND\/COMMAND/],
    [['put-aside', 'message', 'a/b', 'c/d'], /KIND\/COMMAND/],
    [['list', '--minutes', '0'], /--minutes must be a whole number from 1 to 100000/],
  ];
  for (const [args, message] of refused) assert.throws(() => readLeftWorkOptions(args), { kind: 'usage', message });
});
