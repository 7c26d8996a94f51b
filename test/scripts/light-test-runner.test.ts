import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('an error that no test catches fails its file, thrown or as a rejected promise, and is printed with its stack', async (t) => {
  const { path: folder, remove } = await temporaryFolder();
  t.after(remove);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const preload = `--import=${new URL('../../scripts/light-test-runner.mjs', import.meta.url).href}`;
  for (const end of [`throw new Error('lost')`, `void Promise.reject(new Error('lost'))`]) {
    const file = join(folder, 'lost.test.mjs');
    const body = `setTimeout(function whoLost() { ${end}; }, 1); await new Promise((resolve) => setTimeout(resolve, 20));`;
    await writeFile(file, `import test from 'node:test';\ntest('passes', async () => { ${body} });\n`);
    const { status, stdout } = spawnSync(process.execPath, [preload, '--test', '--test-reporter=spec', file], { env, encoding: 'utf8' });
    assert.equal(status, 1, stdout);
    assert.match(stdout, /✖ .*lost\.test\.mjs/);
    assert.match(stdout, /Error: lost\n\s+at .*whoLost/);
  }
});
