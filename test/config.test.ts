import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import test from 'node:test';
import { ConfigError, loadConfig, variableNames } from '../src/config.ts';

function refusal(env: Record<string, string>): string {
  try {
    loadConfig(env);
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    assert.equal(error.message.split(/[\r\n\u2028]/).length, 1, 'one line');
    return error.message;
  }
  return assert.fail(`${JSON.stringify(env)} was taken`);
}

/** Settings that every node of a cluster needs. */
const cluster = { REDIS_URL: 'redis://127.0.0.1', DATABASE_URL: 'postgres://127.0.0.1/x', SECRET_KEY: 'x'.repeat(32) };

test('an empty environment gives the documented defaults', () => {
  const config = loadConfig({});
  assert.equal(config.port, 8080);
  assert.equal(config.host, '127.0.0.1');
  assert.equal(config.databaseUrl, null);
  assert.equal(config.drainGraceMs, 2000);
  assert.equal(config.retentionDays, 7);
  assert.equal(config.adminPort, 9464);
  assert.equal(config.adminPortGiven, false);
  assert.deepEqual(config.roles, ['edge', 'actors']);
  assert.deepEqual(config.outboundAllow, []);
  assert.ok(isAbsolute(config.dataDir) && config.dataDir.endsWith('.data'));
  assert.match(config.nodeName, /^[A-Za-z0-9-]+-[0-9a-f]{6}$/);
});

test('two nodes of one host get different names', () => {
  assert.notEqual(loadConfig({}).nodeName, loadConfig({}).nodeName);
});

test('an empty variable counts as unset, and unknown ones are ignored', () => {
  assert.equal(loadConfig({ PORT: '', REDIS_URL: '  ', PORTT: 'x' }).port, 8080);
});

test('the configuration cannot be changed, nor its lists', () => {
  const config = loadConfig({ ROLES: 'edge', ...cluster });
  assert.throws(() => Object.assign(config, { port: 1 }), TypeError);
  assert.throws(() => (config.roles as string[]).push('actors'), TypeError);
});

test('an invalid number is reported with the variable, the value and the allowed range', () => {
  const hostile = ['80a', '-1', '65536', '1e3', '0x50', '80.5', ' ,', '٣', '9'.repeat(400), 'Infinity', 'null'];
  for (const PORT of hostile) assert.match(refusal({ PORT }), /^PORT is ".*", but must be a port from 1 to 65535/);
});

test('a value with line breaks and control characters stays one short line in the message', () => {
  const message = refusal({ ROLES: `edge\r\nFAKE LOG LINE\u001b[31m${'x'.repeat(5000)}` });
  assert.ok(message.length < 300 && !message.includes('\u001b'));
});

test('no part of a secret or of credentials in a URL appears in a message', () => {
  assert.match(refusal({ SECRET_KEY: 'hunter2' }), /^SECRET_KEY is a text of 7 characters, but(?!.*hunter2)/);
  assert.doesNotMatch(refusal({ MODEL_API_KEY: 'sk-hunter2 with space' }), /hunter2/);
  const urls = ['postgres//u:hunter2@h/db', 'postgres://u:hun?hunter2@h h/db', 'http://h/db?password=hunter2', 'http:u:@hunter2@h#hunter2'];
  for (const DATABASE_URL of urls) assert.doesNotMatch(refusal({ DATABASE_URL }), /hunter2/);
  assert.match(refusal({ DATABASE_URL: 'mysql://u:hunter2@x/y' }), /^DATABASE_URL is (?!.*hunter2)/);
});

test('a key shorter than 32 characters is refused, one of 32 is accepted', () => {
  refusal({ SECRET_KEY: 'k'.repeat(31) });
  assert.equal(loadConfig({ SECRET_KEY: 'k'.repeat(32) }).secretKey, 'k'.repeat(32));
});

