/** Detecting that a database lost commits: which values are read, and when reading them is given up. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { DatabaseHistory } from '../../src/cluster/database-history.ts';

const refused = () => Object.assign(new Error('permission denied, or a file system that is read-only'), { code: '42501' });
/** A database whose log is so long. */
const answering = (bytes: number) => async (_: string, variant: string) => ({
  position: variant === 'position' ? ['cluster', '000000010000000000000001', bytes] : null,
});

test('if the database refuses all queries temporarily, as with a read-only disk, lost commits are still watched for', async () => {
  const history = new DatabaseHistory();
  await history.with(answering(100));
  await assert.rejects(
    history.with(() => Promise.reject(refused())),
    { code: '42501' },
  );
  assert.equal((await history.with(answering(50))).verdict, 'changed');
});

test('if only the query of the log position is refused, it is not sent again', async () => {
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
