/** The quick start of the README, exactly as it is written there; only the address and the folder of the data differ. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { promisify } from 'node:util';
import { startService } from '../support/service.ts';

test("the README's first task by curl ends with a report whose figures are those of the file", { timeout: 120_000 }, async (t) => {
  const service = await startService(t, {}, { limited: true });
  const readme = await readFile('README.md', 'utf8');
  const block = /<!-- quick-start -->\n```sh\n([\s\S]*?)```/.exec(readme);
  assert.ok(block, 'the README has a quick start');
  const script = block[1]!.replaceAll('http://127.0.0.1:8080', service.url);
  const { stdout } = await promisify(execFile)('sh', ['-euc', script], { timeout: 60_000 });

  const rows = (await readFile('examples/sales.csv', 'utf8')).trimEnd().split('\n');
  const [header, ...records] = rows.map((row) => row.split(','));
  const amounts = records.map((record) => record[header!.indexOf('amount')]!).filter((amount) => amount !== '');
  const cents = amounts.reduce((sum, amount) => sum + Math.round(Number(amount) * 100), 0);
  const total = (cents / 100).toLocaleString('en-US', { minimumFractionDigits: 2 });
  assert.match(stdout, new RegExp(`${records.length} rows, ${header!.length} columns`));
  assert.ok(
    stdout.includes(`amount adds up to ${total} over ${amounts.length} rows`),
    `the report says what amount adds up to, ${total}:\n${stdout}`,
  );
});
