/**
 * REDIS_URL has three kinds: one Redis; a primary that Sentinels monitor; a Redis Cluster.
 *
 *     redis://user:password@host:6379/0
 * redis+sentinel://user:password@host:26379,host:26379/PRIMARY/0?sentinel_username=…&sentinel_password=…
 * redis+cluster://user:password@host:6379,host:6379
 *
 * With `rediss` instead of `redis` all connections are encrypted, also those to Sentinels.
 */

export type HostAndPort = { host: string; port: number };
type Login = { tls: boolean; username: string | null; password: string | null; hosts: HostAndPort[] };
export type RedisAddress =
  | { kind: 'single'; url: string }
  | ({ kind: 'sentinel'; primary: string; db: number; sentinelUsername: string | null; sentinelPassword: string | null } & Login)
  | ({ kind: 'cluster' } & Login);

/** An invalid address. The message is for people and contains nothing of the text but host names. */
export class RedisUrlFault extends Error {}

const severalHosts = /^(rediss?)\+(sentinel|cluster):\/\//;
const hostAndPort = /^(\[[0-9a-fA-F:.]+\]|[^\s:[\]]+)(?::(\d{1,5}))?$/;

/** Throws `RedisUrlFault`. */
export function parseRedisUrl(text: string): RedisAddress {
  if (/^rediss?:\/\//.test(text)) {
    if (!URL.canParse(text)) throw new RedisUrlFault('it is no URL; several hosts belong to redis+sentinel:// or redis+cluster://');
    return { kind: 'single', url: text };
  }
  const [start, scheme, kind] = severalHosts.exec(text) ?? [];
  if (start === undefined || text.includes('#'))
    throw new RedisUrlFault('it is not of the form redis+sentinel://HOST:PORT,…/PRIMARY or redis+cluster://HOST:PORT,…');
  const [beforeQuery, query] = halves(text.slice(start.length), '?');
  const [authority, afterSlash] = halves(beforeQuery, '/');
  const path = beforeQuery.slice(authority.length);
  const at = authority.lastIndexOf('@');
  const [login, hosts] = [authority.slice(0, Math.max(0, at)), authority.slice(at + 1)];
  const parameters = new URLSearchParams(query);
  const common = { tls: scheme === 'rediss', ...loginOf(login), hosts: hostsOf(hosts, kind === 'sentinel' ? 26_379 : 6_379) };
  if (kind === 'cluster') {
    if (path !== '' && path !== '/' && path !== '/0') throw new RedisUrlFault('a Redis Cluster has database 0 only');
    refuseOthers(parameters, []);
    return { kind, ...common };
  }
  const [primary = '', db = '0', ...rest] = afterSlash.split('/').map(decoded);
  if (primary === '' || rest.length > 0)
    throw new RedisUrlFault('after the hosts comes the name by which Sentinels know the primary, e.g. /mymaster or /mymaster/0');
  if (!/^\d{1,4}$/.test(db)) throw new RedisUrlFault('after the name of the primary comes the number of a database, e.g. /mymaster/0');
  refuseOthers(parameters, ['sentinel_username', 'sentinel_password']);
  const [sentinelUsername, sentinelPassword] = [parameters.get('sentinel_username'), parameters.get('sentinel_password')];
  return { kind: 'sentinel', primary, db: Number(db), sentinelUsername, sentinelPassword, ...common };
}

/** The hosts, in a form for messages. */
export function redisHost(address: RedisAddress): string {
  if (address.kind === 'single') return new URL(address.url).host;
  const hosts = address.hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(',');
  return address.kind === 'sentinel' ? `${address.primary} of ${hosts}` : hosts;
}

/** The user names and passwords in it, to be masked in logs. */
export function redisLogins(address: RedisAddress): { username: string; password: string }[] {
  if (address.kind === 'single') {
    const { username, password } = new URL(address.url);
    return [{ username: decoded(username), password: decoded(password) }];
  }
  const logins = [{ username: address.username ?? '', password: address.password ?? '' }];
  if (address.kind === 'sentinel') logins.push({ username: address.sentinelUsername ?? '', password: address.sentinelPassword ?? '' });
  return logins;
}

function loginOf(login: string): { username: string | null; password: string | null } {
  const [username, password] = halves(login, ':');
  return { username: decoded(username) || null, password: decoded(password) || null };
}

function hostsOf(list: string, defaultPort: number): HostAndPort[] {
  return list.split(',').map((item) => {
    const [, host, port] = hostAndPort.exec(item) ?? [];
    if (host === undefined)
      throw new RedisUrlFault('its hosts are HOST:PORT with commas between; an @, / or ? in a password is written %40, %2F, %3F');
    const number = port === undefined ? defaultPort : Number(port);
    if (number < 1 || number > 65_535) throw new RedisUrlFault(`${host} has port ${number}, which is none`);
    return { host: host.replace(/^\[|\]$/g, ''), port: number };
  });
}

function refuseOthers(parameters: URLSearchParams, known: readonly string[]): void {
  for (const name of parameters.keys())
    if (!known.includes(name))
      throw new RedisUrlFault(known.length === 0 ? 'nothing may follow a ?' : `after a ? only ${known.join(' and ')} may stand`);
}

/** The texts before and after the first `mark`. */
function halves(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
