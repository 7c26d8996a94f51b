/**
 * Every tool and every approval, with every scope, in live and test mode: an agent, and a person who decides about its call, need the
 * scopes of the same operation over REST. The table of operations is that of the contract (`test/contract/scopes.ts`), so both have the
 * same rules.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type Authority, missingScope, unrecordedScopes } from '../../../../src/authority.ts';
import { commerceTools } from '../../../../src/domains/commerce/tools/commerce-tools.ts';
import { createDeploymentTool } from '../../../../src/domains/deployments/tools/create-deployment.ts';
import { agentActor } from '../../../../src/domains/tasks/agent/agent.ts';
import type { AgentRow } from '../../../../src/domains/tasks/agent/entity.ts';
import type { AgentContract, DirectedBy } from '../../../../src/domains/tasks/agent/messages.ts';
import { createCatalogue } from '../../../../src/domains/tasks/tools/catalogue.ts';
import { type AgentType, agentTypes } from '../../../../src/domains/tasks/tools/port.ts';
import { taskTools } from '../../../../src/domains/tasks/tools/task-tools.ts';
import { tradingTools } from '../../../../src/domains/trading/tools/trading-tools.ts';
import { AppError } from '../../../../src/errors.ts';
import { noBrowser } from '../../../../src/providers/browser/no-browser.ts';
import { inlineCompute } from '../../../../src/providers/compute/inline.ts';
import type { ToolCall } from '../../../../src/providers/model/port.ts';
import { type Granted, scopes } from '../../../../src/scopes.ts';
import { scopeByContract } from '../../../contract/scopes.ts';
import type { Json } from '../../../support/json.ts';
import { memoryWorkspace, toolContext } from '../../../support/memory-workspace.ts';
import { type Call, play, RecordedTurn } from '../../../support/turn-context.ts';

/** The same act over REST, and arguments that fit. null: no operation does it. `own`: not needed in the task's own workspace. */
const acts: Record<string, { operation: string | null; own?: true; args: object }> = {
  list_files: { operation: 'GET /workspaces/{id}/files', own: true, args: {} },
  read_file: { operation: 'GET /workspaces/{id}/files/{file}', own: true, args: { path: 'a.txt' } },
  profile_table: { operation: 'GET /workspaces/{id}/files/{file}', own: true, args: { path: 'a.csv' } },
  write_file: { operation: 'POST /workspaces/{id}/files', own: true, args: { path: 'a.txt', content: 'a' } },
  create_purchase_order: { operation: 'POST /commerce/orders', args: { description: 'a', amount: 1, vendor: 'b' } },
  charge_card: { operation: 'POST /commerce/cards/{id}/authorizations', args: { card_id: 'crd_1', amount: 1, merchant: 'b' } },
  get_quote: { operation: 'GET /trading/quotes/{symbol}', args: { symbol: 'AAPL' } },
  list_positions: { operation: 'GET /trading/positions', args: {} },
  place_order: { operation: 'POST /trading/orders', args: { symbol: 'AAPL', side: 'buy', quantity: 1, order_type: 'market' } },
  run_backtest: {
    operation: 'POST /trading/backtest',
    args: { symbol: 'AAPL', strategy: 'momentum', start_date: '2025-01-01', end_date: '2025-12-31' },
  },
  create_deployment: { operation: 'POST /deployments', args: { target: 'vercel' } },
  code_exec: { operation: null, args: { code: '1' } },
  web_search: { operation: null, args: { query: 'a' } },
  screenshot: { operation: 'POST /workspaces/{id}/files', own: true, args: { url: 'https://example.com' } },
  fetch_url: { operation: null, args: { url: 'https://example.com' } },
  send_email: { operation: null, args: { to: 'a@example.com', subject: 'a', body: 'b' } },
};

const none = null as never;
const spent = () => assert.fail('nothing is spent');
const catalogue = createCatalogue([
  ...taskTools({ outbound: none, searchUrl: null, sandbox: none, compute: inlineCompute, browser: { ...noBrowser, isConfigured: true } }),
  ...commerceTools({ actors: { ask: spent, query: spent } as never }),
  ...tradingTools({ market: none, orderEntry: none, backtests: none }),
  createDeploymentTool(none),
]);
const actor = agentActor(catalogue, {} as never);
function turn(state: AgentRow | null, ...[command, input, ctx = new RecordedTurn('agnt_1')]: [...Call<AgentContract>, ctx?: RecordedTurn]) {
  const done: { state: AgentRow; reply: Json } = play(actor, command, state, input, ctx);
  return { ...done, ctx };
}
const tools = agentTypes.flatMap((type) => catalogue.toolsFor(type).map((tool) => ({ type, tool })));

