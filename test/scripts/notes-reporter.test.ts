/** The output of the tests in CI. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { ciReporters } from '../../scripts/test-reporters.ts';
import type { Scope } from '../support/scope.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('in CI the diagnostics of tests, and what was skipped and why, are printed once after the dots', async (t) => {
  const printed = await printedInCi(
    t,
    `test('shapes', (t) => { t.diagnostic('read 200 days ago'); t.diagnostic('read 200 days ago'); });
    test('the real service', { skip: 'no credentials: set TOKEN' }, () => {});
    test('without a reason', { skip: true }, () => {});`,
  );
  assert.equal(printed, '...\n\n\nNotes:\n\nread 200 days ago\nskipped: the real service (no credentials: set TOKEN)\n');
});

test('in CI a failed test is named once with its error when it fails, not only at the end of the run', async (t) => {
  const printed = await printedInCi(
    t,
    "describe('shapes', () => { test('round', () => { throw new Error('no corner'); }); test('long', () => {}); });",
  );
  assert.equal(printed.split('failed: ').length, 2);
  assert.match(printed.slice(0, printed.indexOf('Failed tests:')), /failed: round\nError: no corner\n/);
});

/** What a run of a file with these tests prints. */
async function printedInCi(t: Scope, tests: string): Promise<string> {
  const { path, remove } = await temporaryFolder();
  t.after(remove);
  const file = join(path, 'some.test.mjs');
  await writeFile(file, `import test, { describe } from 'node:test';\n${tests}`);
  const { NODE_TEST_CONTEXT: _inherited, ...env } = process.env;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--test', ...ciReporters, file], { env });
  return text(child.stdout);
}
