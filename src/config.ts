/**
 * The environment, read once, checked and frozen. One table has every variable with its schema, its default and the text for allowed
 * values; `.env.example` documents them. No other code in src reads the environment.
 */
import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import Type, { type Static, type TSchema } from 'typebox';
import Value from 'typebox/value';
import { databaseTlsFault } from './database-url.ts';
import { parseRedisUrl, RedisUrlFault } from './redis-url.ts';
import { clientVariables, noServiceSettings, type ServiceSettings, serviceNames, serviceVariables } from './service-settings.ts';

/** An invalid variable. The message is one line for people: the variable, its value (secrets masked), what is allowed. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}

type Variable<S extends TSchema, D> = { name: string; schema: S; fallback: D; allowed: string; kind: 'plain' | 'url' | 'secret' };

const path = '^[^\\u0000]{1,4096}$';

const variables = {
  port: number('PORT', 0, 65535, 8080, 'a port from 1 to 65535, or 0 for any free one'),
  host: text('HOST', '127.0.0.1', '^\\S{1,255}$', 'a host name or address to listen on'),
  publicUrl: url('PUBLIC_URL', ['http', 'https'], 'an http or https URL that callers reach this service at'),
  dataDir: text('DATA_DIR', '.data', path, 'a folder'),
  databaseUrl: url('DATABASE_URL', ['postgres', 'postgresql'], 'a postgres:// URL'),
  redisUrl: {
    ...url(
      'REDIS_URL',
      [],
      'a redis:// URL, redis+sentinel://HOST:PORT,…/PRIMARY or redis+cluster://HOST:PORT,…, or one of these with rediss',
    ),
    schema: Type.String({ pattern: '^rediss?(\\+sentinel|\\+cluster)?://[^\\s]+$' }),
  },
  clusterHost: text('CLUSTER_HOST', '127.0.0.1', '^\\S{1,255}$', 'a host name or address that other nodes reach this one at'),
  clusterPort: number('CLUSTER_PORT', 0, 65535, 0, 'a port from 1 to 65535, or 0 for any free one'),
  clusterAnnounce: text(
    'CLUSTER_ANNOUNCE',
    null,
    '^(\\[[0-9a-fA-F:.]+\\]|[^\\s:\\[\\]]{1,255}):[1-9]\\d{0,4}$',
    'host:port, where other nodes reach this one, e.g. 10.0.0.7:7000 or [fd00::7]:7000',
  ),
  clusterTlsCa: text('CLUSTER_TLS_CA', null, path, 'a PEM file with the certificates of the authority that signs the nodes'),
  clusterTlsCert: text('CLUSTER_TLS_CERT', null, path, "a PEM file with this node's certificate"),
  clusterTlsKey: text('CLUSTER_TLS_KEY', null, path, "a PEM file with the key of this node's certificate"),
  nodeName: text('NODE_NAME', null, '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$', '1 to 63 letters, digits, dots, hyphens and underscores'),
  adminPort: number('ADMIN_PORT', 0, 65535, 9464, 'a port from 1 to 65535, or 0 for none'),
  adminHost: text('ADMIN_HOST', '127.0.0.1', '^\\S{1,255}$', 'a host name or address to listen on'),
  drainGraceMs: number('DRAIN_GRACE_MS', 0, 600_000, 2000, 'milliseconds from 0 to 600000'),
  secretKey: secret('SECRET_KEY', '^[^\\u0000]{32,4096}$', '32 characters or more, e.g. what `openssl rand -hex 32` prints'),
  acceptedKeys: {
    ...list(
      'SECRET_KEYS_ACCEPTED',
      Type.String({ pattern: '^[^\\u0000,]{32,4096}$' }),
      [],
      'keys of 32 characters or more with commas between',
    ),
    kind: 'secret' as const,
  },
  modelBaseUrl: url('MODEL_BASE_URL', ['http', 'https'], 'an http or https URL of an OpenAI-compatible service, usually ending in /v1'),
  modelApiKey: secret('MODEL_API_KEY', '^\\S{1,4096}$', 'a key without spaces'),
  modelName: text('MODEL_NAME', null, '^\\S{1,200}$', 'the name of a model, without spaces'),
  anthropicApiKey: secret('ANTHROPIC_API_KEY', '^\\S{1,4096}$', 'a key without spaces'),
  searchUrl: url('SEARCH_URL', ['http', 'https'], 'an http or https URL of a SearXNG-compatible search service'),
  smtpUrl: url('SMTP_URL', ['smtp', 'smtps'], 'a smtp:// or smtps:// URL'),
  mailFrom: text('MAIL_FROM', 'Troupe <troupe@localhost>', '^[^\\r\\n]*[^\\s@<>]+@[^\\s@<>]+>?$', 'a mail address, with or without a name'),
  agentMailFrom: text('AGENT_MAIL_FROM', null, '^[^\\r\\n]*[^\\s@<>]+@[^\\s@<>]+>?$', 'a mail address, with or without a name'),
  stripeSecretKey: secret('STRIPE_SECRET_KEY', '^[sr]k_[A-Za-z0-9_]{8,250}$', "a secret or restricted key of Stripe's: sk_… or rk_…"),
  stripeWebhookSecrets: signingSecrets('STRIPE_WEBHOOK_SECRET', "Stripe's webhook endpoint"),
  stripeIssuingWebhookSecrets: signingSecrets('STRIPE_ISSUING_WEBHOOK_SECRET', "the webhook endpoint of Stripe's that asks about cards"),
  stripeIssuingCardholder: text(
    'STRIPE_ISSUING_CARDHOLDER',
    null,
    '^(ich_\\w{1,200}|(?!ich_).{1,2000})$',
    'the id of a cardholder at Stripe, ich_…, or a company: name=…;line1=…;city=…;postal_code=…;country=…',
  ),
  stripeApiUrl: url('STRIPE_API_URL', ['http', 'https'], 'an http or https URL of a server that speaks like Stripe'),
  alpacaApiUrl: url('ALPACA_API_URL', ['http', 'https'], 'an http or https URL of a server that speaks like Alpaca'),
  tradierApiUrl: url('TRADIER_API_URL', ['http', 'https'], 'an http or https URL of a server that speaks like Tradier'),
  coinbaseApiUrl: url('COINBASE_API_URL', ['http', 'https'], 'an http or https URL of a server that speaks like Coinbase'),
  brokerTimeoutMs: number('BROKER_TIMEOUT_MS', 100, 600_000, 10_000, 'milliseconds from 100 to 600000'),
  brokerLookUpMs: number('BROKER_LOOKUP_MS', 100, 86_400_000, 60_000, 'milliseconds from 100 to 86400000'),
  brokerPollMs: number('BROKER_POLL_MS', 100, 3_600_000, 1_000, 'milliseconds from 100 to 3600000'),
  brokerReconcileMs: number('BROKER_RECONCILE_MS', 100, 86_400_000, 60_000, 'milliseconds from 100 to 86400000'),
  whatsappVerifyToken: secret(
    'WHATSAPP_VERIFY_TOKEN',
    '^\\S{1,4096}$',
    'the text that WhatsApp shows when it verifies the webhook, without spaces',
  ),
  whatsappAppSecret: secret('WHATSAPP_APP_SECRET', '^\\S{1,4096}$', 'the secret of the app at Meta, without spaces'),
  vercelApiUrl: url('VERCEL_API_URL', ['http', 'https'], 'an http or https URL of a server that speaks like Vercel'),
  netlifyApiUrl: url(
    'NETLIFY_API_URL',
    ['http', 'https'],
    'an http or https URL of a server that speaks like Netlify, with /api/v1 where it has that',
  ),
  cloudflareApiUrl: url(
    'CLOUDFLARE_API_URL',
    ['http', 'https'],
    'an http or https URL of a server that speaks like Cloudflare, with /client/v4 where it has that',
  ),
  expoApiUrl: url('EXPO_API_URL', ['http', 'https'], 'an http or https URL of a server that speaks like Expo'),
  deployTimeoutMs: number('DEPLOY_TIMEOUT_MS', 1_000, 86_400_000, 1_800_000, 'milliseconds from 1000 to 86400000'),
  deployProbeMs: number('DEPLOY_PROBE_MS', 100, 3_600_000, 60_000, 'milliseconds from 100 to 3600000'),
  deployLookAgainMs: number('DEPLOY_LOOK_AGAIN_MS', 100, 86_400_000, 120_000, 'milliseconds from 100 to 86400000'),
  /** null: on without REDIS_URL, else off. */
  builds: { ...choice('BUILDS', ['on', 'off'], 'off'), fallback: null },
  buildNetwork: choice('BUILD_NETWORK', ['off', 'on'], 'off'),
  buildTimeoutMs: number('BUILD_TIMEOUT_MS', 100, 86_400_000, 600_000, 'milliseconds from 100 to 86400000'),
  browserUrl: url(
    'BROWSER_URL',
    ['http', 'https', 'ws', 'wss'],
    'an http, https, ws or wss URL of a Chromium that is controlled by the DevTools protocol',
  ),
  chromiumPath: text('CHROMIUM_PATH', null, path, 'the absolute path of a Chromium, e.g. /usr/bin/chromium'),
  s3Url: url('S3_URL', ['s3'], 's3://key:secret@host:port/bucket'),
  marketDataFile: text('MARKET_DATA_FILE', null, path, 'a JSON file with quotes'),
  marketHours: { ...choice('MARKET_HOURS', ['always', 'exchange'], 'always'), fallback: null },
  alpacaDataUrl: url('ALPACA_DATA_URL', ['http', 'https'], "an http or https URL of a server that speaks like Alpaca's market data API"),
  outboundAllow: list(
    'OUTBOUND_ALLOW',
    Type.Refine(Type.String(), isAddressRange),
    [],
    'addresses and ranges with commas between, e.g. 127.0.0.0/8,fd00::/8',
  ),
  corsOrigins: list(
    'CORS_ORIGINS',
    Type.Refine(Type.String(), isOrigin),
    [],
    'origins with commas between, e.g. https://app.example.com,http://localhost:3000, or * for any',
  ),
  mcpClients: {
    ...list(
      'MCP_OAUTH_CLIENTS',
      Type.String({ pattern: '^https?://[^|,\\s]{1,500}\\|[^|,\\s]{1,1000}(\\|[^|,\\s]{1,1000})?$' }),
      [],
      'clients with commas between, each issuer|client id or issuer|client id|client secret',
    ),
    kind: 'secret' as const,
  },
  computeProcesses: number('COMPUTE_PROCESSES', 1, 64, 3, 'processes from 1 to 64'),
  maxConnections: number('MAX_CONNECTIONS', 1, 1_000_000, 16_384, 'connections from 1 to 1000000'),
  streamCompression: choice('STREAM_COMPRESSION', ['off', 'on'], 'off'),
  trustedProxies: list(
    'TRUSTED_PROXIES',
    Type.Refine(Type.String(), isAddressRange),
    [],
    'addresses and ranges with commas between, e.g. 10.0.0.0/8',
  ),
  anonymousRequestsPerMinute: number('ANONYMOUS_REQUESTS_PER_MINUTE', 1, 100_000_000, 60, 'requests from 1 to 100000000'),
  roles: list('ROLES', Type.Union([Type.Literal('edge'), Type.Literal('actors')]), ['edge', 'actors'], 'edge, actors or edge,actors'),
  otlpUrl: url(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    ['http', 'https'],
    'an http or https URL of an OpenTelemetry collector, e.g. http://127.0.0.1:4318',
  ),
  otlpHeaders: secret(
    'OTEL_EXPORTER_OTLP_HEADERS',
    '^[^=,\\s]+=[^,\\r\\n]*(,[^=,\\s]+=[^,\\r\\n]*)*$',
    'name=value pairs with commas between',
  ),
  traceRatio: text('OTEL_TRACES_SAMPLER_ARG', '1', '^(0(\\.\\d{1,9})?|1(\\.0{1,9})?)$', 'a share from 0 to 1, e.g. 0.05'),
  diskReserveMb: { ...number('DISK_RESERVE_MB', 0, 1_000_000, 0, 'mebibytes from 0 to 1000000'), fallback: null },
  retentionDays: number('RETENTION_DAYS', 1, 3650, 7, 'days from 1 to 3650'),
  logLevel: choice('LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], 'info'),
  /** Only for the command line: the token for its requests to the service. */
  token: secret('TROUPE_TOKEN', '^\\S{1,4096}$', 'a token without spaces'),
} as const;

