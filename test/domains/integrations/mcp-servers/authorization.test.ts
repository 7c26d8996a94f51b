/** MCP servers that require a token: access that ends, that lacks a scope, and that is revoked. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { completeConsent, withConsentUrl } from '../../../../src/domains/integrations/mcp-servers/connect.ts';
import type { McpServerRow } from '../../../../src/domains/integrations/mcp-servers/entity.ts';
import { mcpServer } from '../../../../src/domains/integrations/mcp-servers/messages.ts';
import { registeredClients } from '../../../../src/domains/integrations/mcp-servers/registered-clients.ts';
import { ToolError } from '../../../../src/errors.ts';
import type { Json } from '../../../support/json.ts';
import { McpStandIn } from '../../../support/mcp-stand-in.ts';
import { McpWorld } from '../../../support/mcp-world.ts';
import { OAuthStandIn } from '../../../support/oauth-stand-in.ts';
import { until } from '../../../support/until.ts';

let world: McpWorld;
let server: McpStandIn;
let oauth: OAuthStandIn;
let issuer = '';
/** Tools that are refused because of a missing scope. */
let lacking = new Map<string, string>();
const ends: (() => unknown)[] = [];

before(async () => {
  oauth = await OAuthStandIn.start({ after: (end: () => unknown) => void ends.push(end) } as never);
  [world, server] = await Promise.all([McpWorld.start(), new McpStandIn().start()]);
  issuer = new URL(server.url).origin;
});
beforeEach(() => {
  lacking = new Map();
  oauth.tokenRequests.length = 0;
  oauth.revocations.length = 0;
  server.tools = [...new McpStandIn().tools, { name: 'write' }];
  server.instead = ({ url = '', headers }, response, body) => {
    const json = (value: object, status = 200, more = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(value));
      return true;
    };
    if (url.startsWith('/.well-known/oauth-protected-resource'))
      return json({ resource: server.url, authorization_servers: [issuer], scopes_supported: ['tools'] });
    if (url.startsWith('/.well-known/oauth-authorization-server')) {
      const endpoints = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${oauth.url}/token` };
      const methods = { response_types_supported: ['code'], code_challenge_methods_supported: ['S256'] };
      const ending = { revocation_endpoint: `${oauth.url}/revoke`, token_endpoint_auth_methods_supported: ['client_secret_post', 'none'] };
      return json({ issuer, ...endpoints, ...methods, ...ending, client_id_metadata_document_supported: true });
    }
    const challenge = `Bearer resource_metadata="${issuer}/.well-known/oauth-protected-resource/mcp"`;
    if (!oauth.taken.has(String(headers.authorization).replace('Bearer ', ''))) return json({}, 401, { 'www-authenticate': challenge });
    const rpc: Json = body === '' ? {} : JSON.parse(body);
    const scope = rpc.method === 'tools/call' ? lacking.get(rpc.params.name) : undefined;
    if (scope === undefined) return false;
    return json({}, 403, { 'www-authenticate': `${challenge}, error="insufficient_scope", scope="${scope}"` });
  };
});
after(async () => {
  for (const end of ends) await end();
  await Promise.all([world.stop(), server.stop()]);
});

/** A person consents at the address that the server has now. */
async function consent(row: McpServerRow): Promise<URLSearchParams> {
  const asked = new URL((await withConsentUrl(world.parts, await world.row(row), Date.now())).authorizeUrl!).searchParams;
  const state = asked.get('state')!;
  const returned = (await world.parts.authorizations.returned(state))!;
  await completeConsent(world.parts, returned, { code: 'good', state, iss: null });
  return asked;
}

async function refusalOf(work: Promise<unknown>): Promise<ToolError> {
  const error = await work.catch((thrown: unknown) => thrown);
  assert.ok(error instanceof ToolError, String(error));
  return error;
}

const statusEvents = ({ accountId }: McpServerRow) =>
  world.events(accountId).map(({ type, data }) => [type, (data.integration as Json).status, (data.integration as Json).reason]);

test('ended access emits an event with the address to connect again, and restored access emits an event', async () => {
  const row = await world.connect(server.url);
  await consent(row);
  assert.deepEqual(statusEvents(row), [['integration.connected', 'connected', null]]);
  oauth.taken.clear();
  oauth.refreshTokens.clear();
  const refused = await refusalOf(world.call(row, 'mcp_docs_echo'));
  const page = `https://troupe.test/integrations/mcp/${row.id}/connect`;
  assert.equal(refused.details?.type, 'forbidden');
  assert.ok(refused.message.includes(page), refused.message);
  assert.deepEqual(statusEvents(row).slice(1), [['integration.error', 'error', 'revoked']]);
  const { integration } = world.events(row.accountId)[1]!.data as Json;
  assert.deepEqual(
    [integration.service, integration.name, integration.available_tools, integration.reconnect_url],
    ['mcp', 'docs', [], page],
  );
  assert.doesNotMatch(JSON.stringify(integration), /access-|refresh-/);
  await consent(row);
  assert.deepEqual(statusEvents(row).slice(2), [['integration.recovered', 'connected', null]]);
  assert.equal(await world.call(row, 'mcp_docs_echo'), 'echo done {}');
});

test('a call waits for a renewal as long as the authorization server is tried', async () => {
  const row = await world.connect(server.url);
  await consent(row);
  oauth.taken.clear();
  oauth.tokenFaults = ['hang', 'hang'];
  const asked = oauth.tokenRequests.length;
  assert.equal(await world.call(row, 'mcp_docs_echo'), 'echo done {}');
  assert.equal(oauth.tokenRequests.length - asked, 3);
});

test('a call with a missing scope is forbidden with the scope; the next consent requests it, and other tools continue', async () => {
  const row = await world.connect(server.url);
  await consent(row);
  lacking.set('write', 'files:write');
  for (let i = 0; i < 2; i++) {
    const refused = await refusalOf(world.call(row, 'mcp_docs_write'));
    assert.deepEqual(refused.details, { type: 'forbidden', scope: 'files:write' });
    assert.match(
      refused.message,
      /it needs files:write\. A person must allow it: https:\/\/troupe\.test\/integrations\/mcp\/mcp_\w+\/connect$/,
    );
  }
  assert.equal(await world.call(row, 'mcp_docs_echo'), 'echo done {}');
  assert.deepEqual(statusEvents(row).slice(1), [['integration.error', 'connected', 'scope_missing']]);
  // A renewal brings no scope.
  oauth.taken.clear();
  await world.call(row, 'mcp_docs_echo');
  assert.equal((await world.row(row)).reason, 'scope_missing');
  const asked = await consent(row);
  assert.equal(asked.get('scope'), 'tools files:write');
  lacking.clear();
  assert.equal(await world.call(row, 'mcp_docs_write'), 'write done {}');
  assert.deepEqual(statusEvents(row).slice(2), [['integration.recovered', 'connected', null]]);
  lacking.set('write', 'bad\\scope');
  assert.deepEqual((await refusalOf(world.call(row, 'mcp_docs_write'))).details, { type: 'forbidden' });
});

test('removing a server revokes its tokens at the authorization server, with retries', async () => {
  const row = await world.connect(server.url);
  await consent(row);
  oauth.revokeFaults = [{ status: 503 }];
  await world.test.actors.ask(mcpServer, row.id, 'remove', null);
  await until(() => oauth.revocations.length === 2);
  const [, second] = oauth.revocations;
  assert.match(second!.form.token!, /^refresh-/);
  assert.equal(second!.form.client_id, 'http://127.0.0.1:1/integrations/oauth-client.json');
});

test('removing a server during a renewal also revokes the tokens that the renewal obtains', async () => {
  const row = await world.connect(server.url);
  await consent(row);
  oauth.taken.clear();
  const answered = Promise.withResolvers<void>();
  oauth.beforeTokenAnswer = () => answered.promise;
  const asked = oauth.tokenRequests.length;
  const call = refusalOf(world.call(row, 'mcp_docs_echo'));
  await until(() => oauth.tokenRequests.length > asked);
  await world.test.actors.ask(mcpServer, row.id, 'remove', null);
  await call;
  answered.resolve();
  oauth.beforeTokenAnswer = () => {};
  const obtained = [...oauth.refreshTokens].at(-1);
  await until(() => oauth.revocations.some(({ form }) => form.token === obtained));
});

test('a client registered by the operator is preferred and used with its secret', async () => {
  world.parts.registered = registeredClients([`${issuer}/|troupe-client|s3cret`, 'https://other.example|x']);
  try {
    const row = await world.connect(server.url);
    const asked = await consent(row);
    assert.equal(asked.get('client_id'), 'troupe-client');
    assert.deepEqual([oauth.last.form.client_id, oauth.last.form.client_secret], ['troupe-client', 's3cret']);
    assert.doesNotMatch(JSON.stringify(await world.test.sql('select * from mcp_server')), /s3cret/);
    await world.test.actors.ask(mcpServer, row.id, 'remove', null);
    await until(() => oauth.revocations.length === 1);
    assert.equal(oauth.revocations[0]!.form.client_secret, 's3cret');
  } finally {
    world.parts.registered = () => null;
  }
});
