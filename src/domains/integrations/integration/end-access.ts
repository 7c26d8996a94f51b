/** Ends the access of a connection at its service, in the background. */
import { AppError } from '../../../errors.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import { configuredClient, type ServiceClient, tokenEndpointOf } from '../oauth/service-client.ts';
import { revoke } from '../oauth/token-endpoint.ts';
import { untilEnded } from '../renewal/end.ts';
import type { Tokens } from './tokens.ts';

export type EndOf = {
  outbound: Pick<Outbound, 'fetch'>;
  /** The account whose connections to the service are used. */
  account: string;
  signal: AbortSignal;
  failed(err: unknown, tries: number): void;
};

type Pair = { access: string; refresh: string | null };

const timeoutMs = 8_000;

/**
 * Each token is ended separately, so that none is ended twice. Resolves also if the service never answers: no further action is possible.
 */
export async function endAccess(known: ServiceClient, { access, refresh, user, userRefresh = null }: Tokens, of: EndOf): Promise<void> {
  const pairs: Pair[] = [{ access, refresh }, ...(user === null ? [] : [{ access: user, refresh: userRefresh }])];
  await Promise.all(pairs.map((pair) => untilEnded(() => endOne(known, pair, of), of)));
}

async function endOne(known: ServiceClient, { access, refresh }: Pair, { outbound, account, signal }: EndOf): Promise<void> {
  const { oauth, client } = configuredClient(known);
  const own = oauth.revoke !== null && 'request' in oauth.revoke ? oauth.revoke : null;
  const named = oauth.revoke !== null && 'url' in oauth.revoke ? oauth.revoke.url : null;
  const url = own === null || own.replaceable ? (known.settings.revokeUrl ?? named) : null;
  if (url !== null) return revoke({ ...tokenEndpointOf(known, { outbound, account, timeoutMs, signal }), url }, refresh ?? access);
  if (own === null) return;
  const { method, path, headers, body } = own.request({ access, refresh }, client);
  const sent = { method, headers: { ...known.service.headers, ...headers }, ...(body !== undefined && { body }) };
  const { status } = await outbound.fetch(`${known.apiUrl}${path}`, { ...sent, account, signal, configured: true, timeoutMs });
  if (status >= 500 || status === 429) throw new AppError('unavailable', `It answered ${status}`);
}
