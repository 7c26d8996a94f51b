/**
 * No secret is shown: services and MCP servers that repeat what they were sent, in answers, failures and descriptions, and then a search for each secret in
 * the log, the events, all lists and the database.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import pg from 'pg';
import { runningEmbeddedPostgres } from '../../../src/storage/embedded-postgres.ts';
import type { Json } from '../../support/json.ts';
import { McpStandIn } from '../../support/mcp-stand-in.ts';
import { OAuthStandIn } from '../../support/oauth-stand-in.ts';
import { callTool, finish } from '../../support/openai-server.ts';
import { scriptedService, turns } from '../../support/scripted-service.ts';

const appSecret = 'app-secret-of-whatsapp';
const verifyToken = 'verify-token-of-whatsapp';
const apiKey = 'rk_live_key_of_a_person';
const headerKey = 'header-key-of-an-mcp-server';
const bearer = 'bearer-of-an-mcp-server';

test('no log line, event, list or row of the database has a secret, whatever services and MCP servers repeat', async (t) => {
  const [github, stripe, mcp] = await Promise.all([OAuthStandIn.start(t), OAuthStandIn.start(t), new McpStandIn().start()]);
  t.after(() => mcp.stop());
  const world = await scriptedService(t, {
    ...github.env('github'),
    ...{ STRIPE_API_URL: stripe.url, WHATSAPP_VERIFY_TOKEN: verifyToken, WHATSAPP_APP_SECRET: appSecret, LOG_LEVEL: 'debug' },
  });
  const { service, caller } = world;
  const secrets = new Set(['secret-of-github', appSecret, verifyToken, apiKey, headerKey, bearer, 'good-code']);
  const remember = () => {
    for (const { form } of github.tokenRequests)
      for (const name of ['code', 'code_verifier', 'refresh_token', 'client_secret']) if (form[name] !== undefined) secrets.add(form[name]);
    for (const token of [...github.taken, ...github.refreshTokens]) secrets.add(token);
  };
  const play = async (name: string, tool: string, args: object) => {
    const { id } = await world.begin(name, turns(callTool(tool, args), finish('Done.')), { autonomy_level: 100 });
    await caller.untilTask(id, ['complete', 'failed', 'paused']);
  };

  // A consent, whose state and code are secrets too; before it a code that the service refuses and repeats.
  const back = 'https://app.example/back';
  await caller.json('PATCH', '/v1/settings', { redirect_uris: [back] });
  const begun = await fetch(`${service.url}/integrations/connect?service=github&redirect_uri=${encodeURIComponent(back)}`, {
    ...{ redirect: 'manual', headers: { authorization: `Bearer ${caller.token}` } },
  });
  const state = new URL(begun.headers.get('location')!).searchParams.get('state')!;
  secrets.add(state);
  const body = { service: 'github', oauth_code: 'good-code', state };
  github.tokenFaults = [{ status: 500, text: 'good-code secret-of-github' }];
  assert.equal((await caller.fetch('POST', '/v1/integrations', body)).status, 502);
  const { id: integrationId } = await caller.json('POST', '/v1/integrations', body);
  remember();
  const [access] = github.taken;
  github.apiFaults = [{ status: 422, json: { message: `Not with ${access}`, errors: [{ field: access }] } }];
  await play('service-repeats', 'read_issue', { repository: 'o/r', number: 1 });
  github.taken.clear();
  github.tokenFaults = [
    { status: 400, json: { error: `invalid ${[...github.refreshTokens]}`, error_description: [...github.refreshTokens].join() } },
  ];
  await play('renews', 'read_issue', { repository: 'o/r', number: 1 });
  remember();

  stripe.apiFaults = [{ status: 401, json: { error: { message: `Invalid API key: ${apiKey}` } } }];
  assert.equal((await caller.fetch('POST', '/v1/integrations', { service: 'stripe', api_key: apiKey })).status, 422);
  const signature = `sha256=${createHmac('sha256', 'wrong').update('{}').digest('hex')}`;
  const inbound = `${service.url}/integrations/whatsapp/inbound`;
  await fetch(inbound, { method: 'POST', headers: { 'content-type': 'application/json', 'x-hub-signature-256': signature }, body: '{}' });

  // An MCP server that repeats its credentials in a description, a result and an error.
  const repeated = `${headerKey} ${bearer}`;
  mcp.tools = [
    {
      name: 'tell',
      description: repeated,
      annotations: { readOnlyHint: true },
      run: () => ({ content: [{ type: 'text', text: repeated }] }),
    },
    { name: 'show', annotations: { readOnlyHint: true }, run: () => ({ content: [], structuredContent: { [headerKey]: bearer } }) },
    {
      name: 'fail',
      annotations: { readOnlyHint: true },
      run() {
        throw new Error(repeated);
      },
    },
  ];
  const headers = { 'X-Api-Key': headerKey, authorization: `Bearer ${bearer}` };
  await caller.json('POST', '/v1/integrations/mcp', { name: 'docs', url: mcp.url, headers });
  for (const name of ['tell', 'show', 'fail']) await play(`mcp-${name}`, `mcp_docs_${name}`, {});
  mcp.instead = (_request, response) => {
    response.writeHead(500, repeated).end(repeated);
    return true;
  };
  await play('mcp-breaks', 'mcp_docs_tell', {});
  const refused = await caller.fetch('POST', '/v1/integrations/mcp', { name: 'other', url: mcp.url, headers });
  const refusal = await refused.text();
  assert.equal(refused.status, 502, refusal);
  await caller.fetch('DELETE', `/v1/integrations/${integrationId}`);
  remember();
  assert.ok(secrets.size >= 12, [...secrets].join());

  const { paths } = (await (await fetch(`${service.url}/v1/openapi.json`)).json()) as Json;
  const lists = Object.entries<Json>(paths).filter(([path, methods]) => methods.get !== undefined && !path.includes('{'));
  assert.ok(lists.length > 20);
  const seen: [string, string][] = [
    ['the log', service.output()],
    ['the events', JSON.stringify(await caller.events())],
    ['the refusal', refusal],
  ];
  for (const [path] of lists) if (!/openapi|connect|callback/.test(path)) seen.push([path, await (await caller.fetch('GET', path)).text()]);
  for (const { id } of (await caller.json('GET', '/v1/tasks?limit=100')).data ?? [])
    seen.push([id, JSON.stringify(await caller.json('GET', `/v1/tasks/${id}`))]);
  for (const name of ['service-repeats', 'renews', 'mcp-tell', 'mcp-show', 'mcp-fail', 'mcp-breaks'])
    seen.push([`the model's messages of ${name}`, JSON.stringify(world.requestsOf(name).map(({ body: asked }) => asked))]);
  seen.push(...(await rowsOf(service.dataDir)));
  for (const [place, text] of seen) for (const secret of secrets) assert.ok(!text.includes(secret), `${place} has ${secret}`);
});

async function rowsOf(dataDir: string): Promise<[string, string][]> {
  const database = new pg.Client({ connectionString: (await runningEmbeddedPostgres(dataDir))! });
  await database.connect();
  try {
    const { rows: tables } = await database.query(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'public'`,
    );
    const found: [string, string][] = [];
    for (const { name } of tables) found.push([name, JSON.stringify((await database.query(`select t::text from ${name} t`)).rows)]);
    return found;
  } finally {
    await database.end();
  }
}
