import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { accountStorage } from '../../../../src/domains/accounts/account-storage/messages.ts';
import { workspacesIds } from '../../../../src/domains/workspaces/ids.ts';
import { workspaceFileId } from '../../../../src/domains/workspaces/workspace-file/messages.ts';
import { workspaceName, workspaceNameId } from '../../../../src/domains/workspaces/workspace-name/messages.ts';
import { newId } from '../../../../src/ids.ts';
import { tarEnd, tarParts } from '../../../../src/tar.ts';
import type { Invalid, Refused } from '../../../support/bodies.ts';
import { insertNeutralRow } from '../../../support/neutral-row.ts';
import { RawClient } from '../../../support/raw-http.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { until } from '../../../support/until.ts';
import { startWorkspaceNode, type WorkspaceNode } from '../../../support/workspace-node.ts';

const json = { 'content-type': 'application/json' };

describe('workspaces', () => {
  test('the answer for a new workspace has all fields of both variants, and the list contains it at once', async (t) => {
    const node = await startWorkspaceNode(t);
    const response = await node.call('/v1/workspaces', { method: 'POST', headers: json, body: '{"name":" Café ","description":"d"}' });
    assert.equal(response.status, 201);
    const created: any = await response.json();
    assert.match(created.id, /^ws_[0-9a-z]{26}$/);
    const { id, created_at } = created;
    assert.deepEqual(created, {
      id,
      name: 'Café',
      description: 'd',
      storage_path: `workspaces/${id}`,
      status: 'active',
      file_count: 0,
      created_at,
    });
    const list = await node.call('/workspaces');
    assert.equal(list.headers.get('x-total-count'), '1');
    assert.deepEqual(await list.json(), [created]);
    assert.deepEqual(await node.json(`/workspaces/${created.id}`), created);
  });

  test('of many concurrent claims of one name one succeeds and the others get 409', async (t) => {
    const node = await startWorkspaceNode(t);
    const create = () => node.call('/v1/workspaces', { method: 'POST', headers: json, body: '{"name":"Shared"}' });
    const statuses = (await Promise.all(Array.from({ length: 20 }, create))).map((response) => response.status);
    assert.deepEqual(statuses.sort(), [201, ...Array(19).fill(409)]);
    assert.equal((await node.json('/v1/workspaces')).length, 1);
    const { status } = await node.call('/v1/workspaces', { method: 'POST', headers: json, body: '{"name":"Shared"}', as: 'acct_bob' });
    assert.equal(status, 201, 'another account may use the name');
  });

  test('a repeat with the same workspace id, also after a restart, returns the same workspace and creates no second one', async (t) => {
    const node = await startWorkspaceNode(t);
    const input = { workspaceId: newId(workspacesIds.workspace, null), accountId: 'acct_ann', name: 'Once', description: null };
    const id = workspaceNameId('acct_ann', 'Once');
    const first = await node.actors.ask(workspaceName, id, 'create', input, { commandId: 'c1' });
    assert.deepEqual(await node.actors.ask(workspaceName, id, 'create', input, { commandId: 'c1' }), first);
    await node.restart();
    assert.deepEqual(await node.actors.ask(workspaceName, id, 'create', input, { commandId: 'c1' }), first);
    assert.deepEqual(await node.actors.ask(workspaceName, id, 'create', input), first);
    const other = { ...input, workspaceId: newId(workspacesIds.workspace, null) };
    await assert.rejects(node.actors.ask(workspaceName, id, 'create', other), { code: 'conflict' });
    const { rows } = await node.database.pool.query('select count(*) as n from workspace');
    assert.equal(Number(rows[0].n), 1);
  });

  test('each invalid name is 422 with its own reason and creates no workspace', async (t) => {
    const node = await startWorkspaceNode(t);
    for (const name of ['', '   ', 'a\u0007b', 'x'.repeat(201), 7, null]) {
      const response = await node.call('/v1/workspaces', { method: 'POST', headers: json, body: JSON.stringify({ name }) });
      assert.equal(response.status, 422, JSON.stringify(name));
      assert.deepEqual(((await response.json()) as Invalid).detail[0].loc, ['body', 'name']);
    }
    assert.deepEqual(await node.json('/v1/workspaces'), []);
  });

  test("another account's workspace is 404 in every way", async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('Mine');
    await node.upload(id, 'a.csv', 'a\n1\n');
    const as = 'acct_bob';
    assert.equal((await node.call(`/v1/workspaces/${id}`, { as })).status, 404);
    assert.equal((await node.call(`/v1/workspaces/${id}/files`, { as })).status, 404);
    assert.equal((await node.call(`/v1/workspaces/${id}/files/a.csv`, { as })).status, 404);
    assert.equal((await node.call(`/v1/workspaces/${id}/files/a.csv`, { as, method: 'DELETE' })).status, 404);
    assert.equal((await node.upload(id, 'b.csv', 'b\n', as)).status, 404);
    assert.deepEqual(await node.json('/v1/workspaces', { as }), []);
    const mine = await node.json(`/v1/workspaces/${id}/files`);
    const theirs = await node.createWorkspace('Theirs', as);
    assert.equal(
      (await node.call(`/v1/workspaces/${theirs.id}/files/${mine[0].id}`, { as })).status,
      404,
      'a file id of another workspace',
    );
    assert.equal((await node.contents()).length, 1);
  });

  test('a caller with only the reading scope cannot write', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('Mine');
    const as = 'acct_ann read';
    assert.equal((await node.call('/v1/workspaces', { as })).status, 200);
    assert.equal((await node.call('/v1/workspaces', { as, method: 'POST', headers: json, body: '{"name":"x"}' })).status, 403);
    assert.equal((await node.upload(id, 'a.csv', 'a\n', as)).status, 403);
    assert.equal((await node.call(`/v1/workspaces/${id}/files/a.csv`, { as, method: 'DELETE' })).status, 403);
  });
});

