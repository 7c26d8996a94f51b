/** The output of the tests in CI. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { ciReporters } from '../../scripts/test-reporters.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('in CI the diagnostics of tests, and what was skipped and why, are printed once after the dots', async (t) => {
  const { path, remove } = await temporaryFolder();
  t.after(remove);
  const file = join(path, 'some.test.mjs');
  const source = `import test from 'node:test';
    test('shapes', (t) => { t.diagnostic('read 200 days ago'); t.diagnostic('read 200 days ago'); });
    test('the real service', { skip: 'no credentials: set TOKEN' }, () => {});
    test('without a reason', { skip: true }, () => {});`;
  await writeFile(file, source);
  const { NODE_TEST_CONTEXT: _inherited, ...env } = process.env;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', '--test', ...ciReporters, file], { env });
  assert.equal(await text(child.stdout), '...\n\n\nNotes:\n\nread 200 days ago\nskipped: the real service (no credentials: set TOKEN)\n');
});