const granted: Granted[] = [
  null,
  [],
  unrecordedScopes,
  ...scopes.map((scope) => [scope]),
  ...scopes.map((scope) => scopes.filter((one) => one !== scope)),
];
const authorities = granted.flatMap((held) =>
  (['live', 'test'] as const).flatMap((mode) => [true, false].map((ownsWorkspace): Authority => ({ mode, scopes: held, ownsWorkspace }))),
);

function neededFor(name: string, ownsWorkspace: boolean): string | null {
  const { operation, own } = acts[name]!;
  if (operation === null || (own && ownsWorkspace)) return null;
  const [method, path] = operation.split(' ') as [string, string];
  return scopeByContract({ name: operation, method, path })!;
}

const allows = (held: Granted, scope: string | null) => scope === null || held === null || held.includes(scope);

/** An agent that waits for what its model answers. */
function thinking(type: AgentType, authority: Authority, autonomyLevel: number): AgentRow {
  const input = {
    taskId: 'task_1',
    accountId: 'acct_1',
    workspaceId: 'ws_1',
    type,
    title: 't',
    prompt: 'p',
    model: null,
    outputSchema: null,
  };
  let { state } = turn(null, 'create', { ...input, autonomyLevel, ...authority });
  ({ state } = turn(state, 'begin', { context: '' }));
  return turn(state, 'turnGranted', {}).state;
}

function answered(agent: AgentRow, toolCalls: ToolCall[]) {
  const reply = { text: '', toolCalls, inputTokens: 0, outputTokens: 0, costMillicents: 0, model: 'm' };
  return turn(agent, 'modelled', { effectId: agent.effectId!, outcome: { kind: 'done', value: reply }, tookMs: 0 });
}

test('the table has every tool of agents, each with an operation of the contract', () => {
  assert.deepEqual([...new Set(tools.map(({ tool }) => tool.name))].sort(), Object.keys(acts).sort());
  for (const name of Object.keys(acts)) assert.notEqual(neededFor(name, false), undefined, name);
});

test('a model is offered the permitted tools of its task, and gets a list of the others with reasons', () => {
  for (const authority of authorities) {
    for (const type of agentTypes) {
      const names = catalogue.toolsFor(type).map(({ name }) => name);
      const may = names.filter((name) => allows(authority.scopes, neededFor(name, authority.ownsWorkspace)));
      const offered = catalogue.offersFor(type, authority).map(({ name }) => name);
      assert.deepEqual(offered, [...may, 'delegate', 'finish'], JSON.stringify(authority));
      const withheld = names
        .filter((name) => !may.includes(name))
        .map((name) => ({ name, scope: neededFor(name, authority.ownsWorkspace) }));
      assert.deepEqual(catalogue.withheldFrom(type, authority), withheld);
    }
  }
});

test('a call of a tool that the task may not use is refused with its scope, and starts nothing; every other call is made', () => {
  for (const authority of authorities) {
    for (const { type, tool } of tools.filter(({ type: one }) => one === 'analyst')) {
      const { state, ctx } = answered(thinking(type, authority, 100), [{ id: 'c', name: tool.name, arguments: acts[tool.name]!.args }]);
      const needed = neededFor(tool.name, authority.ownsWorkspace);
      const about = `${tool.name} ${JSON.stringify(authority)}`;
      if (allows(authority.scopes, needed)) {
        assert.deepEqual(
          ctx.effects.map(({ name }) => name),
          [['commerce.write', 'trading.write'].includes(needed!) ? 'purchase' : 'tool'],
          about,
        );
        continue;
      }
      assert.deepEqual(ctx.effects, [], about);
      assert.equal(state.phase, 'asking', 'it thinks again');
      const toolEntry = ctx.rows.find(({ entry }) => entry.role === 'tool').entry;
      assert.ok(toolEntry.isError && toolEntry.result.error.includes(`needs the scope ${needed}`), about);
    }
  }
});

test('a call that reaches a forbidden tool is refused there too', async () => {
  for (const authority of authorities) {
    for (const { tool } of tools.filter(({ type }) => type === 'analyst')) {
      const scope = missingScope(authority, tool.need);
      if (scope === null) continue;
      const context = { ...toolContext(memoryWorkspace()), authority };
      const { result, isError } = await catalogue.run(tool.name, acts[tool.name]!.args, context, (error) => assert.fail(String(error)));
      assert.ok(isError && JSON.stringify(result).includes(scope));
    }
  }
});

