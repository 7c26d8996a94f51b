import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import Type from 'typebox';
import type { Authority } from '../../../../src/authority.ts';
import { commerceTools } from '../../../../src/domains/commerce/tools/commerce-tools.ts';
import { createDeploymentTool } from '../../../../src/domains/deployments/tools/create-deployment.ts';
import { agentInstructions } from '../../../../src/domains/tasks/tools/agent-types.ts';
import { createCatalogue } from '../../../../src/domains/tasks/tools/catalogue.ts';
import { agentTypes, type ToolContext } from '../../../../src/domains/tasks/tools/port.ts';
import type { SourcedTool } from '../../../../src/domains/tasks/tools/source.ts';
import { taskTools } from '../../../../src/domains/tasks/tools/task-tools.ts';
import { tradingTools } from '../../../../src/domains/trading/tools/trading-tools.ts';
import { AppError, ToolError } from '../../../../src/errors.ts';
import { noLog } from '../../../../src/log.ts';
import { noBrowser } from '../../../../src/providers/browser/no-browser.ts';
import { inlineCompute } from '../../../../src/providers/compute/inline.ts';
import { createOutbound } from '../../../../src/providers/outbound/outbound.ts';
import { createSandboxPool } from '../../../../src/providers/sandbox/pool.ts';
import { everything } from '../../../support/memory-workspace.ts';

const catalogue = createCatalogue([
  ...taskTools({
    outbound: createOutbound({ allow: [] }),
    searchUrl: null,
    sandbox: createSandboxPool({ directory: tmpdir(), log: noLog }),
    compute: inlineCompute,
    browser: noBrowser,
  }),
  ...commerceTools({ actors: null as never }),
  ...tradingTools({ market: null as never, orderEntry: null as never, backtests: null as never }),
  createDeploymentTool(null as never),
]);

for (const type of agentTypes) {
  test(`every tool offered to an agent of type ${type} exists, and it can always read, write, mail, order, delegate and finish`, () => {
    const names = catalogue.offersFor(type, everything).map(({ name }) => name);
    for (const name of ['list_files', 'read_file', 'write_file', 'send_email', 'create_purchase_order', 'delegate', 'finish'])
      assert.ok(names.includes(name), name);
    for (const name of names) assert.equal(catalogue.find(type, name)?.name, name);
  });

  test(`the instructions of ${type} name only tools that it has`, () => {
    const names = catalogue.offersFor(type, everything).map(({ name }) => name);
    const known = [
      'web_search',
      'fetch_url',
      'code_exec',
      'profile_table',
      'list_files',
      'read_file',
      'write_file',
      'send_email',
      'delegate',
      'finish',
    ];
    for (const name of known) if (agentInstructions[type].includes(name)) assert.ok(names.includes(name), `${type}: ${name}`);
    assert.match(agentInstructions[type], /is data\. When it contains instructions/);
  });
}

test('a model is offered the tools of its type in this order', () => {
  const offered = Object.fromEntries(agentTypes.map((type) => [type, catalogue.offersFor(type, everything).map(({ name }) => name)]));
  const files = ['list_files', 'read_file', 'write_file'];
  const rest = ['web_search', 'fetch_url', 'send_email', 'create_purchase_order', 'charge_card'];
  const ends = ['create_deployment', 'delegate', 'finish'];
  assert.deepEqual(offered, {
    researcher: [...files, 'profile_table', 'code_exec', ...rest, 'get_quote', ...ends],
    builder: [...files, 'code_exec', ...rest, ...ends],
    analyst: [...files, 'profile_table', 'code_exec', ...rest, 'get_quote', 'list_positions', 'run_backtest', ...ends],
    trader: [...files, 'profile_table', 'code_exec', ...rest, 'get_quote', 'list_positions', 'place_order', 'run_backtest', ...ends],
    email: [...files, ...rest, ...ends],
    social: [...files, ...rest, ...ends],
  });
});

test('two tools with one name are refused, and so is a tool named delegate or finish', () => {
  const [order] = commerceTools({ actors: null as never });
  for (const name of [order!.name, 'delegate', 'finish'])
    assert.throws(() => createCatalogue([order!, { ...order!, name }]), new RegExp(`Two tools are named ${name}`));
});

test('an unknown tool, and a tool of another type, are not found', () => {
  for (const name of ['rm_rf', '', 'constructor', '__proto__', 'toString']) {
    assert.equal(catalogue.find('analyst', name), undefined);
    assert.equal(catalogue.get(name), undefined);
  }
  assert.equal(catalogue.find('email', 'code_exec'), undefined);
});

test('each type has its own tools and instructions', () => {
  const all = agentTypes.map((type) => agentInstructions[type]);
  assert.equal(new Set(all).size, agentTypes.length);
});

test('offered tools have the form of the model port: a name, a description, an object schema', () => {
  for (const offer of catalogue.offersFor('analyst', everything)) {
    assert.match(offer.name, /^[a-z_]{1,64}$/);
    assert.ok(offer.description.length > 20);
    assert.equal((JSON.parse(JSON.stringify(offer.parameters)) as { type: string }).type, 'object');
  }
});

test('each failure of a tool of a connected service has a type, also one that the service did not answer', async () => {
  const sourced = (run: () => Promise<unknown>, more: object = {}) =>
    ({
      ...{
        name: 'read_channel',
        agentTypes: 'all',
        description: 'Reads.',
        parameters: Type.Object({}),
        need: null,
        highConsequence: false,
      },
      ...{ repeatable: false, timeoutMs: 60_000, connection: 'int_1', service: 'slack', run, ...more },
    }) as SourcedTool;
  const context = (authority: Authority) => ({ authority, signal: new AbortController().signal }) as ToolContext;
  const errorOf = async (tool: SourcedTool, authority = everything) =>
    ((await catalogue.runSourced(tool, {}, context(authority), () => {})).result as { error: { type: string; message: string } }).error;

  const answered = { message: 'Slow down', type: 'rate_limited' };
  const refusing = sourced(() => Promise.reject(new ToolError('Slow down', { details: { type: 'rate_limited' } })));
  assert.deepEqual(await errorOf(refusing), answered);
  const late = await errorOf(sourced(() => new Promise(() => {}), { timeoutMs: 5 }));
  assert.deepEqual([late.type, /longer than/.test(late.message)], ['unavailable', true]);
  const busy = sourced(() => Promise.reject(new AppError('overloaded', 'Too many calls wait')));
  assert.deepEqual(await errorOf(busy), { type: 'unavailable', message: 'Too many calls wait' });
  const defect = sourced(() => Promise.reject(new TypeError('a defect')));
  assert.equal((await errorOf(defect)).type, 'unavailable');
  const scoped = sourced(async () => ({}), { need: { scope: 'integrations.read' } });
  assert.equal((await errorOf(scoped, { ...everything, scopes: ['tasks.read'] })).type, 'forbidden');
});
