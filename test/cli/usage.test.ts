/** Messages of the command for wrong usage and without a service. No service runs here. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import test from 'node:test';
import { hosts } from '../../src/cli/deploy-options.ts';
import { targets } from '../../src/domains/deployments/targets.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { troupe } from './command.ts';

async function outcome(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number | null; out: string; error: string; left: string[] }> {
  const folder = await temporaryFolder('troupe-person-');
  try {
    const command = troupe(args, { folder: folder.path, dataDir: join(folder.path, 'data'), env });
    const code = await command.exit;
    return { code, out: command.stdout(), error: command.stderr(), left: await readdir(folder.path) };
  } finally {
    await folder.remove();
  }
}

test('help is on standard output and exits with 0; a missing command exits with 2', async () => {
  for (const args of [['--help'], ['help'], ['run', '--help'], ['run', '-h'], ['deploy', '--help']]) {
    const { code, out, error } = await outcome(args);
    assert.deepEqual([code, error], [0, '']);
    assert.match(out, /^Usage: npm run troupe -- /);
  }
  assert.equal((await outcome([])).code, 2);
});

test('output that cannot be written is reported, and no success', {
  skip: !existsSync('/dev/full') && 'there is no /dev/full',
}, async () => {
  const folder = await temporaryFolder('troupe-person-');
  for (const args of [['--help'], ['ledger', '--help']]) {
    const command = troupe(args, { folder: folder.path, dataDir: join(folder.path, 'data'), outputFile: '/dev/full' });
    assert.equal(await command.exit, 1);
    assert.match(command.stderr(), /^The output could not be written: .*ENOSPC/);
  }
  await folder.remove();
});

test('wrong usage prints one line and the usage, and exits with 2', async () => {
  const wrong: [string[], RegExp][] = [
    [['frob'], /There is no command "frob"/],
    [['constructor'], /There is no command "constructor"/],
    [['run'], /Give a prompt/],
    [['run', '  '], /Give a prompt/],
    [['run', 'x', '--nope'], /Unknown option '--nope'/],
    [['run', 'x', '--max-agents'], /'--max-agents <value>' argument missing/],
    [['run', 'x', '--max-agents', '21'], /--max-agents must be a whole number from 1 to 20/],
    [['run', 'x', '--autonomy', '1e2'], /--autonomy must be a whole number from 0 to 100/],
    [['run', 'x', '--max-credits', '0'], /--max-credits must be a number above 0/],
    [['run', 'x', '--url', 'localhost:8080'], /--url must be an http:\/\/ or https:\/\/ address/],
    [['run', 'x', '--url', 'http://me:pw@127.0.0.1'], /--url must have no password/],
    [['run', 'x', '--yes', '--no'], /Use --yes or --no, not both/],
    [['run', 'x', '--attach', 'task_1'], /takes no prompt/],
    [['run', '--attach', 'task_1', '--model', 'm'], /--model is an option of new tasks/],
    [['run', 'x', '--url', 'http://service.example'], /a token is required/],
    [['deploy'], /Give the folder to publish/],
    [['deploy', 'a', 'b', '--target', 'vercel'], /Give one folder only/],
    [['deploy', '.'], /Give a host: --target vercel, netlify, cloudflare or expo/],
    [['deploy', '.', '--target', 'aws'], /aws is no host: --target vercel, netlify, cloudflare or expo/],
    [['deploy', 'nowhere', '--target', 'vercel'], /nowhere does not exist/],
    [['deploy', '.', '--target', 'vercel'], /There is no file to publish/],
    [['deploy', '.', '--attach', 'dep_1'], /takes no folder/],
    [['deploy', '--attach', 'dep_1', '--target', 'vercel'], /--target is an option of new deployments/],
  ];
  for (const [args, words] of wrong) {
    const { code, out, error, left } = await outcome(args);
    assert.equal(code, 2, `${args.join(' ')}: ${error}`);
    assert.match(error, words);
    assert.match(error, /Usage: npm run troupe/);
    assert.deepEqual([out, left], ['', []]);
  }
});

test('an invalid setting is reported as at the start of the service', async () => {
  const { code, error } = await outcome(['run', 'x'], { PORT: 'many' });
  assert.equal(code, 2);
  assert.match(error, /^PORT is "many", but must be/);
});

test('without a running service the command prints one line with the start command, and exits with 4', async () => {
  const { code, out, error, left } = await outcome(['run', 'Say hello', '--url', await freeAddress()]);
  assert.equal(code, 4);
  assert.match(error, /^The service cannot be reached at http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\): start it with `npm start`/);
  assert.deepEqual([out, left], ['', []]);
});

async function freeAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

test('the command knows the hosts of the service', () => {
  assert.deepEqual(hosts, targets);
});
