import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import type { Authority } from '../../../../src/authority.ts';
import { tasksIds } from '../../../../src/domains/tasks/ids.ts';
import { workspacesIds } from '../../../../src/domains/workspaces/ids.ts';
import { workspace } from '../../../../src/domains/workspaces/workspace/messages.ts';
import { workspaceFile, workspaceFileId } from '../../../../src/domains/workspaces/workspace-file/messages.ts';
import { workspaceAccess } from '../../../../src/domains/workspaces/workspace-file/workspace-access.ts';
import { newId } from '../../../../src/ids.ts';
import { everything } from '../../../support/memory-workspace.ts';
import { insertNeutralRow } from '../../../support/neutral-row.ts';
import { startWorkspaceNode, type WorkspaceNode } from '../../../support/workspace-node.ts';

const read = async (access: ReturnType<typeof workspaceAccess>, name: string) => text((await access.open(name)).stream as never);

async function taskOn(node: WorkspaceNode) {
  const taskId = newId(tasksIds.task, null);
  const workspaceId = newId(workspacesIds.workspace, null);
  const user = { accountId: 'acct_ann', taskId, agentId: newId(tasksIds.agent, null), workspaceId, holdsUntrusted: false };
  await node.actors.ask(workspace, workspaceId, 'create', { accountId: 'acct_ann', name: `Task ${taskId}`, description: null });
  const access = (callId: string, authority: Authority = everything) => workspaceAccess(node, { ...user, authority, callId });
  const versionOf = async (name: string) =>
    (await node.json(`/v1/workspaces/${workspaceId}/files`)).find((file: { name: string }) => file.name === name)?.version;
  return { taskId, workspaceId, access, versionOf };
}

test('a file written by an agent is listed, readable, and a deliverable of its task', async (t) => {
  const node = await startWorkspaceNode(t);
  const { taskId, workspaceId, access } = await taskOn(node);
  const written = await access('call_1').write('report.md', '# Größe');
  assert.deepEqual(written, { name: 'report.md', sizeBytes: 9, version: 1 });
  await access('call_2').write('page.html', new Uint8Array(200_000).fill(65));
  assert.deepEqual(await access('call_3').list(), [
    { name: 'report.md', type: 'text/markdown', sizeBytes: 9 },
    { name: 'page.html', type: 'text/html', sizeBytes: 200_000 },
  ]);
  assert.equal(await read(access('call_4'), 'report.md'), '# Größe');
  await node.settled();
  const { rows } = await node.database.pool.query('select name, size_bytes from deliverable where task_id = $1 order by name', [taskId]);
  assert.deepEqual(
    rows.map((row) => row.name),
    ['page.html', 'report.md'],
  );
  assert.equal((await node.json(`/v1/workspaces/${workspaceId}`)).file_count, 2);
});

test('an agent writes, lists and reads files in folders, typed by their extension', async (t) => {
  const node = await startWorkspaceNode(t);
  const { access, taskId } = await taskOn(node);
  await access('call_1').write('index.html', '<p>');
  assert.equal((await access('call_2').write('assets/css/app.css', 'body {}')).name, 'assets/css/app.css');
  assert.equal((await access('call_3').write('assets/css/app.css', 'p {}')).version, 2);
  assert.deepEqual(
    (await access('call_4').list()).map(({ name, type }) => [name, type]),
    [
      ['index.html', 'text/html'],
      ['assets/css/app.css', 'text/css'],
    ],
  );
  assert.equal(await read(access('call_5'), 'assets/css/app.css'), 'p {}');
  await node.settled();
  const { rows } = await node.database.pool.query('select name from deliverable where task_id = $1 order by name', [taskId]);
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['assets/css/app.css', 'index.html'],
  );
});

test('a repeated call, also after a restart, creates no second version and no second deliverable', async (t) => {
  const node = await startWorkspaceNode(t);
  const { versionOf, access } = await taskOn(node);
  const first = await access('call_1').write('a.md', 'one');
  assert.deepEqual(await access('call_1').write('a.md', 'one'), first);
  await node.restart();
  assert.deepEqual(await access('call_1').write('a.md', 'one'), first);
  await node.settled();
  assert.equal(await versionOf('a.md'), 1);
  assert.equal((await node.contents()).length, 1, 'the bytes of the repeats are gone');
  const { rows } = await node.database.pool.query('select deliveries from delivery_target');
  assert.equal(rows[0].deliveries, 1);
  assert.equal((await access('call_2').write('a.md', 'two')).version, 2);
});

