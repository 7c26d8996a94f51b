/**
 * Names of actors, commands, queries and effects are stored in rows and sent between nodes of two versions: a node that does not know one leaves
 * the work, or refuses the ask. They are recorded in test/fixtures/stored-names.json: a name is added there with its first release, and
 * removed in a later release than its last use.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import type { AnyActor } from '../../src/actors/define-actor.ts';
import { loadConfig } from '../../src/config.ts';
import { noLog } from '../../src/log.ts';
import type { Disposers } from '../../src/node/disposers.ts';
import { domains } from '../../src/node/domains.ts';
import { startNode } from '../../src/node/node.ts';
import { type Product, productOf } from '../../src/node/product.ts';
import { testDatabase } from '../support/database.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** With every setting that adds actors or effects. */
const stripe = {
  STRIPE_SECRET_KEY: 'sk_test_0123456789names',
  STRIPE_WEBHOOK_SECRET: 'whsec_of_the_stored_names_0123456789',
  STRIPE_API_URL: 'http://127.0.0.1:9',
  STRIPE_ISSUING_WEBHOOK_SECRET: 'whsec_of_the_issued_names_0123456789',
  STRIPE_ISSUING_CARDHOLDER: 'ich_0123456789names',
};

type Names = Record<string, { commands: string[]; queries: string[]; effects: string[] }>;

test('every name that is stored or sent between nodes is recorded, and none that was recorded is gone', { timeout: 240_000 }, async (t) => {
  const recorded: Names = JSON.parse(await readFile(new URL('../fixtures/stored-names.json', import.meta.url), 'utf8'));
  const disposers: Disposers = [];
  const [database, folder] = await Promise.all([testDatabase(), temporaryFolder()]);
  t.after(async () => {
    for (let stop = disposers.pop(); stop !== undefined; stop = disposers.pop()) await stop(0);
    await Promise.all([database.close(), folder.remove()]);
  });
  let actors: readonly AnyActor[] = [];
  const product = productOf(domains);
  const observed: Product = {
    ...product,
    start(platform) {
      const started = product.start(platform);
      actors = started.domains.flatMap((domain) => domain.actors);
      return started;
    },
  };
  const config = loadConfig({ ...stripe, PORT: '0', ADMIN_PORT: '0', DATABASE_URL: database.url, DATA_DIR: folder.path });
  const never = () => assert.fail('nobody asked this node to end');
  await startNode(observed, config, noLog, disposers, never, never);
  assert.deepEqual(namesOf(actors), recorded, 'names differ from those in test/fixtures/stored-names.json');
});

function namesOf(actors: readonly AnyActor[]): Names {
  const sorted = [...actors].sort((a, b) => (a.ref.kind < b.ref.kind ? -1 : 1));
  return Object.fromEntries(
    sorted.map(({ ref, commands, queries, effects = {} }) => [
      ref.kind,
      {
        commands: Object.keys(commands)
          .map((name) => versioned(name, ref.versions?.[name]))
          .sort(),
        queries: Object.keys(queries).sort(),
        // The outcome is a command.
        effects: Object.entries(effects)
          .map(([name, { version }]) => versioned(name, version))
          .sort(),
      },
    ]),
  );
}

function versioned(name: string, version = 1): string {
  return version === 1 ? name : `${name}@${version}`;
}
