/** How declared events are selected by name, and who may read them. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { EventCatalogue } from '../../../src/edge/stream/event-catalogue.ts';
import { eventCatalogue } from '../../support/product-events.ts';

const catalogue = new EventCatalogue([
  { door: { names: ['opened', 'closed'], scope: 'tasks.read' }, bell: { names: ['rung'], scope: null, ofOneMode: true } },
  { alarm: { names: ['raised'], scope: 'agents.read', aliases: { raised: 'door.forced' } } },
]);
const key = { accountId: 'a', userId: 'u', kind: 'api_key', scopes: new Set(['tasks.read']), mode: 'live', id: 'k' } as const;

test('a name selects one type, all types of a family, or all types', () => {
  assert.deepEqual(catalogue.typesNamed('door.opened'), ['door.opened']);
  assert.deepEqual(catalogue.typesNamed('door.*'), ['door.opened', 'door.closed']);
  assert.deepEqual(catalogue.typesNamed('*'), ['door.opened', 'door.closed', 'bell.rung', 'alarm.raised']);
  const named = ['door.opened', 'door.*', '*', 'door', 'door.raised', 'window.*', ''].filter((name) => catalogue.isEventName(name));
  assert.deepEqual(named, ['door.opened', 'door.*', '*']);
});

test('an event with an alias is sent under its own type to subscribers of that type, and under the alias to subscribers of the alias only', () => {
  const chosen = [['alarm.raised', 'door.forced'], ['door.forced'], ['door.*'], ['bell.*']].map((wanted) =>
    catalogue.chosenName(wanted, 'alarm.raised'),
  );
  assert.deepEqual(chosen, ['alarm.raised', 'door.forced', 'door.forced', null]);
});

test('a key reads the families of its scopes, those of no scope, and those that a newer version has recorded', () => {
  assert.deepEqual(catalogue.unreadableTypes(key), ['alarm.raised']);
  assert.equal(catalogue.mayRead(key, 'window.broken'), true);
});

test('the mode of an event counts only where its family is of one mode', () => {
  const modes = ['bell.rung', 'door.opened'].map((type) => catalogue.modeOf({ type, envelope: '{"data":{"mode":"test"}}' }));
  assert.deepEqual(modes, ['test', null]);
  assert.equal(catalogue.modeOf({ type: 'bell.rung', envelope: '{"data":{}}' }), 'live');
});

test('a family that two domains declare is refused', () => {
  const door = { door: { names: ['opened'], scope: null } };
  assert.throws(() => new EventCatalogue([door, door]), /Two domains declare the same family of events: door/);
});

test('an alias that a domain declares is a type that can be subscribed to', () => {
  assert.equal(eventCatalogue.chosenName(['agent.approval_needed'], 'approval.required'), 'agent.approval_needed');
  assert.ok(eventCatalogue.isEventName('agent.approval_needed'));
});

test('every type of event that a source of a domain names where it emits is declared', () => {
  const emitted = globSync('src/domains/**/*.ts').flatMap((path) => {
    const calls = readFileSync(path, 'utf8').matchAll(/\bemit\((?!ctx: )[^;]*?;/g);
    return Array.from(calls, ([call]) => call.match(/(?<=')[a-z]+\.[a-z_]+(?=')/g) ?? []).flat();
  });
  assert.ok(emitted.length > 30, `${emitted.length} were found`);
  assert.deepEqual(
    emitted.filter((type) => !eventCatalogue.types.includes(type)),
    [],
  );
});