type Values = { [F in keyof typeof variables]: Static<(typeof variables)[F]['schema']> | (typeof variables)[F]['fallback'] };

/**
 * The settings of this process. Null means "not given". `dataDir` is absolute; `nodeName` is the host's name and a random part unless
 * given; `adminPortGiven`: the port was configured and must be free; the default may be taken.
 */
export type Config = Readonly<
  Omit<Values, 'nodeName'> & {
    nodeName: string;
    adminPortGiven: boolean;
    /** By the service's name. */
    services: Readonly<Record<string, ServiceSettings>>;
  }
>;

/** Headers of every request to the collector. */
export function collectorHeaders({ otlpHeaders }: Pick<Config, 'otlpHeaders'>): Record<string, string> {
  if (otlpHeaders === null) return {};
  return Object.fromEntries(
    otlpHeaders.split(',').map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    }),
  );
}

export const variableNames: readonly string[] = [...Object.values(variables), ...serviceVariables].map((variable) => variable.name);

/** The configuration of this process: its environment, with additions from a `.env` file in the current folder. Throws `ConfigError`. */
export function readConfig(): Config {
  try {
    process.loadEnvFile('.env');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw new ConfigError(`.env cannot be read: ${(error as Error).message}`);
  }
  return loadConfig(process.env);
}

