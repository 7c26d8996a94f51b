/** Valid requests: every operation succeeds once, so that its successful answers are compared with the description. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TOTP } from 'otpauth';
import type { Operation } from '../support/described-api.ts';
import {
  call,
  freshIds,
  goodContent,
  goodHeaders,
  goodPath,
  type Ids,
  json,
  openCheckout,
  pathOf,
  requestApproval,
  type Site,
  whatsapp,
} from '../support/described-service.ts';
import { until } from '../support/until.ts';
import { prefixes } from './callers.ts';
import { expect } from './expect.ts';

export async function answerReaders(site: Site): Promise<void> {
  for (const operation of site.api.operations.filter(({ method, name }) => method === 'GET' && !(name in flows))) {
    for (const prefix of prefixes) {
      const path = prefix + goodPath(operation, site.own);
      const answer = await site.send(operation, { path });
      expect(answer, 200, operation, path);
      const { etag } = answer.headers;
      // Download links change with each request, and answers with prices each second.
      if (etag !== undefined && !answer.text.includes('?token=') && !showsPrices(path))
        expect(await site.send(operation, { path, headers: { 'if-none-match': String(etag) } }), 304, operation, 'If-None-Match');
      const head = await site.client.send({ method: 'HEAD', path, headers: { authorization: `Bearer ${site.ann.token}` } });
      assert.deepEqual([head.status, head.text], [200, ''], `HEAD ${path}`);
      assert.equal(head.headers['content-type'], answer.headers['content-type'], `HEAD ${path}`);
    }
    if (operation.responses[206] === undefined) continue;
    const path = pathOf(operation, site.own);
    expect(await site.send(operation, { path, headers: { range: 'bytes=0-1' } }), 206, operation, 'a range');
    expect(await site.send(operation, { path, headers: { range: 'bytes=999999-' } }), 416, operation, 'a range beyond the end');
  }
}

function showsPrices(path: string): boolean {
  return /\/trading\/(account|positions|quotes\/)/.test(path);
}

/** What the documented examples ask for. With an Idempotency-Key the second time changes nothing. */
export async function answerWriters(site: Site): Promise<void> {
  const writers = site.api.operations.filter(
    ({ method, name, path }) => !(method === 'GET' || method === 'DELETE' || path.startsWith('/auth/') || name in flows),
  );
  for (const operation of writers) {
    const ids = await freshIds(site, operation);
    await before[operation.name]?.(site, ids);
    const sent = { path: `/v1${goodPath(operation, ids)}`, body: goodContent(site, operation, ids) };
    const headers = { ...goodHeaders(operation), ...(operation.isIdempotent ? { 'idempotency-key': `for ${operation.name}` } : {}) };
    const first = await site.send(operation, { ...sent, headers });
    assert.ok(first.status < 300, `${operation.name}, the documented example: ${first.status} ${first.text}`);
    if (!operation.isIdempotent) continue;
    const second = await site.send(operation, { ...sent, headers });
    assert.equal(second.headers['idempotency-replayed'], 'true', operation.name);
    assert.deepEqual([second.status, second.text], [first.status, first.text], operation.name);
    const other = await site.send(operation, {
      ...sent,
      path: sent.path.replace('/v1', ''),
      headers,
      body: otherBody(operation, sent.body),
    });
    if (operation.body !== null) expect(other, 422, operation, 'the same key with another body');
  }
  for (const [name, flow] of Object.entries(flows)) {
    assert.ok(
      site.api.operations.some((operation) => operation.name === name),
      `${name} is not described`,
    );
    await flow(site);
  }
}

function otherBody({ body }: Operation, sent: string | undefined): string | undefined {
  if (sent === undefined) return undefined;
  if (body === 'multipart') return sent.replace('some text', 'other text');
  const fields = Object.entries(JSON.parse(sent) as Record<string, unknown>);
  const other: Record<string, (value: any) => unknown> = {
    number: (value) => value + 1,
    boolean: (value) => !value,
    string: (value) => `${value}x`,
    object: () => [],
  };
  // Numbers first: another one is as good as the first.
  const [name, value] = Object.keys(other).flatMap((type) => fields.filter((field) => typeof field[1] === type))[0]!;
  return JSON.stringify({ ...Object.fromEntries(fields), [name]: other[typeof value]!(value) });
}

