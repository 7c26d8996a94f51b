/** The sign of a database that has lost commits: what is read of it, and when it is given up. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { DatabaseHistory } from '../../src/cluster/database-history.ts';

const refused = () => Object.assign(new Error('permission denied, or a file system that is read-only'), { code: '42501' });
/** A database whose log is so long. */
const answering = (bytes: number) => async (_: string, variant: string) => ({
  position: variant === 'position' ? ['cluster', '000000010000000000000001', bytes] : null,
});

test('a refusal of everything, as by a disk that is read-only for a while, does not end the watch for lost commits', async () => {
  const history = new DatabaseHistory();
  await history.with(answering(100));
  await assert.rejects(
    history.with(() => Promise.reject(refused())),
    { code: '42501' },
  );
  assert.equal((await history.with(answering(50))).verdict, 'changed');
});

test('where the position alone is refused, it is asked for no more', async () => {
  const history = new DatabaseHistory();
  const asked: string[] = [];
  const ask = async (_: string, variant: string) => {
    asked.push(variant);
    if (variant === 'position') throw refused();
    return { position: null };
  };
  assert.equal((await history.with(ask)).verdict, 'same');
  assert.equal((await history.with(ask)).verdict, 'same');
  assert.deepEqual(asked, ['position', 'none', 'none']);
});