describe('files of a workspace', () => {
  test('an upload returns the file, and the list is an array under /v1 and an object without', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const response = await node.upload(id, 'sales.csv', 'a,b\n1,2\n');
    assert.equal(response.status, 201);
    const file: any = await response.json();
    const { download_url, created_at, ...rest } = file;
    assert.match(file.id, /^wsf_[0-9a-z]{26}$/);
    assert.deepEqual(rest, {
      id: file.id,
      name: 'sales.csv',
      filename: 'sales.csv',
      type: 'text/csv',
      mime_type: 'text/csv',
      size_bytes: 8,
      size: 8,
      version: 1,
    });
    assert.ok(download_url.startsWith(`http://service.test/v1/workspaces/${id}/files/${file.id}?token=`));
    const listA = await node.json(`/v1/workspaces/${id}/files`);
    const listB = await node.json(`/workspaces/${id}/files`);
    assert.deepEqual([listA.length, listA[0].id, listA[0].created_at], [1, file.id, created_at]);
    assert.deepEqual([listB.total, listB.files[0].id], [1, file.id]);
  });

  test('concurrent uploads of one name become versions 1 to n, and the count stays one', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const uploads = await Promise.all(Array.from({ length: 12 }, (_, i) => node.upload(id, 'a.csv', `n\n${i}\n`)));
    const versions = await Promise.all(uploads.map(async (response) => ((await response.json()) as { version: number }).version));
    assert.deepEqual(
      versions.sort((a, b) => a - b),
      Array.from({ length: 12 }, (_, i) => i + 1),
    );
    await node.settled();
    assert.equal((await node.json(`/v1/workspaces/${id}`)).file_count, 1);
    assert.equal((await node.contents()).length, 1, 'contents of the versions before are gone');
  });

  test('a deleted file is 404 by name, id and link, also after its name is used again for a new file', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const upload = async (text: string): Promise<any> => (await node.upload(id, 'a b.csv', text)).json();
    const read = (name: string, method = 'GET') => node.call(`/v1/workspaces/${id}/files/${name}`, { method });
    const file = await upload('x\n');
    assert.equal((await read('a%20b.csv', 'DELETE')).status, 204);
    for (const name of ['a%20b.csv', file.id]) for (const method of ['GET', 'DELETE']) assert.equal((await read(name, method)).status, 404);
    await node.settled();
    assert.deepEqual(await node.contents(), []);

    const second = await upload('y\n');
    assert.deepEqual([second.version, (await upload('z\n')).version], [1, 2]);
    assert.notEqual(second.id, file.id);
    for (const method of ['GET', 'DELETE']) assert.equal((await read(file.id, method)).status, 404);
    const follow = (link: string) => fetch(link.replace(/^https?:\/\/[^/]+/, node.edgeUrl));
    assert.equal((await follow(file.download_url)).status, 404);
    assert.equal(await (await follow(second.download_url)).text(), 'z\n');
    assert.equal((await read(second.id, 'DELETE')).status, 204);
    const third = await upload('3\n');
    assert.equal(third.version, 1);
    assert.equal(new Set([file.id, second.id, third.id]).size, 3);
    const events = (await node.events()).map(({ type, data }) => `${type} ${data.version} ${data.file_id}`);
    assert.deepEqual(events, [
      `workspace.file_created 1 ${file.id}`,
      `workspace.file_deleted 1 ${file.id}`,
      `workspace.file_created 1 ${second.id}`,
      `workspace.file_created 2 ${second.id}`,
      `workspace.file_deleted 2 ${second.id}`,
      `workspace.file_created 1 ${third.id}`,
    ]);
  });

  test('a file of a version before slots keeps its id and is found by it, until a new file has its name', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const own = workspaceFileId(id, 'a.csv');
    const row = { id: own, workspace_id: id, account_id: 'acct_ann', name: 'a.csv', type: 'text/csv', status: 'present', generation: 1 };
    await insertNeutralRow(node.database, 'workspace_file', { ...row, version: 1, content_key: `${id}/${own}/${'0'.repeat(26)}` });
    assert.deepEqual(
      (await node.json(`/v1/workspaces/${id}/files`)).map((file: { id: string }) => file.id),
      [own],
    );
    const next = (await (await node.upload(id, 'a.csv', 'x\n')).json()) as { id: string; version: number };
    assert.deepEqual([next.id, next.version], [own, 2]);
    const read = (method: string) => node.call(`/v1/workspaces/${id}/files/${own}`, { method });
    assert.equal(await (await read('GET')).text(), 'x\n');
    assert.equal((await read('DELETE')).status, 204);
    const other = (await (await node.upload(id, 'a.csv', 'y\n')).json()) as { version: number; id: string };
    assert.equal(other.version, 1);
    assert.notEqual(other.id, own);
  });

  test('file_count is correct as soon as an upload or a deletion is acknowledged', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const counts = async () => [(await node.json(`/v1/workspaces/${id}`)).file_count, (await node.json('/v1/workspaces'))[0].file_count];
    for (let n = 1; n <= 20; n++) {
      await node.upload(id, `${n}.csv`, 'x\n');
      assert.deepEqual(await counts(), [n, n]);
    }
    await node.upload(id, '1.csv', 'y\n');
    assert.deepEqual(await counts(), [20, 20]);
    await node.call(`/v1/workspaces/${id}/files/1.csv`, { method: 'DELETE' });
    assert.deepEqual(await counts(), [19, 19]);
  });

  test('with any number of concurrent uploads an account stores no more than its plan allows, and 402 names the used storage', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const free = { bytes: 2 ** 30, files: 1_000 };
    const store = (bytes: number, files: number) =>
      node.database.pool.query('insert into account_storage values ($1, $2, $3, $4, now())', ['acct_ann', bytes, files, '[]']);
    await store(free.bytes - 300, free.files - 5);
    const uploads = await Promise.all(Array.from({ length: 12 }, (_, n) => node.upload(id, `${n}.txt`, 'x'.repeat(100))));
    const refused = uploads.filter(({ status }) => status === 402);
    assert.deepEqual([uploads.filter(({ status }) => status === 201).length, refused.length], [3, 9]);
    for (const response of refused)
      assert.match(
        ((await response.json()) as Refused).detail,
        /stores (1 GiB|1,0\d\d\.\d MiB) in \d+ files, and may store 1 GiB in 1,000 files/,
      );
    await node.settled();
    assert.equal((await node.contents()).length, 3, 'what was refused left nothing');

    const kept = (await node.json(`/v1/workspaces/${id}/files`))[0];
    assert.equal((await node.upload(id, kept.name, 'y'.repeat(100))).status, 201, 'another version of the same size');
    assert.equal((await node.upload(id, kept.name, 'y'.repeat(101))).status, 402);
    assert.equal((await node.call(`/v1/workspaces/${id}/files/${kept.name}`, { method: 'DELETE' })).status, 204);
    await node.settled();
    const used = await node.actors.query(accountStorage, 'acct_ann', 'used', null);
    assert.deepEqual(used, { bytes: free.bytes - 100, files: free.files - 3 });
    assert.equal((await node.upload(id, 'new.txt', 'z'.repeat(100))).status, 201);
    for (const n of [1, 2, 3])
      assert.equal((await node.upload(id, `empty ${n}.txt`, '')).status, n <= 2 ? 201 : 402, 'the files count, too');
  });

  test('the room of a deleted file, and of a replaced version that was larger, is free in the answer to the next request', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const freeBytes = 2 ** 30;
    await node.database.pool.query('insert into account_storage values ($1, $2, $3, $4, now())', ['acct_ann', freeBytes - 1_000, 1, '[]']);
    const used = () => node.actors.query(accountStorage, 'acct_ann', 'used', null);
    for (let round = 0; round < 5; round++) {
      for (const bytes of [300, 900, 800]) assert.equal((await node.upload(id, 'a.txt', 'x'.repeat(bytes))).status, 201);
      assert.deepEqual(await used(), { bytes: freeBytes - 200, files: 2 });
      assert.equal((await node.upload(id, 'b.txt', 'y'.repeat(200))).status, 201);
      for (const name of ['a.txt', 'b.txt'])
        assert.equal((await node.call(`/v1/workspaces/${id}/files/${name}`, { method: 'DELETE' })).status, 204);
      assert.deepEqual(await used(), { bytes: freeBytes - 1_000, files: 1 });
    }
  });

  test('an archive that does not fit is refused and stores nothing; one that fails later reports how many files were stored', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const free = { bytes: 2 ** 30, files: 1_000 };
    await node.database.pool.query('insert into account_storage values ($1, $2, $3, $4, now())', ['acct_ann', free.bytes - 500, 1, '[]']);
    const names = async () => (await node.json(`/v1/workspaces/${id}/files`)).map((one: { name: string }) => one.name).sort();
    const send = async (sizes: Record<string, number>) => {
      const files = Object.entries(sizes).map(([name, size]): [string, string] => [name, 'x'.repeat(size)]);
      const response = await archiveUpload(node, id, await tarOf(files));
      return { status: response.status, text: await response.text() };
    };
    const refused = await send({ 'a.txt': 200, 'b.txt': 200, 'c.txt': 101 });
    assert.deepEqual([refused.status, await names(), await node.contents()], [402, [], []]);
    assert.match(refused.text, /no room for these files/);
    assert.equal((await send({ 'a.txt': 200, 'b.txt': 200 })).status, 201);
    assert.equal((await send({ 'b.txt': 200, 'a.txt': 200 })).status, 201, 'versions of the same size');
    assert.equal((await send({ 'a.txt': 250, 'b.txt': 251 })).status, 402, 'what they grow by counts');

    const sent = await Promise.all(Array.from({ length: 4 }, (_, n) => send({ [`${n}.txt`]: 20, [`${n} b.txt`]: 20, [`${n} c.txt`]: 20 })));
    const stored = sent.map(({ status, text }) => {
      if (status === 201) return 3;
      assert.equal(status, 402, text);
      return /(One|\d) files? of the archive w\w+ stored, then:/.exec(text)?.[1]?.replace('One', '1') ?? 0;
    });
    const count = stored.reduce<number>((sum, each) => sum + Number(each), 0);
    assert.equal((await names()).length, 2 + count);
    // Five fit. The archives compete for the room: even the first one may not get all that it needs.
    assert.ok(count > 0 && count <= 5, `${count} stored`);
  });

  test('files that a node of an earlier version stored or deleted are counted from the next upload on', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const used = () => node.actors.query(accountStorage, 'acct_ann', 'used', null);
    const old = {
      id: 'f_old',
      workspace_id: id,
      account_id: 'acct_ann',
      name: 'old.txt',
      size_bytes: 1_000,
      status: 'present',
      version: 1,
    };
    await insertNeutralRow(node.database, 'workspace_file', old);
    assert.equal((await node.upload(id, 'new.txt', 'x'.repeat(10))).status, 201);
    await until(async () => (await used()).bytes === 1_010, 'the file that nobody has registered');
    assert.deepEqual(await used(), { bytes: 1_010, files: 2 });

    const ben = await node.createWorkspace('W', 'acct_ben');
    const hourAgo = `now() - interval '1 hour'`;
    await node.database.pool.query(`insert into account_storage values ('acct_ben', 1073741824, 3, '[]', ${hourAgo})`);
    assert.equal((await node.upload(ben.id, 'a.txt', 'x', 'acct_ben')).status, 402, 'the register knows of no deletion');
    await until(async () => (await node.actors.query(accountStorage, 'acct_ben', 'used', null)).files === 0, 'the files that are gone');
    assert.equal((await node.upload(ben.id, 'a.txt', 'x', 'acct_ben')).status, 201);
  });

  test('an upload that cannot fit is refused before its bytes are read', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    await node.database.pool.query('insert into account_storage values ($1, $2, 1, $3, now())', ['acct_ann', 2 ** 30 - 20_000_000, '[]']);
    assert.match(await answerToBeginning(t, node, `/v1/workspaces/${id}/files`, 'Content-Length: 30000000'), /^HTTP\/1.1 402 /);
  });

  test('an archive that cannot fit, whatever it replaces, is refused before it is read, or as soon as it is too long', async (t) => {
    const node = await startWorkspaceNode(t);
    const [{ id }, { id: empty }] = [await node.createWorkspace('W'), await node.createWorkspace('Empty')];
    // The account is full but for 20 MB, and an archive of this workspace may replace 10 MB.
    await node.database.pool.query('insert into account_storage values ($1, $2, 1, $3, now())', ['acct_ann', 2 ** 30 - 30_000_000, '[]']);
    await node.upload(id, 'old.txt', 'x'.repeat(10_000_000));
    const contents = await node.contents();
    const begin = (workspace: string, header: string, bytes = 'first bytes') =>
      answerToBeginning(t, node, `/v1/workspaces/${workspace}/archives`, header, bytes);
    assert.match(await begin(id, 'Content-Length: 40000000'), /^HTTP\/1.1 402 /);
    assert.match(await begin(empty, 'Content-Length: 30000000'), /^HTTP\/1.1 402 /, 'a file of another workspace is not replaced');
    const chunk = `${(30_000_000).toString(16)}\r\n${'x'.repeat(30_000_000)}`;
    assert.match(await begin(empty, 'Transfer-Encoding: chunked', chunk), /^HTTP\/1.1 402 /, 'without a declared size');
    assert.deepEqual(await node.contents(), contents);
    const replacing = await tarOf([['old.txt', 'x'.repeat(28_000_000)]]);
    assert.equal((await archiveUpload(node, id, replacing)).status, 201, 'an archive that fits by what it replaces is taken');
  });

  test('an archive whose files fit exactly is stored, although it is longer than the room, and one with a byte more is refused', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const [room, files] = [2_000_000, 20];
    await node.database.pool.query('insert into account_storage values ($1, $2, $3, $4, now())', [
      ...['acct_ann', 2 ** 30 - room, 1_000 - files, '[]'],
    ]);
    // Long names in folders of their own: about as much besides contents as archives have.
    const archiveOf = (bytes: number) =>
      tarOf(
        Array.from({ length: files }, (_, n): [string, string] => [
          `${`folder-${n}-`.padEnd(100, 'a')}/${'b'.repeat(100)}/${n}.txt`,
          'x'.repeat(n === 0 ? bytes - files + 1 : 1),
        ]),
      );
    const exact = await archiveOf(room);
    assert.ok(exact.length > room + files * 1_024);
    assert.equal((await archiveUpload(node, id, await archiveOf(room + 1))).status, 402);
    assert.deepEqual(await node.contents(), []);
    assert.equal((await archiveUpload(node, id, exact)).status, 201);
  });

  test('an archive of new files is refused before it is read by an account that has all the files it may have', async (t) => {
    const node = await startWorkspaceNode(t);
    const [{ id }, { id: empty }] = [await node.createWorkspace('W'), await node.createWorkspace('Empty')];
    await node.database.pool.query('insert into account_storage values ($1, 0, 999, $2, now())', ['acct_ann', '[]']);
    await node.upload(id, 'a.txt', 'one');
    const path = `/v1/workspaces/${empty}/archives`;
    assert.match(await answerToBeginning(t, node, path, 'Content-Length: 10000'), /^HTTP\/1.1 402 /);
    assert.equal((await archiveUpload(node, id, await tarOf([['a.txt', 'two']]))).status, 201, 'a replacement is read');
  });

  test('a name in decomposed Unicode is the same file as in composed', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    await node.upload(id, 'Caf\u00e9.md', 'one');
    const second = (await (await node.upload(id, 'Cafe\u0301.md', 'two')).json()) as { version: number; name: string };
    assert.deepEqual([second.version, second.name], [2, 'Caf\u00e9.md']);
    const response = await node.call(`/v1/workspaces/${id}/files/${encodeURIComponent('Cafe\u0301.md')}`);
    assert.equal(await response.text(), 'two');
  });

  test('downloads honour Range and ETag, and browsers do not run them', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    await node.upload(id, 'a.svg', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    const path = `/v1/workspaces/${id}/files/a.svg`;
    const whole = await node.call(path);
    assert.equal(whole.headers.get('content-type'), 'image/svg+xml');
    assert.match(whole.headers.get('content-security-policy')!, /sandbox/);
    assert.match(whole.headers.get('content-disposition')!, /^attachment; filename="a\.svg"/);
    assert.equal(whole.headers.get('x-content-type-options'), 'nosniff');
    const etag = whole.headers.get('etag')!;
    assert.equal((await node.call(path, { headers: { 'if-none-match': etag } })).status, 304);
    const part = await node.call(path, { headers: { range: 'bytes=0-3' } });
    assert.deepEqual([part.status, await part.text(), part.headers.get('content-range')], [206, '<svg', 'bytes 0-3/71']);
    assert.equal((await node.call(path, { headers: { range: 'bytes=999-' } })).status, 416);
    const head = await node.call(path, { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers.get('content-length'), await head.text()], [200, '71', '']);
  });

  test('an empty text file is stored', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const response = await node.upload(id, 'empty.txt', '');
    assert.equal(response.status, 201);
    const download = await node.call(`/v1/workspaces/${id}/files/empty.txt`);
    assert.deepEqual([download.status, await download.text()], [200, '']);
  });

  test('hostile names are 422 and store nothing', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    for (const name of [
      '../a.csv',
      '..\\a.csv',
      '/etc/passwd.csv',
      'a/b.csv',
      'C:\\a.csv',
      'a\u0007.csv',
      '.',
      '..',
      `${'é'.repeat(126)}.csv`,
      'a\u202evsc.csv',
    ]) {
      const boundary = 'bound';
      const body = Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name.replaceAll('\\', '\\\\')}"\r\n\r\nx\n\r\n--${boundary}--\r\n`,
      );
      const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
      const response = await node.call(`/v1/workspaces/${id}/files`, { method: 'POST', body, headers });
      assert.equal(response.status, 422, JSON.stringify(name));
    }
    assert.deepEqual([await node.json(`/v1/workspaces/${id}/files`), await node.contents()], [[], []]);
    for (const name of ['..', '%2e%2e%2f%2e%2e', '..%2f..%2fetc%2fpasswd', '%00', 'a%5cb', '.incoming']) {
      assert.equal(
        (await fetch(`${node.edgeUrl}/v1/workspaces/${id}/files/x/../${name}`, { headers: { authorization: 'Bearer acct_ann' } })).status,
        404,
        name,
      );
    }
  });

  test('content that does not match the type of its name is 415 with the accepted types, and stores nothing', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const exe = Buffer.concat([Buffer.from('MZ\x90\0\x03\0\0\0', 'latin1'), Buffer.alloc(200_000, 7)]);
    const cases: [string, string | Uint8Array][] = [
      ['virus.csv', exe],
      ['late.csv', Buffer.concat([Buffer.from('a,b\n'.repeat(100_000)), Buffer.from([0])])],
      ['page.svg', '<!DOCTYPE html><html><svg></svg></html>'],
      ['archive.docx', Buffer.from('PK\x03\x04junk', 'latin1')],
      ['script.js', exe],
      ['image.gif', 'GIF90a'],
      ['image.webp', 'RIFF\0\0\0\0WAVE'],
      ['icon.ico', '<svg/>'],
      ['code.wasm', 'asm'],
      ['noextension', 'text'],
      ['.csv', 'a\n'],
      ['data.json', 'hello'],
      ['data2.json', Buffer.from('{"a":"\xff"}', 'latin1')],
      ['image.png', 'GIF89a'],
      ['empty.pdf', ''],
    ];
    for (const [name, content] of cases) {
      const response = await node.upload(id, name, content);
      assert.equal(response.status, 415, name);
      assert.match(((await response.json()) as Refused).detail, /PDF, Markdown/);
    }
    assert.deepEqual([await node.json(`/v1/workspaces/${id}/files`), await node.contents()], [[], []]);
  });

  test('a file with a path is in its folder: it is read and deleted by %2F or by id, and has the whole path as its name', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const css = { path: 'assets/Cafe\u0301 1.css', file: ['app.css', 'body {}'] } as const;
    const first = await formUpload(node, id, css);
    assert.equal(first.status, 201);
    const file: any = await first.json();
    const name = 'assets/Caf\u00e9 1.css';
    assert.deepEqual([file.name, file.filename, file.type, file.version], [name, name, 'text/css', 1]);
    const second = (await (await formUpload(node, id, { ...css, pathLast: true })).json()) as { id: string; version: number };
    assert.deepEqual([second.id, second.version], [file.id, 2], 'the same file, wherever the path is in the form');
    await node.settled();
    assert.equal((await node.contents()).length, 1);
    assert.deepEqual(
      (await node.json(`/v1/workspaces/${id}/files`)).map((one: { name: string }) => one.name),
      [name],
    );
    const at = `/v1/workspaces/${id}/files/`;
    for (const way of [file.id, encodeURIComponent(name), encodeURIComponent(css.path)]) {
      const response = await node.call(at + way);
      assert.deepEqual([response.status, await response.text()], [200, 'body {}']);
      assert.match(response.headers.get('content-disposition')!, /filename="Caf_ 1\.css"/);
    }
    assert.equal((await node.call(`${at}assets/x.css`)).status, 404, 'a slash that is not encoded');
    assert.equal((await node.call(at + encodeURIComponent(name), { method: 'DELETE' })).status, 204);
    assert.equal((await node.call(at + file.id)).status, 404);
  });

  test('one request with a tar archive, of any tar program or of the command line, stores its files with their folders', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const contents: Record<string, string> = {
      'index.html': '<h1>Hello</h1>',
      'empty.txt': '',
      'assets/Größe 1.css': 'body {}',
      [`deep/${'folder/'.repeat(30)}a.js`]: 'export {}',
      'assets/large.txt': 'large '.repeat(60_000),
    };
    const folder = await temporaryFolder('troupe-archive-');
    t.after(() => folder.remove());
    for (const [name, content] of Object.entries(contents)) {
      await mkdir(dirname(join(folder.path, name)), { recursive: true });
      await writeFile(join(folder.path, name), content);
    }
    const made = ['pax', 'gnu'].map((form) => execFileSync('tar', [`--format=${form}`, '-C', folder.path, '-cf', '-', '.']));
    const packed = Object.entries(contents).flatMap(([name, content]) =>
      tarParts({ name, sizeBytes: Buffer.byteLength(content) }, new Blob([content])),
    );
    const own = Buffer.from(await new Blob([...packed, tarEnd]).arrayBuffer());
    const bytes = Object.values(contents).reduce((sum, content) => sum + Buffer.byteLength(content), 0);
    for (const [n, archive] of [...made, own].entries()) {
      const headers = { 'idempotency-key': `archive ${n}` };
      const response = await archiveUpload(node, id, archive, headers);
      assert.deepEqual([response.status, await response.json()], [201, { files: 5, bytes }]);
      assert.equal((await archiveUpload(node, id, archive, headers)).headers.get('idempotency-replayed'), 'true');
    }
    const files = await node.json(`/v1/workspaces/${id}/files`);
    assert.deepEqual(files.map((one: { name: string }) => one.name).sort(), Object.keys(contents).sort());
    for (const { id: file, name, version } of files) {
      assert.equal(version, 3, name);
      assert.equal(await (await node.call(`/v1/workspaces/${id}/files/${file}`)).text(), contents[name]);
    }
    await node.settled();
    assert.equal((await node.contents()).length, 5);
  });

  test('an archive with any invalid file is refused with the names, and stores nothing', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const good: [string, string] = ['index.html', '<h1>Hello</h1>'];
    const whole = await tarOf([good, ['a.txt', 'a'.repeat(5_000)]]);
    const folder = await temporaryFolder('troupe-archive-');
    t.after(() => folder.remove());
    await symlink('/etc/passwd', join(folder.path, 'link.txt'));
    const cases: [string, Buffer, number, RegExp][] = [
      [
        'kinds',
        await tarOf([good, ['tool.exe', 'MZ'], ['bin/x.so', 'x'], ['image.png', 'MZ']]),
        415,
        /: tool\.exe, bin\/x\.so, image\.png\. Allowed/,
      ],
      ['a way out', await tarOf([good, ['../x.txt', 'x']]), 422, /plain|called/],
      ['one name twice', await tarOf([good, good]), 422, /Two files are called index\.html/],
      ['none', await tarOf([]), 422, /no files/],
      ['too many', await tarOf(Array.from({ length: 1_001 }, (_, n) => [`${n}.txt`, ''])), 422, /at most 1000 files/],
      ['no archive', Buffer.from('<h1>Hello</h1>'.repeat(100)), 400, /damaged/],
      ['cut', whole.subarray(0, 4_000), 400, /not whole/],
      ['a link', execFileSync('tar', ['-C', folder.path, '-cf', '-', '.']), 400, /"link\.txt" is a link/],
    ];
    for (const [what, archive, status, words] of cases) {
      const response = await archiveUpload(node, id, archive);
      const text = await response.text();
      assert.equal(response.status, status, `${what}: ${text}`);
      assert.match(text.replaceAll('\\"', '"'), words, what);
    }
    assert.deepEqual([await node.json(`/v1/workspaces/${id}/files`), await node.contents()], [[], []]);
  });

  test('a path is 422 unless it is plain names with one slash between them; a filename with a separator is 422 too', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const paths = [
      '/a.css',
      'a//b.css',
      '../a.css',
      'a/../b.css',
      './a.css',
      'a/',
      'a\\b.css',
      'a/\r.css',
      '',
      ' ',
      '/',
      `${'a/'.repeat(512)}b.css`,
    ];
    for (const pathLast of [false, true])
      for (const path of [...paths, 'x'.repeat(5_000)]) {
        const response = await formUpload(node, id, { path, file: ['a.css', 'x'], pathLast });
        assert.equal(response.status, 422, JSON.stringify(path));
        assert.deepEqual(((await response.json()) as Invalid).detail[0].loc, ['body', 'path']);
      }
    const separator = await formUpload(node, id, { path: 'a/b.css', file: ['a/b.css', 'x'] });
    assert.deepEqual([separator.status, ((await separator.json()) as Invalid).detail[0].loc], [422, ['body', 'file']]);
    const two = new FormData();
    for (const path of ['a/b.css', 'a/c.css']) two.append('path', path);
    two.set('file', new Blob(['x']), 'a.css');
    assert.equal((await node.call(`/v1/workspaces/${id}/files`, { method: 'POST', body: two })).status, 422);
    assert.deepEqual([await node.json(`/v1/workspaces/${id}/files`), await node.contents()], [[], []]);
  });

  test('the path decides the type, also of content named blob in the form', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    for (const pathLast of [false, true]) {
      const statuses = [
        await formUpload(node, id, { path: 'a/b.json', file: ['blob', '{}'], pathLast }),
        await formUpload(node, id, { path: 'a/b.json', file: ['blob', 'no JSON'], pathLast }),
        await formUpload(node, id, { path: 'a/b.json', file: ['a.txt', 'no JSON'], pathLast }),
        await formUpload(node, id, { path: 'a/b.exe', file: ['a.txt', 'x'], pathLast }),
        await formUpload(node, id, { path: 'a/b', file: ['a.txt', 'x'], pathLast }),
      ].map(({ status }) => status);
      assert.deepEqual(statuses, [201, 415, 415, 415, 415]);
    }
    await node.settled();
    const [file, ...others] = await node.json(`/v1/workspaces/${id}/files`);
    assert.deepEqual([file.name, file.type, file.version, others], ['a/b.json', 'application/json', 2, []]);
    assert.equal((await node.contents()).length, 1);
  });

  test('files of sites are accepted, each with its type', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const files: [string, string | Uint8Array, string][] = [
      ['index.html', '<!doctype html>', 'text/html'],
      ['old.htm', '<p>', 'text/html'],
      ['a.css', 'body {}', 'text/css'],
      ['a.js', 'alert(1)', 'text/javascript'],
      ['a.mjs', 'export {}', 'text/javascript'],
      ['feed.xml', '<rss/>', 'application/xml'],
      ['a.webp', 'RIFF\0\0\0\0WEBPVP8 ', 'image/webp'],
      ['a.gif', 'GIF89a', 'image/gif'],
      ['favicon.ico', Buffer.from([0, 0, 1, 0, 1, 0]), 'image/x-icon'],
      ['a.woff2', 'wOF2....', 'font/woff2'],
      ['a.wasm', Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]), 'application/wasm'],
      ['main.hbc', Buffer.from('c61fbc03c103191f60000000', 'hex'), 'application/octet-stream'],
      ['site.webmanifest', '{"name":"x"}', 'application/manifest+json'],
      ['a.js.map', '{"version":3}', 'application/json'],
      ['_redirects', '/a /b 301', 'text/plain'],
      ['_headers', '/*', 'text/plain'],
    ];
    for (const [name, content, type] of files) {
      const response = await node.upload(id, name, content);
      assert.deepEqual([response.status, ((await response.json()) as { mime_type: string }).mime_type], [201, type], name);
    }
  });

  test('an interrupted upload leaves neither row nor bytes', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const client = await RawClient.connect(node.port);
    await client.send(
      `POST /v1/workspaces/${id}/files HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer acct_ann\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n` +
        `--b\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n${'a,b\n'.repeat(50_000)}`,
    );
    await until(async () => (await node.contents()).length > 0, 'the first bytes');
    client.end();
    await until(async () => (await node.contents()).length === 0, 'their removal');
    assert.deepEqual(await node.json(`/v1/workspaces/${id}/files`), []);
  });

  test('one byte more than 50 MiB is 413 and stores nothing; 50 MiB is accepted', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const limit = 50 * 2 ** 20;
    assert.equal((await node.upload(id, 'big.txt', Buffer.alloc(limit + 1, 'a'))).status, 413);
    assert.deepEqual(await node.contents(), []);
    assert.equal((await node.upload(id, 'big.txt', Buffer.alloc(limit, 'a'))).status, 201);
  });

  test('a download link works without Authorization for its file only; a modified or expired one is 403', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const one = (await (await node.upload(id, 'one.txt', 'one')).json()) as { download_url: string; id: string };
    const two = (await (await node.upload(id, 'two.txt', 'two')).json()) as { download_url: string };
    const local = (url: string) => url.replace('http://service.test', node.edgeUrl);
    const get = (url: string, init?: RequestInit) => fetch(url, init);
    assert.equal(await (await get(local(one.download_url))).text(), 'one');
    const token = new URL(one.download_url).searchParams.get('token')!;
    assert.equal((await get(local(two.download_url).replace(/token=.*/, `token=${token}`))).status, 403, 'for another object');
    assert.equal((await get(`${node.edgeUrl}/v1/workspaces/${id}/files?token=${token}`)).status, 403, 'for the list');
    assert.equal((await get(local(one.download_url), { method: 'DELETE' })).status, 403, 'for another method');
    const bent = `${token.slice(0, 40)}${token[40] === 'A' ? 'B' : 'A'}${token.slice(41)}`;
    assert.equal((await get(local(one.download_url).replace(token, bent))).status, 403, 'bent');
    assert.equal((await get(local(one.download_url).replace(token, ''))).status, 403, 'empty');
    assert.equal((await get(`${node.edgeUrl}/v1/workspaces/${id}/files/${one.id}`)).status, 401, 'none at all');
  });
});

