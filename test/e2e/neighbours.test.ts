/** Callers of one address, and accounts of one node, with the limits that a user's service has: what one does costs another nothing. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { troupe } from '../cli/command.ts';
import { Caller, startService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

test('callers of one address, and accounts of one node', { timeout: 300_000 }, async (t) => {
  const service = await startService(t, {}, { limited: true });
  const [ann, bob] = [await Caller.register(service, 'ann'), await Caller.register(service, 'bob')];

  await t.test('an office opens seventy download links within a minute: they count against the account that they belong to', async () => {
    const { id } = await ann.json('POST', '/v1/workspaces', { name: 'files' });
    const { download_url: link } = await ann.upload(id, 'report.txt', 'all of it');
    const opened = await Promise.all(
      Array.from({ length: 7 }, async () => {
        const statuses = [];
        for (let i = 0; i < 10; i++) {
          const answer = await fetch(link);
          statuses.push(`${answer.status} ${await answer.text()}`);
        }
        return statuses;
      }),
    );
    assert.deepEqual([...new Set(opened.flat())], ['200 all of it']);
    const login = await Caller.withToken(service, '').fetch('POST', '/v1/auth/login', {
      email: 'ann@example.com',
      password: 'a long enough password',
    });
    assert.equal(login.status, 200, 'the address has used none of its own requests for them');
    assert.equal((await ann.fetch('GET', '/v1/auth/me')).status, 200);
  });

  await t.test('twenty-four lists of a pro account at once are answered, and so is each list of a quiet account beside them', async () => {
    const folder = await temporaryFolder();
    t.after(() => folder.remove());
    const command = troupe(['account', 'set', 'ann@example.com', '--plan', 'pro'], { folder: folder.path, dataDir: service.dataDir });
    assert.equal(await command.exit, 0, command.stderr());
    const limit = async () => (await ann.fetch('GET', '/v1/auth/me')).headers.get('x-ratelimit-limit');
    await until(async () => (await limit()) === '300', 'the new limit');
    const list = async (caller: Caller) => (await caller.fetch('GET', '/v1/workspaces?limit=20')).status;
    for (let round = 0; round < 4; round++) {
      const busy = Array.from({ length: 24 }, () => list(ann));
      assert.equal(await list(bob), 200);
      assert.deepEqual([...new Set(await Promise.all(busy))], [200]);
    }
  });
});