test('a call that writes one name twice creates two versions, and its repeat none', async (t) => {
  const node = await startWorkspaceNode(t);
  const { versionOf, access } = await taskOn(node);
  for (let tries = 0; tries < 2; tries++) {
    const call = access('call_1');
    await call.write('a.md', 'draft');
    await call.write('a.md', 'final');
  }
  await node.settled();
  assert.equal(await versionOf('a.md'), 2);
  assert.equal(await read(access('call_2'), 'a.md'), 'final');
});

test('a deliverable keeps its content when the file is replaced by an upload or deleted', async (t) => {
  const node = await startWorkspaceNode(t);
  const { taskId, workspaceId, access } = await taskOn(node);
  await access('call_1').write('a.md', 'delivered');
  await access('call_2').write('b.md', 'delivered too');
  await node.settled();
  await node.upload(workspaceId, 'a.md', 'replaced');
  await node.call(`/v1/workspaces/${workspaceId}/files/b.md`, { method: 'DELETE' });
  await node.settled();
  const { rows } = await node.database.pool.query('select content_key, name from deliverable where task_id = $1 order by name', [taskId]);
  const contents = await Promise.all(rows.map(async (row) => text(await node.files.open(row.content_key))));
  assert.deepEqual(contents, ['delivered', 'delivered too']);
  for (const { content_key: contentKey, name } of rows)
    await node.actors.ask(workspaceFile, workspaceFileId(workspaceId, name), 'removeAgain', { contentKey });
  await node.settled();
  assert.equal((await node.contents()).length, 3, 'also at the second read');
});

test('a replaced content that is still referenced is checked again later, and removed when nothing references it', async (t) => {
  const node = await startWorkspaceNode(t);
  const { workspaceId, access } = await taskOn(node);
  await access('call_1').write('a.md', 'draft');
  await node.settled();
  const [draft] = await node.contents();
  await insertNeutralRow(node.database, 'deliverable', { id: 'dlvr_other', content_key: draft });
  await access('call_2').write('a.md', 'final');
  await node.settled();
  const { rows } = await node.database.pool.query('select name, command, input from timer');
  assert.deepEqual(rows, [{ name: `remove ${draft}`, command: 'removeAgain', input: { contentKey: draft! } }]);
  await node.database.pool.query(`delete from deliverable where id = 'dlvr_other'`);
  await node.actors.ask(workspaceFile, workspaceFileId(workspaceId, 'a.md'), 'removeAgain', rows[0]!.input);
  await node.settled();
  const contents = await node.contents();
  assert.deepEqual([contents.length, contents.includes(draft!)], [1, false]);
  assert.equal(await read(access('call_3'), 'a.md'), 'final');
});

test('invalid names, missing files and too much content are reported to the agent with the reason', async (t) => {
  const node = await startWorkspaceNode(t);
  const { access } = await taskOn(node);
  const call = access('call_1');
  for (const name of ['../x.md', '/etc/passwd', 'a/../../b', 'a//b', 'a/', 'a\\b', 'a\0b', '', '..']) {
    await assert.rejects(async () => call.write(name, 'x'), { name: 'ToolError' }, JSON.stringify(name));
    await assert.rejects(async () => call.open(name), { name: 'ToolError' }, JSON.stringify(name));
  }
  await assert.rejects(call.open('missing.md'), { name: 'ToolError', message: /no file named "missing.md"/ });
  await assert.rejects(call.write('big.bin', new Uint8Array(50 * 2 ** 20 + 1)), { name: 'ToolError', message: /52428800/ });
  assert.deepEqual([await call.list(), await node.contents()], [[], []]);
});

test('reading a file that is replaced repeatedly always returns one complete version', async (t) => {
  const node = await startWorkspaceNode(t);
  const { workspaceId, access } = await taskOn(node);
  const version = (i: number) => String(i).repeat(2_000);
  await node.upload(workspaceId, 'a.txt', version(0));
  const writing = (async () => {
    for (let i = 1; i < 10; i++) await node.upload(workspaceId, 'a.txt', version(i));
  })();
  let reads = 0;
  for (let done = false; !done; reads++) {
    const content = await read(access('call_1'), 'a.txt');
    assert.equal(content, version(Number(content[0])));
    const response = await node.call(`/v1/workspaces/${workspaceId}/files/a.txt`);
    assert.equal(response.status, 200);
    const body = await response.text();
    assert.equal(body, version(Number(body[0])));
    done = content === version(9);
  }
  await writing;
  assert.ok(reads > 1);
});