describe('requests with an Idempotency-Key', () => {
  const headers = { 'idempotency-key': 'k1' };
  /** As if the service had ended between the commit and the answer: the key is reserved, and its outcome is unknown. */
  const forgetAnswers = (node: WorkspaceNode) => node.database.pool.query('update idempotency_key set status = null, response = null');

  test('a repeated creation returns the same workspace, whether or not the first answer was stored', async (t) => {
    const node = await startWorkspaceNode(t);
    const create = () => node.call('/v1/workspaces', { method: 'POST', headers: { ...json, ...headers }, body: '{"name":"Once"}' });
    const first = await create();
    const body = await first.json();
    const again = await create();
    assert.deepEqual([again.status, again.headers.get('idempotency-replayed'), await again.json()], [201, 'true', body]);
    await forgetAnswers(node);
    const retried = await create();
    assert.deepEqual([retried.status, retried.headers.get('idempotency-replayed'), await retried.json()], [201, null, body]);
    assert.equal((await node.json('/v1/workspaces')).length, 1);
  });

  test('a repeated upload returns the same version, stored once, whether or not the first answer was stored', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    for (const forget of [false, false, true]) {
      if (forget) await forgetAnswers(node);
      const response = await node.upload(id, 'a.csv', 'a\n1\n', undefined, headers);
      assert.deepEqual([response.status, ((await response.json()) as { version: number }).version], [201, 1]);
    }
    assert.equal((await node.contents()).length, 1);
  });

  test('a repeated upload with another path is 422, at any position of the path in the form', async (t) => {
    const node = await startWorkspaceNode(t);
    const { id } = await node.createWorkspace('W');
    const upload = async (path: string | null, pathLast: boolean, key: string) =>
      (await formUpload(node, id, { path, file: ['a.css', 'x'], pathLast }, { 'idempotency-key': key })).status;
    for (const pathLast of [false, true]) {
      const key = `key ${pathLast}`;
      assert.equal(await upload('a/b.css', pathLast, key), 201);
      assert.equal(await upload('a/b.css', !pathLast, key), 201);
      assert.equal(await upload('a/c.css', pathLast, key), 422);
      assert.equal(await upload(null, pathLast, key), 422);
      await forgetAnswers(node);
      assert.equal(await upload('a/c.css', pathLast, key), 422);
      assert.equal(await upload('a/b.css', pathLast, key), 201);
    }
    const [file, ...others] = await node.json(`/v1/workspaces/${id}/files`);
    assert.deepEqual([file.version, others], [2, []], 'one version for each key');
  });
});

