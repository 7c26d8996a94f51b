/**
 * Removes the secrets that are sent to an MCP server from what the server answers: it could repeat them in a result, an error or a description. Found as they
 * are written, and as URLs and JSON write them.
 */

/** Words of a header's or parameter's name that say that its value is a secret. */
const secretWords = new Set([
  ...['auth', 'authentication', 'authorization', 'bearer', 'cookie', 'cookies', 'credential', 'credentials', 'jwt', 'key', 'keys', 'pass'],
  ...['passphrase', 'passwd', 'password', 'pat', 'pwd', 'secret', 'secrets', 'session', 'sid', 'sig', 'signature', 'token', 'tokens'],
  ...['accesskey', 'accesstoken', 'apikey', 'apitoken', 'authkey', 'authtoken', 'clientsecret', 'privatekey', 'secretkey', 'sessionid'],
]);
/** What such a name ends with if the value only describes a secret: `X-Auth-Provider`. */
const describingWords = new Set([
  'algorithm',
  'expires',
  'format',
  'header',
  'method',
  'mode',
  'provider',
  'realm',
  'scheme',
  'type',
  'version',
]);
/** Of one header. */
const maxFields = 20;
/** Shorter values occur in texts by chance. */
const minChars = 6;

export class SecretMask {
  private readonly pattern: RegExp | null;

  /** @param secrets see `secretsSent`; short ones are left out */
  constructor(secrets: readonly string[]) {
    const forms = secrets.filter(({ length }) => length >= minChars).flatMap((secret) => [secret, inUrl(secret), inJson(secret)]);
    // The longest first: another may be a part of it.
    const sorted = [...new Set(forms)].sort((a, b) => b.length - a.length);
    this.pattern = sorted.length === 0 ? null : new RegExp(sorted.map(literally).join('|'), 'g');
  }

  text(text: string): string {
    return this.pattern === null ? text : text.replace(this.pattern, '[masked]');
  }

  /** @param value JSON, not deeply nested; names of fields are masked too */
  json<T>(value: T): T {
    return this.pattern === null ? value : (this.masked(value) as T);
  }

  /** Whether JSON has a secret, in a value or in the name of a field. */
  isIn(value: unknown): boolean {
    return this.pattern !== null && JSON.stringify(this.masked(value)) !== JSON.stringify(value);
  }

  private masked(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.text(String(value)) === String(value) ? value : '[masked]';
    if (Array.isArray(value)) return value.map((inner) => this.masked(inner));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [this.text(name), this.masked(inner)]));
  }
}

/** Whether the value of a header, or of a parameter in a URL, is a secret. */
export function namesSecret(name: string): boolean {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
  return words.some((word) => secretWords.has(word)) && !describingWords.has(words.at(-1)!);
}

/** The secrets in the address and the headers of requests, whole and in the parts that a server could repeat alone. */
export function secretsSent(url: string, headers: Readonly<Record<string, string>>): string[] {
  const inQuery = [...new URL(url).searchParams].filter(([name]) => namesSecret(name)).map(([, value]) => value);
  const inHeaders = Object.entries(headers).filter(([name]) => namesSecret(name));
  return [...inQuery, ...inHeaders.flatMap(([, value]) => [value, ...partsOf(value)])];
}

/** An address for people: without the user and the secrets in its query. */
export function withoutSecrets(address: string): string {
  const url = new URL(address);
  const names = [...url.searchParams.keys()].filter(namesSecret);
  if (names.length === 0 && url.username === '' && url.password === '') return address;
  for (const name of names) url.searchParams.set(name, '***');
  [url.username, url.password] = ['', ''];
  return url.href;
}

/** The value without its scheme, its fields (`Cookie: a=1; b=2`), and the user name and password of `Basic`. */
function partsOf(value: string): string[] {
  const [, scheme = '', credentials = value] = /^([A-Za-z][\w-]*) +(\S.*)$/.exec(value) ?? [];
  const fields = credentials.split(/[\s,;]+/, maxFields).map((field) => field.replace(/^[\w-]+=(?!=*$)/, '').replace(/^"|"$/g, ''));
  if (scheme.toLowerCase() !== 'basic') return [credentials, ...fields];
  const login = Buffer.from(credentials, 'base64').toString();
  return [credentials, login, login.slice(login.indexOf(':') + 1)];
}

function inUrl(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