/** Deletes the objects, inner ones first. */
export async function answerDeleters(site: Site): Promise<void> {
  const deleters = site.api.operations.filter(({ method, path }) => method === 'DELETE' && !path.startsWith('/auth/'));
  for (const operation of deleters.sort((one, other) => other.path.length - one.path.length)) {
    const path = `/v1${pathOf(operation, site.own)}`;
    const answer = await site.send(operation, { path });
    assert.ok(answer.status < 300, `${operation.name}: ${answer.status} ${answer.text}`);
    // A connection stays as disconnected.
    const again = operation.name === 'DELETE /integrations/{id}' ? 204 : 404;
    if (answer.status === 204) expect(await site.send(operation, { path }), again, operation, 'what is gone');
  }
}

/** What brings a new thing into the state that an operation asks for. */
const before: Record<string, (site: Site, ids: Ids) => Promise<unknown>> = {
  'POST /commerce/cards/{id}/unfreeze': (site, ids) =>
    call(site, site.ann, 'POST', `/v1/commerce/cards/${ids['/commerce/cards/{id}']}/freeze`),
  'POST /deployments/{id}/redeploy': (site, ids) => {
    const shown = () => call(site, site.ann, 'GET', `/v1/deployments/${ids['/deployments/{id}']}`);
    return until(async () => ['deploying', 'failed'].includes((await shown()).json.status), 'what it publishes');
  },
};

