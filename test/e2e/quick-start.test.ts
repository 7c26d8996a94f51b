/** The examples of the README, run exactly as written; only the address and the data folder differ. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { promisify } from 'node:util';
import { startService } from '../support/service.ts';

test("the README's first task by curl reports the figures of the file, its first card pays, its first order fills, the books are correct, and its first site is served", {
  timeout: 300_000,
}, async (t) => {
  const service = await startService(t, {}, { fresh: true, limited: true });
  const readme = await readFile('README.md', 'utf8');
  // The blocks run in one shell in the order of the README, since later blocks use variables of earlier ones.
  const blocks = ['quick-start', 'first-card', 'first-order', 'first-deployment'].map((name) => blockOf(readme, name));
  const script = blocks.join('echo; echo "== next"\n').replaceAll('http://127.0.0.1:8080', service.url);
  const env = { ...process.env, DATA_DIR: service.dataDir };
  const { stdout } = await promisify(execFile)('sh', ['-euc', script], { timeout: 120_000, env });
  const [task, card, order, site] = stdout.split('== next') as [string, string, string, string];

  const rows = (await readFile('examples/sales.csv', 'utf8')).trimEnd().split('\n');
  const [header, ...records] = rows.map((row) => row.split(','));
  const amounts = records.map((record) => record[header!.indexOf('amount')]!).filter((amount) => amount !== '');
  const cents = amounts.reduce((sum, amount) => sum + Math.round(Number(amount) * 100), 0);
  const total = (cents / 100).toLocaleString('en-US', { minimumFractionDigits: 2 });
  assert.match(task, new RegExp(`${records.length} rows, ${header!.length} columns`));
  assert.ok(
    task.includes(`amount adds up to ${total} over ${amounts.length} rows`),
    `the report says what amount adds up to, ${total}:\n${task}`,
  );

  assert.match(card, /"merchant":"Acme","status":"approved"/);
  assert.match(card, /"balance":230\.01,/);
  assert.match(card, /The books are correct: 4 entries, 1 wallets with 230\.01 USD, 1 cards/);

  assert.match(order, /"symbol":"AAPL","asset_class":"equity","side":"long","quantity":1,/);
  assert.match(order, /The trading books are correct: 1 accounts, 1 orders, 0 of them open, 1 fills/);

  assert.match(site, /\n<link rel="stylesheet" href="css\/site.css"><h1>Hello<\/h1>\n$/);
});

for (const status of ['failed', 'cancelled']) {
  test(`the README's wait for the task ends when it is ${status}, and prints this`, { timeout: 300_000 }, async () => {
    const lines = blockOf(await readFile('README.md', 'utf8'), 'quick-start');
    const wait = /# Wait until the task ends\n([\s\S]*?)\n\n/.exec(lines)![1]!;
    // A stand-in for the service: the first answer is `running`, later answers are the final status.
    const answers = `N=$(mktemp); curl() { echo >> $N; if [ $(wc -l < $N) -gt 1 ]; then echo ${status}; else echo running; fi; }; field() { cat; }`;
    const { stdout } = await promisify(execFile)('sh', ['-euc', `BASE=; TASK=; TOKEN=; ${answers}\n${wait}\nrm $N`], { timeout: 300_000 });
    assert.equal(stdout, `The task is ${status}\n`);
  });
}

function blockOf(readme: string, name: string): string {
  const block = new RegExp(`<!-- ${name} -->\\n\`\`\`sh\\n([\\s\\S]*?)\`\`\``).exec(readme);
  assert.ok(block, `the README has ${name}`);
  return block[1]!;
}
