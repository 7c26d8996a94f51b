import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { lockDataDir } from '../../src/storage/data-dir-lock.ts';
import { processIdentity } from '../../src/storage/live-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

async function emptyFolder(t: TestContext): Promise<string> {
  const folder = await temporaryFolder();
  t.after(() => folder.remove());
  return folder.path;
}

/** A process that takes the lock of `dataDir` and prints the result; it holds the lock until it is killed. */
async function locker(t: TestContext, dataDir: string): Promise<{ child: ChildProcess; answer: string }> {
  const child = fork(new URL('./lock-holder.ts', import.meta.url), [dataDir], { execArgv: ['--disable-warning=ExperimentalWarning'] });
  t.after(() => child.kill('SIGKILL'));
  const [answer] = await once(child, 'message');
  return { child, answer };
}

test('a second process on the same folder is refused with one line that names the first', async (t) => {
  const dataDir = join(await emptyFolder(t), 'data');
  const lock = await lockDataDir(dataDir);
  const { answer } = await locker(t, dataDir);
  assert.match(answer, new RegExp(`^Another process \\(pid ${process.pid}\\) uses the data folder ${dataDir}: stop it, or set DATA_DIR`));
  await lock.release();
});

test('a process cannot take the folder twice, but can again after its release', async (t) => {
  const dataDir = await emptyFolder(t);
  const lock = await lockDataDir(dataDir);
  await assert.rejects(lockDataDir(dataDir), /Another process/);
  await lock.release();
  await (await lockDataDir(dataDir)).release();
});

test('the lock of a killed process is taken over, and only one file remains', async (t) => {
  const dataDir = await emptyFolder(t);
  const { child, answer } = await locker(t, dataDir);
  assert.equal(answer, 'locked');
  child.kill('SIGKILL');
  await once(child, 'exit');
  await lockDataDir(dataDir);
  assert.deepEqual(await readdir(dataDir), ['lock.2']);
});

test('of many processes that find a dead holder at once exactly one gets the folder', async (t) => {
  const dataDir = await emptyFolder(t);
  await writeFile(join(dataDir, 'lock.7'), '999999999 gone');
  const answers = (await Promise.all(Array.from({ length: 6 }, () => locker(t, dataDir)))).map(({ answer }) => answer);
  assert.equal(answers.filter((answer) => answer === 'locked').length, 1, answers.join('\n'));
});

test('of many concurrent attempts inside one process exactly one gets the folder, in every round', async (t) => {
  const dataDir = await emptyFolder(t);
  for (let round = 0; round < 25; round++) {
    const takers = await Promise.allSettled(Array.from({ length: 8 }, () => lockDataDir(dataDir)));
    const winners = takers.flatMap((taker) => (taker.status === 'fulfilled' ? [taker.value] : []));
    assert.equal(winners.length, 1);
    await winners[0]!.release();
  }
});

test('a process that has the reused pid of a dead holder does not count as the holder', async (t) => {
  const dataDir = await emptyFolder(t);
  await writeFile(join(dataDir, 'lock.1'), `${process.pid} an-earlier-start`);
  await lockDataDir(dataDir);
});

test('a lock file truncated by a crash of the machine does not prevent a start', async (t) => {
  for (const content of ['', '\0\0\0\0', '12', `${process.pid}`]) {
    const dataDir = await emptyFolder(t);
    await writeFile(join(dataDir, 'lock.3'), content);
    await lockDataDir(dataDir);
  }
});

test('other users can neither list the folder nor read the lock', async (t) => {
  const dataDir = join(await emptyFolder(t), 'a', 'b');
  await lockDataDir(dataDir);
  assert.equal((await stat(dataDir)).mode & 0o066, 0);
  assert.equal((await stat(join(dataDir, 'lock.1'))).mode & 0o077, 0);
});

test('a data folder that is a file is refused with a line that names the reason', async (t) => {
  const path = join(await emptyFolder(t), 'file');
  await writeFile(path, '');
  await assert.rejects(lockDataDir(path), /data folder .*file cannot be .*set DATA_DIR/);
});

test('an ended process has no identity, a running process keeps its identity', async () => {
  assert.equal(await processIdentity(999_999_999), null);
  assert.equal(await processIdentity(process.pid), await processIdentity(process.pid));
  assert.notEqual(await processIdentity(process.pid), await processIdentity(process.ppid));
});
