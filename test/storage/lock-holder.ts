/** Run by data-dir-lock.test.ts: takes the lock of the folder it is given, tells how that went, and stays until it is killed. */
import { lockDataDir } from '../../src/storage/data-dir-lock.ts';

const answer = await lockDataDir(process.argv[2]!).then(
  () => 'locked',
  (error: Error) => error.message,
);
process.send!(answer);
process.on('message', () => {});