/** Checks `env`; unknown variables are ignored, empty ones count as not given. Throws `ConfigError` for the first invalid one. */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const entries = Object.entries(variables).map(([field, variable]) => [field, readVariable(variable, env[variable.name])]);
  const values = Object.fromEntries(entries) as Values;
  if (values.redisUrl !== null && values.databaseUrl === null) {
    throw new ConfigError(
      'DATABASE_URL is not set, but REDIS_URL is: the nodes of a cluster share one PostgreSQL, so give its postgres:// URL',
    );
  }
  const databaseFault = values.databaseUrl === null ? null : databaseTlsFault(values.databaseUrl);
  if (databaseFault !== null) throw new ConfigError(`DATABASE_URL cannot be used: ${databaseFault}`);
  if (values.redisUrl !== null) checkRedisUrl(values.redisUrl);
  const tls = [values.clusterTlsCa, values.clusterTlsCert, values.clusterTlsKey].filter((file) => file !== null).length;
  if (tls !== 0 && tls !== 3) {
    throw new ConfigError('CLUSTER_TLS_CA, CLUSTER_TLS_CERT and CLUSTER_TLS_KEY belong together: give all three or none');
  }
  if (values.redisUrl !== null && values.clusterAnnounce === null && /^(0\.0\.0\.0|::|\[::\])$/.test(values.clusterHost)) {
    throw new ConfigError(
      `CLUSTER_HOST is ${values.clusterHost}, which no other node can reach: give the address of this host, or say where it is reached with CLUSTER_ANNOUNCE`,
    );
  }
  if (values.redisUrl === null && values.roles.length < 2) {
    throw new ConfigError(`ROLES is "${values.roles.join()}", but without REDIS_URL one node does both: leave it out or set REDIS_URL`);
  }
  if (values.modelBaseUrl !== null && values.modelName === null) {
    throw new ConfigError('MODEL_NAME is not set, but MODEL_BASE_URL is: name the model that should answer');
  }
  const issuesByStripe = values.stripeIssuingCardholder !== null;
  if (issuesByStripe !== values.stripeIssuingWebhookSecrets.length > 0 || (issuesByStripe && values.stripeSecretKey === null)) {
    throw new ConfigError(
      'STRIPE_ISSUING_CARDHOLDER, STRIPE_ISSUING_WEBHOOK_SECRET and STRIPE_SECRET_KEY belong together: give all three and cards are issued by Stripe, or neither of the first two',
    );
  }
  const takesPayments = values.stripeWebhookSecrets.length > 0;
  if (takesPayments ? values.stripeSecretKey === null : values.stripeSecretKey !== null && !issuesByStripe) {
    throw new ConfigError(
      'STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET belong together: the first is needed to take payments, the second to be notified of them; give both or neither',
    );
  }
  return deepFreeze({
    ...values,
    services: readServices(env, values.stripeApiUrl),
    dataDir: resolve(values.dataDir),
    nodeName: values.nodeName ?? `${safeHostName()}-${randomBytes(3).toString('hex')}`,
    adminPortGiven: Boolean(env[variables.adminPort.name]),
  });
}

