/** Run by data-dir-lock.test.ts: takes the lock of a folder, prints the result, and waits to be killed. */
import { lockDataDir } from '../../src/storage/data-dir-lock.ts';

const answer = await lockDataDir(process.argv[2]!).then(
  () => 'locked',
  (error: Error) => error.message,
);
process.send!(answer);
process.on('message', () => {});
