/**
 * Connections when the process is killed between two steps: the whole service as a user starts it, with test servers that record
 * requests.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Json } from '../../support/json.ts';
import { OAuthStandIn } from '../../support/oauth-stand-in.ts';
import { callTool, finish } from '../../support/openai-server.ts';
import { type ScriptedService, scriptedService, turns } from '../../support/scripted-service.ts';
import { GmailServer } from '../../support/services/gmail-server.ts';
import { until } from '../../support/until.ts';

const gmailScopes = ['readonly', 'compose', 'send', 'modify'].map((name) => `https://www.googleapis.com/auth/gmail.${name}`);
const ends: (() => unknown)[] = [];
let github: OAuthStandIn;
let google: OAuthStandIn;
let gmail: GmailServer;
let world: ScriptedService;

before(async () => {
  const scope = { after: (end: () => unknown) => void ends.push(end) };
  [github, google, gmail] = await Promise.all([OAuthStandIn.start(scope), OAuthStandIn.start(scope), GmailServer.start(scope as never)]);
  google.scope = gmailScopes.join(' ');
  world = await scriptedService(scope as never, { ...github.env('github'), ...google.env('gmail'), GMAIL_API_URL: gmail.url });
});

after(async () => {
  for (const end of ends.reverse()) await end();
});

const result = async (name: string, n: number): Promise<string> => {
  const { body } = await world.request(name, n);
  return String(body.messages.findLast(({ role }) => role === 'tool')!.content);
};

async function connectionsIn(status: string): Promise<Json[]> {
  const all: Json[] = await world.caller.json('GET', '/v1/integrations');
  return all.filter((one) => one.status === status);
}

test('a renewal whose answer is lost with the process costs at most three requests and ends the connection as revoked; its agent gets the reason', async () => {
  github.expiresIn = 1;
  await world.caller.json('POST', '/v1/integrations', { service: 'github', oauth_code: 'good' });
  const expiredAtMs = performance.now() + 1_000;
  await until(() => performance.now() > expiredAtMs);
  const { promise: never } = Promise.withResolvers<void>();
  const asked = github.tokenRequests.length;
  // The token is renewed at the service, which has another one from now on, and its answer arrives nowhere.
  github.beforeTokenAnswer = () => never;
  const { id } = await world.begin('renews', turns(callTool('read_issue', { repository: 'o/r', number: 1 })));
  await until(() => github.tokenRequests.length === asked + 1);
  await world.service.kill();
  github.beforeTokenAnswer = () => {};
  await world.service.restart();
  await world.caller.untilTask(id, ['complete', 'failed', 'paused']);
  assert.match(await result('renews', 3), /connect/i);
  assert.ok(github.tokenRequests.length - asked <= 3, `${github.tokenRequests.length - asked} requests`);
  const [{ reason, reconnect_url: url }] = await connectionsIn('error');
  assert.equal(reason, 'revoked');
  assert.equal(url, `${world.service.url}/integrations/connect?service=github`);
  assert.deepEqual(github.apiRequests, []);
});

test('a disconnection interrupted by a kill is completed, also at the service', async () => {
  github.expiresIn = 3_600;
  github.revokeFaults = ['hang'];
  const { id } = await world.caller.json('POST', '/v1/integrations', { service: 'github', oauth_code: 'good' });
  const revoked = github.apiRequests.length;
  github.apiFaults = ['hang'];
  await world.caller.fetch('DELETE', `/v1/integrations/${id}`);
  await until(() => github.apiRequests.length === revoked + 1);
  await world.service.kill();
  await world.service.restart();
  await until(() => github.apiRequests.length === revoked + 2);
  assert.equal((await world.caller.json('GET', `/v1/integrations/${id}`)).status, 'disconnected');
});

test('a mail that Gmail sent before the process was killed is not sent again, and its agent gets the result', async () => {
  await world.caller.json('POST', '/v1/integrations', { service: 'gmail', oauth_code: 'good' });
  for (const token of google.taken) gmail.tokens.set(token, gmailScopes);
  gmail.meet(/\/messages\/send$/, 'hang');
  const mail = { to: 'ann@example.com', subject: 'Once', body: 'Only once.' };
  const { id } = await world.begin('sends', turns(callTool('send_email', mail), finish('Sent.')), { autonomy_level: 100 });
  await until(() => gmail.sent.length === 1);
  await world.service.kill();
  await world.service.restart();
  assert.equal((await world.caller.untilTask(id, ['complete', 'failed', 'paused'])).status, 'complete');
  assert.equal(gmail.sent.length, 1);
  assert.match(await result('sends', 3), new RegExp(gmail.sent[0]!.id));
});