function readServices(env: Readonly<Record<string, string | undefined>>, stripeApiUrl: string | null): Record<string, ServiceSettings> {
  const of = {
    text: (name: string) => text(name, null, '^\\S{1,1000}$', 'the id of a client, without spaces'),
    secret: (name: string) => secret(name, '^\\S{1,4096}$', 'the secret of a client, without spaces'),
    url: (name: string) => url(name, ['http', 'https'], 'an http or https URL'),
  };
  const services = serviceNames.map((service): [string, ServiceSettings] => {
    const own = serviceVariables.filter((variable) => variable.service === service);
    const given = Object.fromEntries(own.map(({ name, field, of: form }) => [field, readVariable(of[form](name), env[name])]));
    const settings = { ...noServiceSettings, ...(service === 'stripe' && { apiUrl: stripeApiUrl }), ...given };
    const [id, clientSecret] = clientVariables(service);
    if (settings.clientId !== null && settings.clientSecret === null)
      throw new ConfigError(`${clientSecret} is not set, but ${id} is: give the secret of that client too`);
    return [service, settings];
  });
  return Object.fromEntries(services.map(([service, settings]) => [service, Object.freeze(settings)]));
}

/** The folder in which a command was typed, and whether the terminal can move its cursor. Not a setting of the service. */
export function readCaller(): { folder: string; dumbTerminal: boolean } {
  const { INIT_CWD: typedIn, npm_package_json: packageFile, TERM: terminal } = process.env;
  // npm changes to the package's folder and sets a variable with the folder where it was called.
  const moved = typedIn && packageFile && dirname(packageFile) === process.cwd();
  return { folder: moved ? typedIn : process.cwd(), dumbTerminal: !terminal || terminal === 'dumb' };
}