/** Where an example is not sufficient. */
const flows: Record<string, (site: Site) => Promise<unknown>> = {
  async 'POST /mcp'(site) {
    const operation = site.api.find('POST', '/mcp');
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const sent = { path: '/v1/mcp', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }) };
    expect(await site.send(operation, sent), 200, operation, 'the list of tools');
  },
  'POST /agents/{id}/pause': (site) => onAgent(site, 'pause'),
  'POST /agents/{id}/resume': (site) => onAgent(site, 'resume'),
  'POST /agents/{id}/approve/{approval_id}': (site) =>
    onAgent(site, `approve/${site.own['/agents/{id}/approve/{approval_id}']}`, { approved: false, reason: 'not now' }),
  async 'POST /agents/{id}/cancel'(site) {
    const { agent_id: id } = await requestApproval(site, site.ann, site.own);
    await call(site, site.ann, 'POST', `/v1/agents/${id}/cancel`);
  },
  async 'POST /integrations/mcp/{id}/approve-tools'(site) {
    const path = `/v1/integrations/mcp/${site.own['/integrations/mcp/{id}']}`;
    const [{ name, hash }] = (await call(site, site.ann, 'GET', path)).json.tools;
    await call(site, site.ann, 'POST', `${path}/approve-tools`, { tools: [{ name, hash }] });
  },
  async 'GET /integrations/mcp/{id}/connect'(site) {
    const issuer = new URL(site.mcp.url).origin;
    const endpoints = { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
    const methods = { response_types_supported: ['code'], code_challenge_methods_supported: ['S256'] };
    site.mcp.instead = ({ url = '' }, response) => {
      const ofServer = { ...endpoints, ...methods, client_id_metadata_document_supported: true };
      const ofResource = { resource: site.mcp.url, authorization_servers: [issuer] };
      const isMetadata = url.startsWith('/.well-known/');
      const challenge = `Bearer resource_metadata="${issuer}/.well-known/oauth-protected-resource/mcp"`;
      response.writeHead(isMetadata ? 200 : 401, { 'content-type': 'application/json', 'www-authenticate': challenge });
      response.end(JSON.stringify(url.includes('protected-resource') ? ofResource : isMetadata ? ofServer : {}));
      return true;
    };
    const { json } = await call(site, site.ann, 'POST', '/v1/integrations/mcp', { name: 'wants_consent', url: site.mcp.url });
    site.mcp.instead = null;
    const operation = site.api.find('GET', '/integrations/mcp/x/connect');
    expect(await site.send(operation, { path: `/v1/integrations/mcp/${json.id}/connect` }), 302, operation, 'the way to a consent');
  },
  async 'POST /checkout/{key}'(site) {
    const operation = site.api.find('POST', '/checkout/x');
    const path = `/v1/checkout/${await openCheckout(site, site.ann)}?do=cancel`;
    expect(await site.send(operation, { path }, null), 303, operation, 'a checkout that is left');
  },
  async 'GET /integrations/connect'(site) {
    const operation = site.api.find('GET', '/integrations/connect');
    expect(await site.send(operation, { path: '/v1/integrations/connect?service=github' }), 302, operation, 'the way to GitHub');
  },
  async 'GET /integrations/callback'(site) {
    const begin = site.api.find('GET', '/integrations/connect');
    const { headers } = await site.send(begin, { path: '/v1/integrations/connect?service=github' });
    const state = new URL(String(headers.location)).searchParams.get('state')!;
    const operation = site.api.find('GET', '/integrations/callback');
    const query = new URLSearchParams({ code: 'good', state });
    expect(await site.send(operation, { path: `/v1/integrations/callback?${query}` }, null), 200, operation, 'the way back');
  },
  async 'POST /integrations/callback'(site) {
    const begin = site.api.find('GET', '/integrations/connect');
    const { headers: to } = await site.send(begin, { path: '/v1/integrations/connect?service=github' });
    const state = new URL(String(to.location)).searchParams.get('state')!;
    const operation = site.api.find('POST', '/integrations/callback');
    const body = new URLSearchParams({ code: 'good', state }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(await site.send(operation, { path: '/v1/integrations/callback', body, headers }, null), 200, operation, 'the button');
  },
  async 'GET /integrations/whatsapp/inbound'(site) {
    const operation = site.api.find('GET', '/integrations/whatsapp/inbound');
    const query = new URLSearchParams({ 'hub.mode': 'subscribe', 'hub.verify_token': whatsapp.verifyToken, 'hub.challenge': '1' });
    expect(await site.send(operation, { path: `/v1/integrations/whatsapp/inbound?${query}` }, null), 200, operation, 'its address');
  },
  async 'POST /integrations/whatsapp/inbound'(site) {
    const operation = site.api.find('POST', '/integrations/whatsapp/inbound');
    const body = '{"entry":[]}';
    const signature = createHmac('sha256', whatsapp.appSecret).update(body).digest('hex');
    const sent = { path: '/v1/integrations/whatsapp/inbound', body, headers: { 'x-hub-signature-256': `sha256=${signature}` } };
    expect(await site.send(operation, sent, null), 200, operation, 'a signed message');
  },
  async 'GET /preview/{id}'(site) {
    const operation = site.api.find('GET', '/preview/x');
    expect(await site.send(operation, { path: pathOf(operation, site.own) }, null), 308, operation, 'the way to the folder');
  },
  // It ends every order.
  'POST /trading/halt': (site) => call(site, site.bob, 'POST', '/v1/trading/halt', { reason: 'a storm' }),
  'POST /trading/resume': (site) => call(site, site.bob, 'POST', '/v1/trading/resume', {}),
  // A task that has ended is 409.
  async 'PATCH /tasks/{id}'(site) {
    const { task_id: id } = await requestApproval(site, site.ann, site.own);
    await call(site, site.ann, 'PATCH', `/v1/tasks/${id}`, { config: { max_credits: 100 } });
    await call(site, site.ann, 'POST', `/v1/tasks/${id}/cancel`);
  },
  async 'POST /tasks/{id}/cancel'(site) {
    const { id } = (await call(site, site.ann, 'POST', '/v1/tasks', { prompt: 'summarise a.txt' })).json;
    await call(site, site.ann, 'POST', `/v1/tasks/${id}/cancel`);
  },
  'POST /trading/backtests/{id}/cancel': (site) => cancelLong(site, '/v1/trading/backtest', '/v1/trading/backtests'),
  'POST /trading/sweeps/{id}/cancel': (site) => cancelLong(site, '/v1/trading/sweeps', '/v1/trading/sweeps'),
};

/** Requests a long computation, and cancels it. */
async function cancelLong(site: Site, create: string, path: string): Promise<void> {
  const lookback = Array.from({ length: 100 }, (_, i) => i + 2);
  const what = create.endsWith('sweeps')
    ? { strategy: 'momentum', parameters: { lookback } }
    : { strategy: 'custom', config: { code: 'function onBar() { for (let i = 0; i < 1e5; i++); return 0; }' } };
  const body = { symbol: 'BTC-USD', timeframe: '1m', start_date: '2023-01-01', end_date: '2024-12-31', ...what };
  const { id } = (await call(site, site.ann, 'POST', create, body)).json;
  await call(site, site.ann, 'POST', `${path}/${id}/cancel`);
}

function onAgent(site: Site, action: string, body?: object): Promise<unknown> {
  return call(site, site.ann, 'POST', `/v1/agents/${site.own['/agents/{id}']}/${action}`, body);
}

/** A user registers, signs in, sets up a second factor, resets the password, and signs out. */
export async function answerPeople(site: Site): Promise<void> {
  const as = async (token: string | null, method: string, path: string, body?: unknown): Promise<any> => {
    const operation = site.api.find(method, path);
    const sent = body === undefined ? {} : { headers: json, body: JSON.stringify(body) };
    const answer = await site.send(operation, { path: `/v1${path}`, ...sent }, token);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json;
  };
  const person = { email: 'carl@example.com', password: 'a long enough password' };
  await as(null, 'POST', '/auth/register', person);
  const { refresh_token } = await as(null, 'POST', '/auth/login', person);
  const fresh = await as(null, 'POST', '/auth/refresh', { refresh_token });
  await as(fresh.access_token, 'POST', '/auth/logout', { refresh_token: fresh.refresh_token });

  let token = (await as(null, 'POST', '/auth/login', person)).access_token;
  await as(token, 'PATCH', '/auth/me', { name: 'Carl' });
  await as(token, 'POST', '/auth/verify-email/resend');
  await as(null, 'POST', '/auth/verify-email', { token: await mailedToken(site, person.email, 'registration-') });
  const { secret } = await as(token, 'POST', '/auth/2fa/enroll');
  const { recovery_codes: codes } = await as(token, 'POST', '/auth/2fa/confirm', { code: new TOTP({ secret }).generate() });
  const { challenge_token } = await as(null, 'POST', '/auth/login', person);
  token = (await as(null, 'POST', '/auth/login/2fa', { challenge_token, code: codes[0] })).access_token;
  await as(token, 'POST', '/auth/2fa/disable', { code: codes[1] });

  await as(null, 'POST', '/auth/session', person);
  person.email = 'carl.new@example.com';
  await as(token, 'PATCH', '/auth/me', person);
  const link = new URLSearchParams({ token: await mailedToken(site, person.email, '') });
  await as(null, 'GET', `/auth/verify-email/page?${link}`);
  const press = {
    path: '/v1/auth/verify-email/page',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: String(link),
  };
  const operation = site.api.find('POST', '/auth/verify-email/page');
  expect(await site.send(operation, press, null), 200, operation, 'the button of the page');
  await as(null, 'POST', '/auth/forgot-password', { email: person.email });
  const reset = { token: await mailedToken(site, person.email, 'req_'), password: 'another long password' };
  await as(null, 'POST', '/auth/reset-password', reset);
  token = (await as(null, 'POST', '/auth/login', { ...person, password: reset.password })).access_token;
  await as(token, 'DELETE', '/auth/session');
}

/** Of a mail to the address that is kept where no mail server is configured. @param begin of its file's name */
async function mailedToken({ service }: Site, to: string, begin: string): Promise<string> {
  let token: string | undefined;
  const isFound = async (): Promise<boolean> => {
    const folder = join(service.dataDir, 'mail');
    const names = (await readdir(folder).catch(() => [])).filter((file) => file.startsWith(begin) && file.endsWith('.eml'));
    // The mail's lines are folded (quoted-printable).
    const texts = names.map(async (name) => (await readFile(join(folder, name), 'utf8')).replace(/=\r\n/g, '').replaceAll('=3D', '='));
    const text = (await Promise.all(texts)).find((one) => one.includes(`To: ${to}`));
    token = text && /^v4\.public\.\S+/m.exec(text)?.[0];
    return token !== undefined;
  };
  await until(isFound, 'the mail');
  return token!;
}
