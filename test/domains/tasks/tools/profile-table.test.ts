/**
 * The tool profile_table as an agent calls it: over a workspace, with bounded results, and with memory that does not grow with the file.
 */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { maxResultBytes } from '../../../../src/domains/tasks/tools/port.ts';
import { createProfileTable } from '../../../../src/domains/tasks/tools/profile-table.ts';
import { ToolError } from '../../../../src/errors.ts';
import { inlineCompute } from '../../../../src/providers/compute/inline.ts';
import type { TableProfile } from '../../../../src/providers/table/port.ts';
import { column, numbersOf } from '../../../providers/table/tables.ts';
import { toolContext } from '../../../support/memory-workspace.ts';

test('the figures of the example sales file equal those of a simple addition', async () => {
  const text = await readFile(new URL('../../../../examples/sales.csv', import.meta.url), 'utf8');
  const profile = await run('sales.csv', () => Readable.from([Buffer.from(text)]));
  const rows = text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
  const cents = rows
    .map((cells) => cells[5]!)
    .filter((cell) => cell !== '')
    .map((cell) => Math.round(Number(cell) * 100));
  assert.equal(profile.rows, rows.length);
  assert.equal(
    Math.round(numbersOf(profile, 'amount').sum * 100),
    cents.reduce((sum, each) => sum + each, 0),
  );
  assert.equal(
    profile.columns.reduce((sum, { missing }) => sum + missing, 0),
    rows.flat().filter((cell) => cell === '').length,
  );
  const units = numbersOf(profile, 'units').outliers.most_extreme.map(({ row }) => row);
  assert.ok(units.includes(47) && units.includes(89), 'the two planted outliers are found');
});

test('fifty megabytes are read with exact sums in bounded memory', async () => {
  const megabytes = 50;
  let rows = 0;
  const before = process.memoryUsage();
  let peakBytes = 0;
  const watch = () => {
    const { heapUsed, external } = process.memoryUsage();
    peakBytes = Math.max(peakBytes, heapUsed + external - before.heapUsed - before.external);
  };
  const table = () => {
    rows = 0;
    let bytes = 0;
    let started = false;
    return new Readable({
      read() {
        if (!started) {
          started = true;
          this.push('id,region,customer,amount\n');
          return;
        }
        if (bytes >= megabytes * 2 ** 20) {
          this.push(null);
          return;
        }
        let chunk = '';
        for (let i = 0; i < 1000; i++) {
          rows++;
          chunk += `${rows},region ${rows % 7},customer ${(rows * 7919) % 400_000},${(rows % 1000) / 100}\n`;
        }
        if (rows % 50_000 === 0) watch();
        bytes += chunk.length;
        this.push(chunk);
      },
    });
  };
  const profile = await run('big.csv', table);
  assert.equal(profile.rows, rows);
  let cents = 0;
  for (let i = 1; i <= rows; i++) cents += i % 1000;
  assert.equal(Math.round(numbersOf(profile, 'amount').sum * 100), cents);
  const customers = column(profile, 'customer');
  assert.equal(customers.distinct_estimated, true);
  assert.ok(Math.abs(customers.distinct / 400_000 - 1) < 0.08, `estimated ${customers.distinct}`);
  assert.equal(profile.groups.find(({ by }) => by === 'region')?.values.length, 7);
  assert.ok(peakBytes > 0 && peakBytes < 220 * 2 ** 20, `memory grew by ${Math.round(peakBytes / 2 ** 20)} MiB`);
});

test('a profile too large for a result first omits its groups and states it', async () => {
  const names = Array.from({ length: 150 }, (_, i) => `a rather long column name ${i} ${'x'.repeat(80)}`);
  const line = (n: number) => names.map((_, i) => (i % 3 === 0 ? `group ${(n + i) % 35}` : n * i)).join(',');
  const text = `${names.join(',')}\n${Array.from({ length: 100 }, (_, n) => line(n)).join('\n')}\n`;
  const profile = await run('wide.csv', () => Readable.from([Buffer.from(text)]));
  assert.ok(Buffer.byteLength(JSON.stringify(profile)) <= maxResultBytes);
  assert.match(profile.trimmed.join('; '), /groups/);
  assert.equal(profile.column_count, 150);
});

test('lists within the records of a JSON file are also reduced to fit', async () => {
  const entry = (n: number) =>
    Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`field ${i} ${'y'.repeat(60)}`, `value ${(n * i) % 37}`]));
  const records = Array.from({ length: 40 }, (_, n) => ({ id: `R${n}`, a: [entry(n), entry(n + 1)], b: [entry(n + 2)] }));
  const profile = await run('deep.json', () => Readable.from([Buffer.from(JSON.stringify(records))]));
  assert.ok(Buffer.byteLength(JSON.stringify(profile)) <= maxResultBytes);
  assert.deepEqual(
    [profile, ...profile.nested].map(({ rows }) => rows),
    [40, 80, 40],
  );
});

test('a file that is not a table is refused with the reason', async () => {
  await assert.rejects(
    run('scan.png', () => Readable.from([Buffer.from([0x89, 0x50, 0x4e, 0x47, 1, 2, 3, 4])])),
    ToolError,
  );
});

test('an abort ends the reading of a long file', async () => {
  const abort = new AbortController();
  let chunks = 0;
  const endless = () =>
    new Readable({
      read() {
        if (++chunks === 200) abort.abort();
        this.push(chunks > 5000 ? null : 'a,b\n1,2\n'.repeat(500));
      },
    });
  await assert.rejects(run('endless.csv', endless, abort.signal));
  assert.ok(chunks < 5000);
});

function run(name: string, open: () => Readable, signal = new AbortController().signal): Promise<TableProfile> {
  const workspace = {
    list: async () => [],
    open: async () => ({ stream: open(), sizeBytes: 0, type: 'text/csv' }),
    write: async () => assert.fail('it only reads'),
    keep: async () => assert.fail('it only reads'),
    hasReadUntrusted: () => false,
  };
  return createProfileTable(inlineCompute).run({ path: name }, toolContext(workspace, signal)) as Promise<TableProfile>;
}
