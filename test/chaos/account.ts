/** An account that exists during a run. */
import { randomUUID } from 'node:crypto';
import { scopes } from '../../src/edge/auth/scopes.ts';
import type { Mode } from '../../src/mode.ts';

export type Account = {
  id: string;
  /** A key with all scopes: it is valid for the whole run, and its stream has all events, because the other mode is not used. */
  key: string;
  /** For what only a session may do. */
  credentials: { email: string; password: string };
};

/** Registers at a node that nothing is done to yet. */
export async function registerAccount(url: string, mode: Mode = 'live'): Promise<Account> {
  const credentials = { email: `${randomUUID()}@example.com`, password: 'chaos is no secret' };
  const { access_token: session } = await send(`${url}/v1/auth/register`, null, credentials);
  const { key } = await send(`${url}/v1/api-keys`, session, { name: 'chaos', scopes, mode });
  const me = (await (await fetch(`${url}/v1/auth/me`, { headers: { Authorization: `Bearer ${key}` } })).json()) as { account_id: string };
  return { id: me.account_id, key, credentials };
}

/** A person lets the account trade with real money. */
export async function allowLiveTrading(url: string, { credentials }: Account): Promise<void> {
  const { access_token: session } = await send(`${url}/v1/auth/login`, null, credentials);
  await send(`${url}/v1/settings`, session, { live_trading_enabled: true }, 'PATCH');
}

/** Posts, and throws where that is not answered well. */
export async function send(url: string, token: string | null, body: object, method = 'POST'): Promise<any> {
  const headers = { 'Content-Type': 'application/json', ...(token === null ? {} : { Authorization: `Bearer ${token}` }) };
  const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} was answered ${response.status} ${text}`);
  return JSON.parse(text);
}