/** Where the operator's programs are. Not a setting of the service. */
export function searchPath(): string {
  return process.env.PATH ?? '';
}

function checkRedisUrl(redisUrl: string): void {
  try {
    parseRedisUrl(redisUrl);
  } catch (error) {
    throw error instanceof RedisUrlFault ? new ConfigError(`REDIS_URL cannot be used: ${error.message}`) : error;
  }
}

function readVariable(variable: Variable<TSchema, unknown>, given: string | undefined): unknown {
  const raw = given?.trim();
  if (raw === undefined || raw === '') return variable.fallback;
  const value = parsed(variable.schema, raw);
  if (Value.Check(variable.schema, value)) return value;
  throw new ConfigError(`${variable.name} is ${shown(variable, raw)}, but must be ${variable.allowed}`);
}

function parsed(schema: TSchema, raw: string): unknown {
  if (Type.IsInteger(schema)) return /^\d{1,15}$/.test(raw) ? Number(raw) : raw;
  if (Type.IsArray(schema)) return [...new Set(raw.split(',').map((item) => item.trim()))];
  return raw;
}

/** The value in a form that is safe for a message: one line, of limited length, without possible passwords. */
function shown({ kind }: Variable<TSchema, unknown>, raw: string): string {
  if (kind === 'secret') return `a text of ${raw.length} characters`;
  const masked = kind === 'url' ? maskedUrl(raw) : raw;
  return JSON.stringify(masked.length > 100 ? `${masked.slice(0, 100)}...` : masked);
}

function maskedUrl(raw: string): string {
  const at = raw.lastIndexOf('@');
  const scheme = /^[\w+]*:?\/{0,2}/.exec(raw)![0];
  const masked = at === -1 ? raw : `${scheme.length <= at ? scheme : ''}[masked]${raw.slice(at)}`;
  const query = masked.search(/[?#]/);
  return query === -1 ? masked : `${masked.slice(0, query)}?[masked]`;
}

function number(name: string, minimum: number, maximum: number, fallback: number, allowed: string) {
  return { name, schema: Type.Integer({ minimum, maximum }), fallback, allowed, kind: 'plain' as const };
}

function text<D extends string | null>(name: string, fallback: D, pattern: string, allowed: string) {
  return { name, schema: Type.String({ pattern }), fallback, allowed, kind: 'plain' as const };
}

function secret(name: string, pattern: string, allowed: string) {
  return { name, schema: Type.String({ pattern }), fallback: null, allowed, kind: 'secret' as const };
}

function url(name: string, schemes: string[], allowed: string) {
  const schema = Type.Refine(Type.String({ pattern: `^(${schemes.join('|')})://[^\\s]+$` }), (value) => URL.canParse(value));
  return { name, schema, fallback: null, allowed, kind: 'url' as const };
}

function list<S extends TSchema>(name: string, item: S, fallback: Static<S>[], allowed: string) {
  return { name, schema: Type.Array(item, { minItems: 1 }), fallback, allowed, kind: 'plain' as const };
}

/** Several while one replaces another. */
function signingSecrets(name: string, endpoint: string) {
  const item = Type.String({ pattern: '^whsec_[A-Za-z0-9+/=_-]{8,250}$' });
  const allowed = `the signing secret of ${endpoint}: whsec_…, or several with commas between`;
  return { ...list(name, item, [], allowed), kind: 'secret' as const };
}

function choice<const T extends string[]>(name: string, values: T, fallback: T[number]) {
  const schema = Type.Union(values.map((value) => Type.Literal(value as T[number])));
  return { name, schema, fallback, allowed: `one of ${values.join(', ')}`, kind: 'plain' as const };
}

function isAddressRange(range: string): boolean {
  const [address = '', bits, ...rest] = range.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** In browsers' form: scheme, host and a port that is not the default one. */
function isOrigin(text: string): boolean {
  return text === '*' || (/^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text);
}

function safeHostName(): string {
  return (
    hostname()
      .replace(/[^A-Za-z0-9-]/g, '-')
      .replace(/^-+/, '')
      .slice(0, 40) || 'node'
  );
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) Object.freeze(part);
  return Object.freeze(value);
}
