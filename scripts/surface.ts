/**
 * `npm run surface -- FOLDER`: writes the public surface as text files: the API's description, the schema of the database, names of
 * migrations, metrics, help of the commands and event types. Two runs of one version write the same bytes, so `diff -r` of the folders of
 * two versions shows what a change means to callers, operators and the version before.
 */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { domains } from '../src/node/domains.ts';
import { productOf } from '../src/node/product.ts';
import { testDatabase } from '../test/support/database.ts';
import { nodeEnv } from '../test/support/node-env.ts';
import { NodeProcess } from '../test/support/node-process.ts';
import { testRedis, withoutRedis } from '../test/support/redis.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { dumpedSchema, migrationNames, schemaText } from './surface/schema.ts';

/** No request is sent to Stripe here: a node calls it only for payments and cards. */
const stripeSettings = {
  STRIPE_SECRET_KEY: 'sk_test_0123456789surface',
  STRIPE_WEBHOOK_SECRET: 'whsec_of_the_surface_0123456789',
  STRIPE_API_URL: 'http://127.0.0.1:9',
  STRIPE_ISSUING_WEBHOOK_SECRET: 'whsec_of_the_issuing_surface_01',
  STRIPE_ISSUING_CARDHOLDER: 'ich_0123456789surface',
};

const folder = process.argv[2];
if (folder === undefined || folder.startsWith('-')) {
  console.error('Usage: npm run surface -- FOLDER');
  process.exit(2);
}
const ends: (() => unknown)[] = [];
try {
  await writeSurface(folder);
} finally {
  for (const end of ends.reverse()) await end();
}
// The PostgreSQL that was started for this ends with this process.
process.exit();

async function writeSurface(folder: string): Promise<void> {
  const files: Record<string, string> = {
    'event-types.txt': `${[...productOf(domains).eventCatalogue.types].sort().join('\n')}\n`,
    'commands.txt': await commandsHelp(),
    ...(await ofRunningNodes()),
  };
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  console.log(`${folder}: ${Object.keys(files).join(', ')}`);
}

/** One node without settings, then one with everything that adds routes or metrics. */
async function ofRunningNodes(): Promise<Record<string, string>> {
  const database = await testDatabase({ empty: true });
  ends.push(() => database.close());
  const plain = await withNode(database.url, {}, async (node) => ({ 'openapi.json': await description(node) }));
  const dump = await dumpedSchema(database.url);
  const ofDatabase = {
    'schema.txt': await schemaText(database.url),
    'migrations.txt': await migrationNames(database.url),
    ...(dump === null ? {} : { 'schema.sql': dump }),
  };
  const redis = withoutRedis ? null : await testRedis({ after: (end) => void ends.push(end as () => unknown) });
  const adminPort = await freePort();
  const settings = { ...stripeSettings, ADMIN_PORT: String(adminPort), ...(redis === null ? {} : { REDIS_URL: redis.url }) };
  const full = await withNode(database.url, settings, async (node) => ({
    'openapi-with-stripe.json': await description(node),
    'metrics.txt': metricsOf(await textOf(`http://127.0.0.1:${adminPort}/metrics`)),
  }));
  return { ...plain, ...ofDatabase, ...full };
}

async function withNode<T>(databaseUrl: string, settings: Record<string, string>, use: (node: NodeProcess) => Promise<T>): Promise<T> {
  const folder = await temporaryFolder('troupe-surface-');
  const node = new NodeProcess('surface', {
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder.path,
    SECRET_KEY: 'the same key for each run of surface',
    PUBLIC_URL: 'https://troupe.example.com',
    PORT: '0',
    ADMIN_PORT: '0',
    LOG_LEVEL: 'warn',
    DRAIN_GRACE_MS: '0',
    ...settings,
  });
  try {
    await node.start();
    await node.untilReady();
    return await use(node);
  } finally {
    if (node.pid !== null) await node.term();
    await folder.remove();
  }
}

/** One value per line, for `diff`; the order of keys is the document's. It is the same with and without `/v1`. */
async function description({ url }: NodeProcess): Promise<string> {
  return `${JSON.stringify(JSON.parse(await textOf(`${url}/openapi.json`)), null, 2)}\n`;
}

/** Names with types and help, without values; sorted, because their order has no meaning. */
function metricsOf(scrape: string): string {
  const lines = scrape.split('\n').filter((line) => line.startsWith('# '));
  return `${lines.sort((one, other) => (one.slice(7) < other.slice(7) ? -1 : 1)).join('\n')}\n`;
}

async function commandsHelp(): Promise<string> {
  const general = await help([]);
  const commands = [...general.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map(([, name]) => name!);
  const each = await Promise.all(commands.map(async (name) => `# ${name} --help\n${await help([name])}`));
  return [`# --help\n${general}`, ...each].join('\n');
}

function help(command: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const args = ['--disable-warning=ExperimentalWarning', 'src/cli/main.ts', ...command, '--help'];
    execFile(process.execPath, args, { env: nodeEnv }, (error, stdout) => (error === null ? resolve(stdout) : reject(error)));
  });
}

async function textOf(url: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response.text();
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