test('addresses and ranges of both families are accepted, and anything else is refused', () => {
  assert.deepEqual(loadConfig({ OUTBOUND_ALLOW: '127.0.0.0/8, ::1,10.0.0.1' }).outboundAllow, ['127.0.0.0/8', '::1', '10.0.0.1']);
  for (const OUTBOUND_ALLOW of ['127.0.0.0/33', '127.0.0', 'localhost', '::1/129', '1.1.1.1/8/8', '10.0.0.0/', ','])
    refusal({ OUTBOUND_ALLOW });
});

test('origins are accepted as browsers write them, and anything else is refused', () => {
  const given = 'https://app.example.com, http://localhost:3000,*';
  assert.deepEqual(loadConfig({ CORS_ORIGINS: given }).corsOrigins, ['https://app.example.com', 'http://localhost:3000', '*']);
  for (const CORS_ORIGINS of [
    'example.com',
    'https://example.com/',
    'https://Example.com',
    'https://example.com:443',
    '*.a.com',
    'ftp://a',
  ])
    refusal({ CORS_ORIGINS });
});

test('roles are a set of the known ones', () => {
  assert.deepEqual(loadConfig({ ROLES: 'edge, edge', ...cluster }).roles, ['edge']);
  for (const ROLES of ['edge,admin', 'edge,', 'EDGE']) refusal({ ROLES });
});

test('a cluster without a shared database is refused, one role without a cluster, half of TLS, and a model endpoint without a model', () => {
  assert.match(refusal({ ...cluster, CLUSTER_TLS_CA: 'ca.pem' }), /^CLUSTER_TLS_CA.*CLUSTER_TLS_KEY/);
  assert.match(refusal({ REDIS_URL: 'redis://127.0.0.1' }), /^DATABASE_URL is not set, but REDIS_URL is/);
  assert.match(refusal({ ROLES: 'edge' }), /^ROLES is "edge", but without REDIS_URL/);
  assert.match(refusal({ MODEL_BASE_URL: 'http://127.0.0.1:1/v1' }), /^MODEL_NAME/);
});

test('an address that other nodes cannot reach is refused, unless another is announced', () => {
  assert.match(refusal({ ...cluster, CLUSTER_HOST: '0.0.0.0' }), /^CLUSTER_HOST.*CLUSTER_ANNOUNCE/);
  assert.equal(loadConfig({ ...cluster, CLUSTER_HOST: '0.0.0.0', CLUSTER_ANNOUNCE: 'node-1:7000' }).clusterAnnounce, 'node-1:7000');
  for (const CLUSTER_ANNOUNCE of ['node-1', 'node-1:0', 'http://node-1:1', ':7000']) refusal({ ...cluster, CLUSTER_ANNOUNCE });
});

test('a mail sender is an address, with a name or without, and never two header lines', () => {
  for (const MAIL_FROM of ['a@b.example', 'Troupe <a@b.example>']) assert.equal(loadConfig({ MAIL_FROM }).mailFrom, MAIL_FROM);
  for (const MAIL_FROM of ['nobody', 'a@b.example\r\nBcc: c@d.example', '@b']) refusal({ MAIL_FROM });
});

test("Stripe's key and webhook secrets are required together, and errors contain neither", () => {
  const STRIPE_SECRET_KEY = 'sk_test_51abcdefgh';
  const STRIPE_WEBHOOK_SECRET = 'whsec_abcdefgh';
  assert.deepEqual(
    loadConfig({ STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET: `${STRIPE_WEBHOOK_SECRET}, whsec_ijklmnop` }).stripeWebhookSecrets,
    [STRIPE_WEBHOOK_SECRET, 'whsec_ijklmnop'],
  );
  assert.match(refusal({ STRIPE_SECRET_KEY }), /^STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET belong together/);
  assert.match(refusal({ STRIPE_WEBHOOK_SECRET }), /^STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET belong together/);
  // It serves connected accounts too.
  assert.equal(loadConfig({ STRIPE_API_URL: 'http://127.0.0.1:1' }).services.stripe?.apiUrl, 'http://127.0.0.1:1');
  for (const wrong of [
    { STRIPE_SECRET_KEY: 'pk_test_51abcdefgh', STRIPE_WEBHOOK_SECRET },
    { STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET: `${STRIPE_WEBHOOK_SECRET},hunter22hunter22` },
  ])
    assert.doesNotMatch(refusal(wrong), /abcdefgh|hunter22/);
});