function formUpload(
  node: WorkspaceNode,
  workspaceId: string,
  { path, file, pathLast = false }: { path: string | null; file: readonly [string, string]; pathLast?: boolean },
  headers?: Record<string, string>,
): Promise<Response> {
  const body = new FormData();
  if (path !== null && !pathLast) body.set('path', path);
  body.set('file', new Blob([file[1]]), file[0]);
  if (path !== null && pathLast) body.set('path', path);
  return node.call(`/v1/workspaces/${workspaceId}/files`, { method: 'POST', body, headers });
}

/** The answer to an upload of which only the beginning is sent. @param header how long its body is */
async function answerToBeginning(
  t: TestContext,
  node: WorkspaceNode,
  path: string,
  header: string,
  bytes = 'first bytes',
): Promise<string> {
  const socket = connect(Number(new URL(node.edgeUrl).port), '127.0.0.1');
  t.after(() => socket.destroy());
  const part = `--b\r\nContent-Disposition: form-data; name="file"; filename="big.txt"\r\nContent-Type: text/plain\r\n\r\n`;
  const form = header.startsWith('Transfer') ? `${part.length.toString(16)}\r\n${part}\r\n` : part;
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer acct_ann\r\nContent-Type: multipart/form-data; boundary=b\r\n${header}\r\n\r\n${form}${bytes}`,
  );
  const [answer] = await once(socket, 'data');
  return String(answer);
}

async function tarOf(files: [string, string][]): Promise<Buffer> {
  const parts = files.flatMap(([name, content]) => tarParts({ name, sizeBytes: content.length }, new Blob([content])));
  return Buffer.from(await new Blob([...parts, tarEnd]).arrayBuffer());
}

function archiveUpload(node: WorkspaceNode, id: string, archive: Buffer, headers: Record<string, string> = {}): Promise<Response> {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(archive)]), 'site.tar');
  return node.call(`/v1/workspaces/${id}/archives`, { method: 'POST', body: form, headers });
}
