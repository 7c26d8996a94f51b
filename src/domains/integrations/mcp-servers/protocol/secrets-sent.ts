/** The secrets that are sent to an MCP server: it could repeat them in a result, an error or a description, where they are masked. */

/** Words of a header's or parameter's name that say that its value is a secret. */
const secretWords = new Set([
  ...[
    'api',
    'auth',
    'authentication',
    'authorization',
    'bearer',
    'cookie',
    'cookies',
    'credential',
    'credentials',
    'jwt',
    'key',
    'keys',
    'pass',
  ],
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
