import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('a cached file is stripped again after each change, and a missing file is reported with its importer', async (t) => {
  const { path: root, remove } = await temporaryFolder();
  t.after(remove);
  await mkdir(join(root, 'scripts'));
  const preload = join(root, 'scripts', 'stripped-types.mjs');
  await copyFile(fileURLToPath(new URL('../../scripts/stripped-types.mjs', import.meta.url)), preload);
  const env = { ...process.env, NODE_OPTIONS: `--import=${pathToFileURL(preload).href}` };
  const run = async () => {
    const options = ['--disable-warning=ExperimentalWarning', join(root, 'main.ts')];
    const { stdout } = await promisify(execFile)(process.execPath, options, { env });
    return stdout.trim();
  };
  const value = async (text: string, name = 'value.ts') => {
    await writeFile(join(root, name), `export const value: string = '${text}';\n`);
    // The displayed time is the same for both.
    await utimes(join(root, name), 1_700_000_000, 1_700_000_000);
  };
  await writeFile(
    join(root, 'main.ts'),
    `import { value } from './value.ts';\nconsole.log(value as string, new Error().stack?.includes('main.ts:2:'));\n`,
  );

  await value('one');
  assert.equal(await run(), 'one true');
  assert.equal(await run(), 'one true');
  await value('two');
  assert.equal(await run(), 'two true');

  await rm(join(root, 'value.ts'));
  await assert.rejects(run(), /Cannot find module '.*value\.ts' imported from .*main\.ts/);
  await value('linked', 'remote-asks.ts');
  await symlink('remote-asks.ts', join(root, 'value.ts'));
  assert.equal(await run(), 'linked true');
});