test('a decision about a call needs the scope of the call, and a test key can decide only about test tasks', () => {
  const deciders = granted.flatMap((held) =>
    (['live', 'test'] as const).map((mode): DirectedBy => ({ id: 'key-1', via: 'api_key', mode, scopes: held })),
  );
  for (const { type, tool } of tools.filter(({ type: one, tool: { highConsequence } }) => one === 'email' && highConsequence)) {
    for (const mode of ['live', 'test'] as const) {
      const authority: Authority = { mode, scopes: null, ownsWorkspace: false };
      let { state } = answered(thinking(type, authority, 99), [{ id: 'c', name: tool.name, arguments: acts[tool.name]!.args }]);
      if (tool.preview !== undefined) {
        const value = { result: { text: 'p', basis: null }, isError: false };
        ({ state } = turn(state, 'previewed', { effectId: state.effectId!, outcome: { kind: 'done', value }, tookMs: 0 }));
      }
      assert.equal(state.status, 'waiting');
      const [approval] = state.approvals;
      for (const by of deciders) {
        for (const approved of [true, false]) {
          const input = { approvalId: approval!.id, approved, reason: null, editedArguments: null, by };
          const may = allows(by.scopes, neededFor(tool.name, false)) && !(by.mode === 'test' && mode === 'live');
          const about = `${tool.name} ${mode} ${JSON.stringify(by)}`;
          const ctx = new RecordedTurn('agnt_1');
          if (!may) {
            assert.throws(
              () => turn(state, 'approve', input, ctx),
              (error) => error instanceof AppError && error.code === 'forbidden',
              about,
            );
            assert.deepEqual([ctx.events, ctx.messages, ctx.effects], [[], [], []]);
            continue;
          }
          const decided = turn(state, 'approve', input, ctx).state.approvals[0]!;
          assert.deepEqual(
            [decided.status, decided.decidedBy, decided.decidedVia],
            [approved ? 'approved' : 'rejected', 'key-1', 'api_key'],
            about,
          );
        }
      }
    }
  }
});

test('from the turn that reads guidance by a key, an agent has only the rights of both; earlier calls keep their rights', () => {
  const authority: Authority = { mode: 'live', scopes: null, ownsWorkspace: false };
  const by: DirectedBy = { id: 'key-1', via: 'api_key', mode: 'live', scopes: ['agents.write', 'workspaces.read'] };
  const order: ToolCall = { id: 'c', name: 'create_purchase_order', arguments: acts.create_purchase_order!.args };
  const waiting = answered(thinking('email', authority, 99), [order]).state;
  const guided = turn(waiting, 'guide', { message: 'order more', by });
  assert.match(
    guided.reply.message,
    /loses write_file \(workspaces\.write\), screenshot \(workspaces\.write\), create_purchase_order \(commerce\.write\), charge_card/,
  );
  const approve = { approvalId: guided.state.approvals[0]!.id, approved: true, reason: null, editedArguments: null };
  const person: DirectedBy = { id: 'usr_1', via: 'session', mode: 'live', scopes: null };
  const approved = turn(guided.state, 'approve', { ...approve, by: person });
  assert.equal(approved.state.scopes, null, 'what waits was asked for before');
  const queued = turn(approved.state, 'turnGranted', {}).state;
  const outcome = { kind: 'done' as const, value: { result: {}, isError: false } };
  const afterTool = turn(queued, 'toolDone', { effectId: queued.effectId!, outcome, tookMs: 0 }).state;
  assert.deepEqual([afterTool.scopes, afterTool.guideScopes, afterTool.guidance], [['agents.write', 'workspaces.read'], null, []]);
  const again = answered(turn(afterTool, 'turnGranted', {}).state, [order]);
  assert.ok(again.ctx.rows.some(({ entry }) => entry.role === 'tool' && entry.isError && /commerce\.write/.test(entry.result.error)));
  const passed = answered(turn(again.state, 'turnGranted', {}).state, [
    { id: 'd', name: 'delegate', arguments: { type: 'email', prompt: 'order it for me' } },
  ]);
  const asked = passed.ctx.messages.find(({ command }) => command === 'delegate');
  assert.deepEqual(asked!.input.scopes, ['agents.write', 'workspaces.read'], 'whom it asks may do no more');
});

test('a test key cannot guide live agents; a session can guide all agents and removes no rights', () => {
  const live = thinking('email', { mode: 'live', scopes: null, ownsWorkspace: true }, 99);
  const by: DirectedBy = { id: 'key-1', via: 'api_key', mode: 'test', scopes: [...scopes] };
  assert.throws(() => turn(live, 'guide', { message: 'm', by }), { code: 'forbidden' });
  const person: DirectedBy = { id: 'usr_1', via: 'session', mode: 'live', scopes: null };
  const { state, reply } = turn({ ...live, mode: 'test' }, 'guide', { message: 'm', by: person });
  assert.equal(state.guideScopes, null);
  assert.match(reply.message, /in its next step\.$/);
});
