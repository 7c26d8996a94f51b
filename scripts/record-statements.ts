/**
 * `node scripts/run.mjs scripts/record-statements.ts`: records the statements of this version into test/fixtures/previous-version.json. Run
 * it on the released version; the next version is tested against the record. It runs tests that together cover nearly all of the service.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { testDatabase } from '../test/support/database.ts';
import { allMigrations } from '../test/support/migrations.ts';
import { type PreviousVersion, type RecordedStatement, replay, withoutRepeats } from '../test/support/previous-version.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';

const tests = [
  'test/contract/http.test.ts',
  'test/e2e/agents-crash.test.ts',
  'test/e2e/money.test.ts',
  'test/e2e/orders.test.ts',
  'test/e2e/stripe-checkout.test.ts',
  'test/e2e/stripe-deposits.test.ts',
  'test/e2e/stripe-issuing.test.ts',
  'test/domains/webhooks/routes/webhooks.test.ts',
  'test/nodes/any-node.test.ts',
  'test/nodes/leaving.test.ts',
];

const folder = await temporaryFolder('troupe-recording-');
try {
  const file = join(folder.path, 'statements.jsonl');
  writeFileSync(file, '');
  const recorder = pathToFileURL('test/support/statement-recorder.ts').href;
  const env = {
    ...process.env,
    RECORD_STATEMENTS: file,
    NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import ${recorder}`,
  };
  const child = spawn(process.execPath, ['scripts/test.ts', ...tests, ...process.argv.slice(2)], { stdio: 'inherit', env });
  const [code] = await once(child, 'exit');
  if (code !== 0) console.error('Not all tests passed: what they sent is recorded nevertheless');
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const ofMigrations = new Set((await allMigrations()).flatMap(({ statements }) => statements));
  const sent = lines.map((line) => JSON.parse(line) as RecordedStatement);
  const all = withoutRepeats(sent.filter(({ text }) => !ofMigrations.has(text) && !/"migration"|migrated_template/.test(text)));
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const recorded = await whatThisVersionTakes(all);
  writeFileSync('test/fixtures/previous-version.json', `${JSON.stringify({ version, ...recorded }, null, 2)}\n`);
  console.log(`${recorded.statements.length} of ${all.length} statements recorded; now format the file`);
} finally {
  await folder.remove();
}

/** Without statements that depend on rows of an earlier test. */
async function whatThisVersionTakes(all: RecordedStatement[]): Promise<Omit<PreviousVersion, 'version'>> {
  const database = await testDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const { rows } = await client.query('select name from migration order by name desc limit 1');
    const statements: RecordedStatement[] = [];
    for (const statement of all) {
      const fault = await replay(client, statement);
      if (fault === null) statements.push(statement);
      else console.error(`left out (${fault}): ${statement.text.slice(0, 100)}`);
    }
    return { migration: rows[0].name, statements };
  } finally {
    await client.end();
    await database.close();
  }
}
