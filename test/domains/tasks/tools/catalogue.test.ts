import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { commerceTools } from '../../../../src/domains/commerce/tools/commerce-tools.ts';
import { createDeploymentTool } from '../../../../src/domains/deployments/tools/create-deployment.ts';
import { agentInstructions } from '../../../../src/domains/tasks/tools/agent-types.ts';
import { createCatalogue } from '../../../../src/domains/tasks/tools/catalogue.ts';
import { agentTypes } from '../../../../src/domains/tasks/tools/port.ts';
import { taskTools } from '../../../../src/domains/tasks/tools/task-tools.ts';
import { tradingTools } from '../../../../src/domains/trading/tools/trading-tools.ts';
import { noBrowser } from '../../../../src/providers/browser/no-browser.ts';
import { inlineCompute } from '../../../../src/providers/compute/inline.ts';
import { createOutbound } from '../../../../src/providers/outbound/outbound.ts';
import { createSandboxPool } from '../../../../src/providers/sandbox/pool.ts';
import { everything } from '../../../support/memory-workspace.ts';

const catalogue = createCatalogue([
  ...taskTools({
    outbound: createOutbound({ allow: [] }),
    searchUrl: null,
    sandbox: createSandboxPool({ directory: tmpdir() }),
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
