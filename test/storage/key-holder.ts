/** Run by `idempotency-keys.test.ts`: a node that reserves a key, prints its ids, and waits to be killed. */
import { systemClock } from '../../src/clock.ts';
import { Database } from '../../src/storage/database.ts';
import { IdempotencyKeys } from '../../src/storage/idempotency-keys.ts';

const [url, incarnation] = process.argv.slice(2) as [string, string];
const keys = new IdempotencyKeys(new Database(url), systemClock, { incarnation, isAlive: () => true });
process.send!(await keys.reserve({ accountId: 'acct_1', key: 'k' }, 'print'));
process.on('disconnect', () => process.exit());
