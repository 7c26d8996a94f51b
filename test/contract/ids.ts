/** An id ends with the slot of its account. */
import assert from 'node:assert/strict';
import { call, onDatabase, type Site } from '../support/described-service.ts';
import type { Caller } from '../support/service.ts';

/** Of every domain, by its form. */
const anyId = /(?<![0-9a-z])[a-z]+[_-][0-7][0-9a-hjkmnp-tv-z]{25}(?![0-9a-z])/g;

/** Columns with ids that carry no slot of the account, each with the reason. Callers see none of them. */
const exceptions: Record<string, string> = {
  'email_address.registration_id': 'a registration belongs to an e-mail address; there is no account yet',
  'workspace_file.id': 'the address of the actor of a file name, which nodes of the version before derive as well',
  'workspace_file.content_key': 'holds that address',
  'deliverable.content_key': 'likewise',
  'snapshot_file.content_key': 'likewise',
};

/** Everything that was answered to Ann and Bob, and every row of theirs, events included. */
export async function holdAccountsSlots(site: Site): Promise<void> {
  await buyByAgent(site, site.ann);
  for (const caller of [site.ann, site.bob]) {
    const { account_id: accountId } = (await call(site, caller, 'GET', '/v1/auth/me')).json;
    const slot = accountId.slice(-2);
    const answered = [...new Set(site.answered.get(caller.token)?.flatMap((text) => text.match(anyId) ?? []))];
    assert.ok(answered.length > 20);
    assert.deepEqual(
      answered.filter((id) => !id.endsWith(slot)),
      [],
      `what is answered to ${accountId}`,
    );
    assert.deepEqual(await strangeIds(site, accountId), [], `rows of ${accountId}`);
  }
}

/** `table.column: id` of each id in the account's rows that ends otherwise. */
function strangeIds(site: Site, accountId: string): Promise<string[]> {
  return onDatabase(site.service, async (database) => {
    const { rows: tables } = await database.query<{ name: string }>(
      `select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'account_id' order by 1`,
    );
    assert.ok(tables.some(({ name }) => name === 'event'));
    const strange = new Set<string>();
    for (const { name } of tables) {
      const { rows } = await database.query(`select * from "${name}" where account_id = $1`, [accountId]);
      for (const row of rows)
        for (const [column, value] of Object.entries(row)) {
          if (`${name}.${column}` in exceptions) continue;
          for (const id of JSON.stringify(value).match(anyId) ?? [])
            if (!id.endsWith(accountId.slice(-2))) strange.add(`${name}.${column}: ${id}`);
        }
    }
    return [...strange];
  });
}

/** Lets an agent place an order, which is known by its tool call. */
async function buyByAgent(site: Site, caller: Caller): Promise<void> {
  const prompt = 'order 3 licences from Acme for 120 dollars';
  const { id } = (await call(site, caller, 'POST', '/v1/tasks', { prompt, config: { autonomy_level: 100 } })).json;
  await caller.untilTask(id, ['complete']);
  const orders = (await call(site, caller, 'GET', '/v1/commerce/orders')).json.data;
  assert.ok(
    orders.some(({ vendor, amount }: { vendor: string; amount: number }) => vendor === 'Acme' && amount === 120),
    'the order of the agent',
  );
}