test('a service that accounts connect needs a client id and secret together, and may have other addresses', () => {
  const given = { GOOGLE_ADS_CLIENT_ID: 'id', GOOGLE_ADS_CLIENT_SECRET: 'hunter2', GOOGLE_ADS_TOKEN_URL: 'http://127.0.0.1:1/token' };
  assert.deepEqual(loadConfig(given).services.google_ads, {
    ...{ clientId: 'id', clientSecret: 'hunter2', tokenUrl: 'http://127.0.0.1:1/token' },
    ...{ apiUrl: null, authorizeUrl: null, revokeUrl: null },
  });
  assert.match(refusal({ GMAIL_CLIENT_ID: 'id' }), /^GMAIL_CLIENT_SECRET is not set, but GMAIL_CLIENT_ID is/);
  assert.match(refusal({ SLACK_API_URL: 'slack.com' }), /^SLACK_API_URL is "slack.com", but must be an http or https URL/);
  assert.doesNotMatch(refusal({ SLACK_CLIENT_SECRET: 'hunter2 hunter2' }), /hunter2/);
});

test('cards are issued by Stripe if its key, a signing secret and a cardholder are set, with or without payments', () => {
  const STRIPE_SECRET_KEY = 'sk_test_51abcdefgh';
  const STRIPE_ISSUING_WEBHOOK_SECRET = 'whsec_abcdefgh';
  const STRIPE_ISSUING_CARDHOLDER = 'ich_1abc';
  const all = { STRIPE_SECRET_KEY, STRIPE_ISSUING_WEBHOOK_SECRET, STRIPE_ISSUING_CARDHOLDER };
  assert.deepEqual(loadConfig(all).stripeIssuingWebhookSecrets, [STRIPE_ISSUING_WEBHOOK_SECRET]);
  assert.equal(loadConfig({ ...all, STRIPE_WEBHOOK_SECRET: 'whsec_ijklmnop' }).stripeIssuingCardholder, 'ich_1abc');
  for (const name of Object.keys(all)) {
    const lacking = { ...all, [name]: '' };
    assert.match(refusal(lacking), /STRIPE_ISSUING_CARDHOLDER, STRIPE_ISSUING_WEBHOOK_SECRET and STRIPE_SECRET_KEY belong together/);
  }
  assert.doesNotMatch(refusal({ ...all, STRIPE_ISSUING_WEBHOOK_SECRET: 'hunter22hunter22' }), /hunter22/);
});

test('.env.example names the variables that are read, each once, with its default', () => {
  const example = readFileSync(new URL('../.env.example', import.meta.url), 'utf8');
  const named = Array.from(example.matchAll(/^#?([A-Z0-9_]+)=(.*)$/gm), ([, name, value]) => [name!, value!]);
  assert.deepEqual(named.map(([name]) => name).sort(), [...variableNames].sort());
  const { nodeName: _, ...asWritten } = loadConfig(Object.fromEntries(named));
  const { nodeName: __, ...defaults } = loadConfig({});
  assert.deepEqual({ ...asWritten, adminPortGiven: false }, defaults);
});

test('TLS options of DATABASE_URL that have no effect, or a weaker one than expected, are refused', () => {
  const refused = (query: string) => refusal({ DATABASE_URL: `postgres://u:p4ssw0rd@db.example.com/x?${query}` });
  assert.match(refused('sslmode=verify'), /^DATABASE_URL cannot be used: sslmode must be one of disable, /);
  assert.match(refused('sslmode=verify-ca'), /needs sslrootcert/);
  assert.match(refused('sslmode=require&sslrootcert=system'), /needs sslmode=verify-full/);
  assert.match(refusal({ DATABASE_URL: 'postgres://u:p4ssw0rd@[fd00::7]/x?sslmode=verify-full' }), /give a name instead of an address/);
  loadConfig({ DATABASE_URL: 'postgres://u:p@db.example.com/x?sslmode=verify-full&sslrootcert=/etc/rds.pem' });
});
