/**
 * Connections when the process is killed between two steps: the whole service as a user starts it, with stand-ins that record
 * requests.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { runningEmbeddedPostgres } from '../../../src/storage/embedded-postgres.ts';
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

/** Connects GitHub with a token that has expired. */
async function connectExpired(): Promise<string> {
  github.expiresIn = 1;
  const { id } = await world.caller.json('POST', '/v1/integrations', { service: 'github', oauth_code: 'good' });
  await tokenExpired();
  return id;
}

async function tokenExpired(): Promise<void> {
  const expiredAtMs = performance.now() + 1_000;
  await until(() => performance.now() > expiredAtMs);
}

const readsIssue = () => turns(callTool('read_issue', { repository: 'o/r', number: 1 }), finish('Done.'));
const refreshTokensSince = (n: number) => github.tokenRequests.slice(n).map(({ form }) => form.refresh_token);

test('a kill before the service has renewed the token loses no connection: the same refresh token is sent again', async () => {
  const id = await connectExpired();
  const asked = github.tokenRequests.length;
  github.expiresIn = 3_600;
  github.tokenFaults = ['hang'];
  const task = await world.begin('killed-before-renewal', readsIssue());
  await until(() => github.tokenRequests.length === asked + 1);
  await world.service.kill();
  await world.service.restart();
  assert.equal((await world.caller.untilTask(task.id, ['complete', 'failed', 'paused'])).status, 'complete');
  const [first, second, ...others] = refreshTokensSince(asked);
  assert.deepEqual([second, others], [first, []]);
  assert.equal((await world.caller.json('GET', `/v1/integrations/${id}`)).status, 'connected');
});

test('a kill between the answer of the token endpoint and its commit loses no connection of a service that accepts the refresh token again', async () => {
  const id = await connectExpired();
  github.rotates = false;
  github.expiresIn = 3_600;
  const asked = github.tokenRequests.length;
  const database = new pg.Client({ connectionString: (await runningEmbeddedPostgres(world.service.dataDir))! });
  await database.connect();
  try {
    const task = await world.begin('killed-before-commit', readsIssue());
    let answered = 0;
    github.beforeTokenAnswer = async () => {
      // From now on no commit changes the connection.
      await database.query('begin');
      await database.query('select 1 from integration where id = $1 for update', [id]);
      answered++;
    };
    const blocked = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await until(async () => answered === 1 && (await database.query(blocked)).rows.length > 0, 'the commit that waits');
    const { rows } = await database.query(blocked);
    await world.service.kill();
    // Its commit must not succeed after its end.
    for (const { pid } of rows) await database.query('select pg_terminate_backend($1, 5000)', [pid]);
    await database.query('rollback');
    github.beforeTokenAnswer = () => {};
    await world.service.restart();
    assert.equal((await world.caller.untilTask(task.id, ['complete', 'failed', 'paused'])).status, 'complete');
    const [first, second, ...others] = refreshTokensSince(asked);
    assert.deepEqual([second, others], [first, []]);
    assert.equal((await world.caller.json('GET', `/v1/integrations/${id}`)).status, 'connected');
  } finally {
    github.beforeTokenAnswer = () => {};
    github.rotates = true;
    await database.end();
  }
});

test('a kill after the commit of a renewal loses no connection: the new refresh token is stored before the new access token is used', async () => {
  const id = await connectExpired();
  const asked = github.tokenRequests.length;
  github.apiFaults = ['hang'];
  const called = github.apiRequests.length;
  const task = await world.begin('killed-after-commit', readsIssue());
  await until(() => github.apiRequests.length === called + 1);
  await world.service.kill();
  assert.equal(github.tokenRequests.length, asked + 1);
  github.expiresIn = 3_600;
  await tokenExpired();
  await world.service.restart();
  assert.equal((await world.caller.untilTask(task.id, ['complete', 'failed', 'paused'])).status, 'complete');
  const [before, after, ...others] = refreshTokensSince(asked);
  assert.notEqual(after, before);
  assert.deepEqual(others, []);
  assert.equal((await world.caller.json('GET', `/v1/integrations/${id}`)).status, 'connected');
});

test('a renewal whose answer is lost with the process costs at most three requests and ends the connection as revoked; its agent gets the reason', async () => {
  await connectExpired();
  const called = github.apiRequests.length;
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
  assert.equal(github.apiRequests.length, called);
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
