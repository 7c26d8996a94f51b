/**
 * Keeps secrets out of log lines. Errors of libraries may contain anything: Redis errors contain the AUTH command, URL errors the whole
 * URL, mail errors the dialogue. So only a few known fields of errors are logged, and each finished line is scanned again.
 */
import { type Config, collectorHeaders } from './config.ts';
import { parseRedisUrl, redisLogins } from './redis-url.ts';

const censor = '[secret]';
const leftOut = '{"level":"warn","msg":"a line was left out, as the secret in it could not be masked"}\n';
/** Shorter secrets would match inside ordinary words; URLs are masked in any case. */
const minSecretChars = 6;
const maxMessageChars = 4_000;
const maxStackChars = 8_000;
const maxCauses = 4;

const secretName =
  '[\\w.-]{0,60}(?:passw(?:or)?d|passphrase|secret|token|authorization|api_?-?key|private_?-?key|cookie|credential)[\\w.-]{0,60}';
/**
 * `"password":"..."` and similar at any depth of a line, and the same in a JSON text within a string. Each part can match in one way only,
 * so that no crafted line is slow.
 */
const secretField = new RegExp(`("(?:${secretName}|key)":)"(?:[^"\\\\]|\\\\.)*"`, 'gi');
const quotedSecretField = new RegExp(`(\\\\"${secretName}\\\\":\\s?)\\\\"(?:[^"\\\\]|\\\\\\\\(?:\\\\"|\\\\\\\\|[^"\\\\]))*\\\\"`, 'gi');
/** `scheme://user:password@`: up to the last @, because a password may contain one. */
const urlUser = /(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s"<>]{1,2000}@/gi;
const urlQuery = /([?&][\w.-]*(?:token|secret|passw(?:or)?d|signature|credential|key|sig)=)[^&\s"\\]+/gi;
const header = /\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi;
/** The service's own tokens, keys and checkout addresses, those of well-known vendors, and password hashes. */
const shapes =
  /\bv[1-4]\.(?:public|local)\.[\w-]{8,}(?:\.[\w-]+)?|\bm[kt]_(?:(?:live|test)_)?[0-9A-Za-z]{20,}|\bmr_[0-9a-z]{26}_[0-9A-Za-z]{20,}|\bcs_[0-9a-z]{26}\.[\w-]{20,}|\bsk-[\w-]{8,}|\b(?:[sr]k_(?:live|test)|whsec)_[\w+/=-]{8,}|\$argon2\w*\$[^\s"]+/g;

/** The secrets in the settings, including the passwords inside URLs: as written, decoded, and in the forms of mail servers and HTTP. */
export function secretsOf(config: Config): string[] {
  const { secretKey, acceptedKeys, modelApiKey, anthropicApiKey, stripeSecretKey, token } = config;
  const signing = [...config.stripeWebhookSecrets, ...config.stripeIssuingWebhookSecrets];
  const clients = Object.values(config.services).map(({ clientSecret }) => clientSecret);
  const inbound = [config.whatsappVerifyToken, config.whatsappAppSecret];
  const keys = [secretKey, ...acceptedKeys, modelApiKey, anthropicApiKey, stripeSecretKey, ...signing, ...clients, ...inbound, token];
  const urls = [config.databaseUrl, config.smtpUrl, config.s3Url, config.modelBaseUrl, config.searchUrl, config.otlpUrl];
  const passwords = urls.flatMap((url) => (url === null ? [] : passwordForms(new URL(url))));
  if (config.redisUrl !== null) {
    const logins = redisLogins(parseRedisUrl(config.redisUrl));
    passwords.push(...logins.flatMap(({ username, password }) => loginForms(username, password, encodeURIComponent(password))));
  }
  return [...keys, ...Object.values(collectorHeaders(config)), ...passwords].filter((secret) => secret !== null);
}

function passwordForms(url: URL): string[] {
  return loginForms(decoded(url.username), decoded(url.password), url.password);
}

/** @param written in the form of the address */
function loginForms(user: string, password: string, written: string): string[] {
  if (password === '') return [];
  const inLogin = [`\0${user}\0${password}`, `${user}:${password}`, password].map((text) => Buffer.from(text).toString('base64'));
  return [written, password, ...inLogin];
}

/** Masks secrets in a finished line. `secrets`: texts that must never be logged. */
export function createScrubber(secrets: readonly string[]): (line: string) => string {
  const known = [...new Set(secrets)]
    .filter((secret) => secret.length >= minSecretChars)
    .flatMap((secret) => [escaped(secret), escaped(escaped(secret))])
    .sort((a, b) => b.length - a.length);
  return (line) => {
    let clean = line;
    for (const secret of known) clean = clean.replaceAll(secret, censor);
    clean = clean
      .replace(secretField, `$1"${censor}"`)
      .replace(quotedSecretField, `$1\\"${censor}\\"`)
      .replace(urlUser, `$1${censor}@`)
      .replace(urlQuery, `$1${censor}`)
      .replace(header, `$1 ${censor}`)
      .replace(shapes, censor);
    // A secret began inside an escape: better no line than an invalid one for log readers.
    return clean === line || isJson(clean) ? clean : leftOut;
  };
}

/** In the form of a JSON string. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** The logged part of an error: its kind, text, code and causes. Other properties that a library adds are left out. */
export function errorFields(thrown: unknown, depth = 0): unknown {
  if (!(thrown instanceof Error)) return clip(String(thrown), maxMessageChars);
  const { name, message, stack, code, constraint, table, cause, errors } = thrown as Error & Record<string, unknown>;
  const more = depth < maxCauses;
  return {
    type: name,
    message: clip(String(message), maxMessageChars),
    ...fields({ code, constraint, table }),
    stack: clip(String(stack ?? ''), maxStackChars),
    ...(cause !== undefined && more ? { cause: errorFields(cause, depth + 1) } : {}),
    ...(Array.isArray(errors) && more ? { errors: errors.slice(0, 5).map((error) => errorFields(error, depth + 1)) } : {}),
  };
}

/** Only short texts and numbers: an object under such a name belongs to the library. */
function fields(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => typeof value === 'number' || (typeof value === 'string' && value.length <= 200)),
  );
}

function clip(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}...`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
