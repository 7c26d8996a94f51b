import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { temporaryFolder } from '../support/temporary-folder.ts';

const preload = `--import=${new URL('../../scripts/light-test-runner.mjs', import.meta.url).href}`;

test('an error that no test catches fails its file, thrown or as a rejected promise, and is printed with its stack', async (t) => {
  const { path: folder, remove } = await temporaryFolder();
  t.after(remove);
  for (const end of [`throw new Error('lost')`, `void Promise.reject(new Error('lost'))`]) {
    const file = join(folder, 'lost.test.mjs');
    const body = `setTimeout(function whoLost() { ${end}; }, 1); await new Promise((resolve) => setTimeout(resolve, 20));`;
    await writeFile(file, `import test from 'node:test';\ntest('passes', async () => { ${body} });\n`);
    const { status, stdout } = runFile(file);
    assert.equal(status, 1, stdout);
    assert.match(stdout, /✖ .*lost\.test\.mjs/);
    assert.match(stdout, /Error: lost\n\s+at .*whoLost/);
  }
});

test('tests and hooks of suites within suites run in their order, before the tests that follow, and a failure in one fails its suites', async (t) => {
  const { path: folder, remove } = await temporaryFolder();
  t.after(remove);
  const file = join(folder, 'suites.test.mjs');
  await writeFile(
    file,
    `import test, { after, afterEach, before, beforeEach, describe } from 'node:test';
    const done = [];
    const does = (name) => async () => { await new Promise((resolve) => setTimeout(resolve, 2)); done.push(name); };
    before(does('first'));
    after(() => console.log('DONE', done.join(' ')));
    test('one', does('one'));
    describe('outer', () => {
      before(does('before-outer'));
      beforeEach(does('each'));
      test('two', does('two'));
      describe('inner', () => {
        after(does('after-inner'));
        test('three', does('three'));
        test('broken', async () => { await does('broken')(); throw new Error('broken'); });
      });
      afterEach(does('each-after'));
    });
    test('four', async (t) => { t.after(does('after-four')); await does('four')(); await t.test('five', does('five')); });
    `,
  );
  const { status, stdout } = runFile(file);
  assert.equal(status, 1, stdout);
  const order = 'first one before-outer each two each-after each three each-after each broken each-after after-inner four five after-four';
  assert.match(stdout, new RegExp(`DONE ${order}\\n`));
  assert.match(stdout, /✖ broken .*\n\s*✖ inner .*\n\s*✖ outer /);
  assert.match(stdout, /tests 6\n.*suites 2\n.*pass 5\n.*fail 1\n.*cancelled 0/);
});

function runFile(file: string): { status: number | null; stdout: string } {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return spawnSync(process.execPath, [preload, '--test', '--test-reporter=spec', file], { env, encoding: 'utf8', timeout: 20_000 });
}
