import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tasksIds } from '../../../../src/domains/tasks/ids.ts';
import { workspacesIds } from '../../../../src/domains/workspaces/ids.ts';
import { workspace } from '../../../../src/domains/workspaces/workspace/messages.ts';
import { workspaceAccess } from '../../../../src/domains/workspaces/workspace-file/workspace-access.ts';
import { createTokens } from '../../../../src/edge/auth/tokens.ts';
import { idPrefixes, newId } from '../../../../src/ids.ts';
import { everything } from '../../../support/memory-workspace.ts';
import { insertNeutralRow } from '../../../support/neutral-row.ts';
import { secretKey, startWorkspaceNode, type WorkspaceNode } from '../../../support/workspace-node.ts';

/** A task of Ann's that has delivered these files. */
async function deliveredTask(node: WorkspaceNode, files: Record<string, string>): Promise<string> {
  const taskId = newId(tasksIds.task, null);
  const workspaceId = newId(workspacesIds.workspace, null);
  await insertNeutralRow(node.database, 'task', { id: taskId, account_id: 'acct_ann', workspace_id: workspaceId });
  await node.actors.ask(workspace, workspaceId, 'create', { accountId: 'acct_ann', name: `Task ${taskId}`, description: null });
  const user = { accountId: 'acct_ann', taskId, agentId: newId(tasksIds.agent, null), workspaceId };
  for (const [name, content] of Object.entries(files))
    await workspaceAccess(node, { ...user, authority: everything, holdsUntrusted: false, callId: newId(idPrefixes.call, null) }).write(
      name,
      content,
    );
  await node.settled();
  return taskId;
}

test('the deliverables of a task are an array, newest first, in pages, with links that need no Authorization', async (t) => {
  const node = await startWorkspaceNode(t);
  const taskId = await deliveredTask(node, { 'a.md': 'A', 'b.json': '{}', 'c.svg': '<svg/>' });
  const response = await node.call(`/v1/tasks/${taskId}/deliverables`);
  assert.equal(response.headers.get('x-total-count'), '3');
  const list: any[] = (await response.json()) as any[];
  assert.deepEqual(new Set(list.map((file) => file.name)), new Set(['a.md', 'b.json', 'c.svg']));
  const { id, download_url, created_at, ...rest } = list.find((file) => file.name === 'a.md');
  assert.deepEqual(rest, { name: 'a.md', type: 'text/markdown', size_bytes: 1 });
  assert.match(id, /^dlvr_/);
  const download = await fetch(download_url.replace('http://service.test', node.edgeUrl));
  assert.equal(await download.text(), 'A');
  assert.equal(download.headers.get('content-type'), 'text/markdown');
  assert.match(download.headers.get('content-disposition')!, /attachment; filename="a\.md"/);
  const page = await node.json(`/tasks/${taskId}/deliverables?limit=1&offset=1`);
  assert.deepEqual([page.length, page[0].id], [1, list[1].id]);
});

test('a download honours Range and ETag', async (t) => {
  const node = await startWorkspaceNode(t);
  const taskId = await deliveredTask(node, { 'a.txt': '0123456789' });
  const [{ id }] = await node.json(`/v1/tasks/${taskId}/deliverables`);
  const path = `/v1/tasks/${taskId}/deliverables/${id}/download`;
  const part = await node.call(path, { headers: { range: 'bytes=2-4' } });
  assert.deepEqual([part.status, await part.text()], [206, '234']);
  assert.equal((await node.call(path, { headers: { 'if-none-match': part.headers.get('etag')! } })).status, 304);
});

test('a modified or expired link, or one of another deliverable, is 403', async (t) => {
  const node = await startWorkspaceNode(t);
  const taskId = await deliveredTask(node, { 'a.md': 'A', 'b.md': 'B' });
  const [one, two] = (await node.json(`/v1/tasks/${taskId}/deliverables`)).map((file: { download_url: string }) =>
    file.download_url.replace('http://service.test', node.edgeUrl),
  );
  const token = new URL(one).searchParams.get('token')!;
  const path = `/tasks/${taskId}/deliverables/${new URL(one).pathname.split('/').at(-2)}/download`;
  const longAgo = await createTokens({ secretKey, clock: { nowMs: () => Date.now() - 3_600_001 } });
  const expired = await longAgo.downloadToken({ accountId: 'acct_ann', userId: 'usr_ann', path, scope: 'tasks.read' });
  const statusOf = async (url: string) => (await fetch(url)).status;
  assert.equal(await statusOf(one), 200);
  assert.equal(await statusOf(one.replace(token, `${token}A`)), 403);
  assert.equal(await statusOf(one.replace(token, expired)), 403);
  assert.equal(await statusOf(two.replace(/token=.*/, `token=${token}`)), 403);
});

test('tasks and deliverables of other accounts, and unknown ones, are 404', async (t) => {
  const node = await startWorkspaceNode(t);
  const taskId = await deliveredTask(node, { 'a.md': 'A' });
  const otherTask = await deliveredTask(node, {});
  const [{ id }] = await node.json(`/v1/tasks/${taskId}/deliverables`);
  const as = 'acct_bob';
  assert.equal((await node.call(`/v1/tasks/${taskId}/deliverables`, { as })).status, 404);
  assert.equal((await node.call(`/v1/tasks/${taskId}/deliverables/${id}/download`, { as })).status, 404);
  assert.equal((await node.call(`/v1/tasks/${otherTask}/deliverables/${id}/download`)).status, 404);
  assert.equal((await node.call('/v1/tasks/task_nothing/deliverables')).status, 404);
  assert.deepEqual(await node.json(`/v1/tasks/${otherTask}/deliverables`), []);
});
