/** Connected services in the whole service: users consent in a browser, an agent uses three services after approvals. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Json } from '../support/json.ts';
import { McpCaller } from '../support/mcp-caller.ts';
import { callTool, finish } from '../support/openai-server.ts';
import { endStatuses, scriptedService, turns } from '../support/scripted-service.ts';
import type { Caller, Service } from '../support/service.ts';
import { ConsentServer } from '../support/services/consent-server.ts';
import { githubRow } from '../support/services/github-row.ts';
import type { GithubServer } from '../support/services/github-server.ts';
import { gmailRow } from '../support/services/gmail-row.ts';
import { goodToken } from '../support/services/service-row.ts';
import { slackRow } from '../support/services/slack-row.ts';
import type { SlackServer } from '../support/services/slack-server.ts';
import { until } from '../support/until.ts';

const repository = 'octo/hello';

test('an agent reads a mail, opens an issue and posts to a channel, each after approval, even at autonomy 100', {
  timeout: 300_000,
}, async (t) => {
  const consents = await ConsentServer.open(t);
  const mailbox = await gmailRow.start(t);
  const forge = (await githubRow.start(t)) as GithubServer;
  const chat = (await slackRow.start(t)) as SlackServer;
  const hello = forge.repositories.get(repository)!;
  const env = { ...consents.env('gmail', mailbox.apiUrl), ...consents.env('github', forge.apiUrl), ...consents.env('slack', chat.apiUrl) };
  const { service, caller, begin, requestsOf } = await scriptedService(t, env);
  for (const name of ['gmail', 'github', 'slack']) await consent(service, caller, name);
  const connected: Json[] = await caller.json('GET', '/v1/integrations');
  assert.deepEqual(connected.map(({ service: name, status }) => [name, status]).sort(), [
    ['github', 'connected'],
    ['gmail', 'connected'],
    ['slack', 'connected'],
  ]);

  const script = turns(
    callTool('read_emails', { max_results: 1 }),
    callTool('create_issue', { repository, title: 'Invoice 7 is open', body: 'From bill@example.com' }),
    callTool('post_message', { channel: '#general', text: 'Opened an issue for invoice 7' }),
    finish('Both are told.'),
  );
  const { id } = await begin('invoice', script, { autonomy_level: 100 });
  const issue = await pending(caller, id, 'create_issue');
  assert.deepEqual(issue.arguments, { repository, title: 'Invoice 7 is open', body: 'From bill@example.com' });
  assert.equal(hello.issues.length, 1, 'nothing is opened before the approval');
  await approve(caller, issue);
  const message = await pending(caller, id, 'post_message');
  assert.deepEqual([hello.issues.length, hello.issues.at(-1)!.title], [2, 'Invoice 7 is open']);
  assert.ok(!chat.messages.some(({ text }) => text.startsWith('Opened')));
  await approve(caller, message);
  const task = await caller.untilTask(id, endStatuses);
  assert.equal(task.status, 'complete', task.error);
  assert.equal(chat.messages.at(-1)!.text, 'Opened an issue for invoice 7');
  assert.equal(hello.issues.length, 2, 'once');

  const seen = JSON.stringify(requestsOf('invoice').at(-1)!.body.messages);
  assert.match(seen, /Please pay 7 €/);
  assert.match(seen, new RegExp(`issues/${hello.issues.at(-1)!.number}`));

  // The same through an MCP client: it creates the task, and a person decides its approvals there.
  const mcp = new McpCaller(service.url, caller.token);
  await begin('by-mcp', script, {}, { json: async () => ({}) } as never);
  const made = (await mcp.tool('create_task', { prompt: 'case by-mcp', config: { autonomy_level: 100 } })).structuredContent;
  for (const action of ['create_issue', 'post_message']) {
    const { id: approval_id } = await pending(caller, made.id, action);
    assert.notEqual((await mcp.tool('decide_approval', { approval_id, approved: true })).isError, true);
  }
  await caller.untilTask(made.id, endStatuses);
  assert.equal((await mcp.tool('get_task', { task_id: made.id })).structuredContent.status, 'complete');
  assert.equal(hello.issues.length, 3);
  assert.equal(chat.messages.filter(({ text }) => text === 'Opened an issue for invoice 7').length, 2);

  const events = await caller.events();
  assert.equal(events.filter(({ type }) => type === 'integration.connected').length, 3);
  for (const kept of [seen, JSON.stringify(events), JSON.stringify(connected), service.output()]) assert.ok(!kept.includes(goodToken));
});

/** As a browser: to the service, back to the callback, which connects. */
async function consent({ url }: Service, { token }: Caller, name: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const begun = await fetch(`${url}/v1/integrations/connect?service=${name}`, { headers, redirect: 'manual' });
  assert.equal(begun.status, 302, await begun.text());
  const done = await fetch(begun.headers.get('location')!);
  assert.equal(done.status, 200, await done.text());
}

async function pending(caller: Caller, taskId: string, action: string): Promise<Json> {
  let found: Json;
  await until(async () => {
    const task = await caller.json('GET', `/v1/tasks/${taskId}`);
    assert.ok(!endStatuses.includes(task.status), JSON.stringify(task));
    found = task.approvals.find((one: Json) => one.status === 'pending' && one.action === action);
    return found !== undefined;
  }, `an approval of ${action}`);
  return found;
}

function approve(caller: Caller, { agent_id, id }: Json): Promise<Json> {
  return caller.json('POST', `/v1/agents/${agent_id}/approve/${id}`, { approved: true });
}
