/** Inputs that are stored in tables have schemas, and are checked when they are read. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { shardOf } from '../../src/cluster/address.ts';
import { insertNeutralRow } from '../support/neutral-row.ts';
import { probe, probeActor, probeOptions } from '../support/probe-actor.ts';
import { testRuntime } from '../support/runtime.ts';
import { until } from '../support/until.ts';

const folderOf = (path: string) => path.split('/')[3]!;

/** The commands that have a form, by the folder of their actor. */
async function formsByFolder(): Promise<Map<string, Set<string>>> {
  const files = globSync('src/domains/*/*/inputs.ts');
  const loaded = files.map(async (file) => {
    const exported = Object.entries(await import(pathToFileURL(file).href)).filter(([name]) => name.endsWith('Inputs'));
    return [folderOf(file), new Set(exported.flatMap(([, forms]) => Object.keys(forms as object)))] as const;
  });
  return new Map(await Promise.all(loaded));
}

test('every message and timer has a schema under the name and version of its command, and its actor has that schema', async () => {
  const sources = globSync('src/domains/*/*/*.ts').map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  const folderOfRef = new Map<string, string>([['payerRef', 'purchase-order']]);
  // Matched by kind, because a port and its actor are in different folders.
  const versionsOfRef = new Map<string, string>();
  const ownRefOf = new Map<string, string>();
  for (const { path, text } of sources)
    for (const [, ref, kind, versions] of text.matchAll(/export const (\w+) = actorRef<\w+>\('(\w+)'(?:, (\{[^}]*\}))?/g)) {
      const folder = kind!.replaceAll('_', '-');
      folderOfRef.set(ref!, folder);
      versionsOfRef.set(ref!, versions ?? '');
      if (folderOf(path) === folder) ownRefOf.set(folder, ref!);
    }
  const versionIn = (ref: string, command: string) => new RegExp(`\\b${command}: (\\d+)`).exec(versionsOfRef.get(ref) ?? '')?.[1];
  const forms = await formsByFolder();
  const lacking: string[] = [];
  let found = 0;
  for (const { path, text } of sources) {
    const folder = folderOf(path);
    const sent = [...text.matchAll(/ctx\.send\(\s*(\w+)(?:\([^)]*\))?,[^;]*?'(\w+)',/g)].map(([, ref, command]) => {
      const of = folderOfRef.get(ref!) ?? folder;
      const isSameVersion = !folderOfRef.has(ref!) || versionIn(ref!, command!) === versionIn(ownRefOf.get(of)!, command!);
      if (!isSameVersion) lacking.push(`${path}: the version of ${of} ${command}`);
      return [of, command];
    });
    const woken = [...text.matchAll(/ctx\.schedule\([^;]*?, '(\w+)', /g)].map(([, command]) => [folder, command]);
    for (const [of, command] of [...sent, ...woken]) {
      found++;
      if (forms.get(of!)?.has(command!) !== true) lacking.push(`${path}: ${of} ${command}`);
    }
  }
  assert.deepEqual(lacking, []);
  assert.ok(found > 60, `${found} found`);
  for (const folder of forms.keys()) {
    const { text } = sources.find(({ path }) => path.endsWith(`/${folder}/${folder}.ts`))!;
    assert.match(text, /inputs: \w+Inputs/, folder);
  }
});

test('an invalid input becomes a dead letter before its command runs; an effect with an invalid input has failed', async (t) => {
  const node = await testRuntime([probeActor], probeOptions);
  t.after(() => node.close());
  const shard = shardOf('probe', 'p');
  const row = { shard, kind: 'probe', actor_id: 'p' };
  await insertNeutralRow(node.database, 'timer', {
    ...row,
    name: 'n',
    command: 'woke',
    input: { name: 1, text: 'no' },
    due_at: new Date(0),
  });
  await insertNeutralRow(node.database, 'effect', { ...row, id: 'eff_1', name: 'work', input: { never: 'no' } });
  await Promise.all([node.runtime.sweepTimers(), node.runtime.effects.recover()]);
  const received = async () => (await node.actors.query(probe, 'p', 'state', null))?.received ?? [];
  await until(async () => (await received()).length === 1, 'the outcome');
  assert.deepEqual(await received(), [{ kind: 'failed', message: 'It was asked for in a form that is not known here' }]);
  await until(async () => (await node.sql('select from dead_letter')).length === 1, 'the dead letter');
  const [letter] = await node.sql('select command, input, error from dead_letter');
  assert.deepEqual([letter.command, letter.input], ['woke', { name: 1, text: 'no' }]);
  assert.match(letter.error, /does not match the schema of this version: \/name/);
  assert.deepEqual(await node.sql('select from timer'), []);
});

test('inputs with missing optional fields or fields of a newer version are valid', async (t) => {
  const node = await testRuntime([probeActor], probeOptions);
  t.after(() => node.close());
  await node.actors.ask(probe, 'p', 'wake', { name: 'n', dueMs: 0, text: 'fits', again: undefined });
  const input = { name: 'm', text: 'fits too', added: { by: 'a newer version' } };
  const row = { shard: shardOf('probe', 'p'), kind: 'probe', actor_id: 'p', name: 'm', command: 'woke', due_at: new Date(0) };
  await insertNeutralRow(node.database, 'timer', { ...row, input });
  await node.runtime.sweepTimers();
  await until(async () => ((await node.actors.query(probe, 'p', 'state', null))?.received ?? []).length === 2, 'both');
  assert.deepEqual(await node.sql('select from dead_letter'), []);
});
