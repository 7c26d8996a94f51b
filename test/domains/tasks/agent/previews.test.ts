/** Calls of a tool with a preview: a person decides about the preview's text, and decides again when it is no longer valid. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { World } from '../../../support/agent-world.ts';
import type { Json } from '../../../support/json.ts';
import { somebody } from '../../../support/memory-workspace.ts';

const reply = (toolCalls: object[]) => ({ text: '', toolCalls, inputTokens: 1, outputTokens: 1, costMillicents: 0, model: 'm' });
const trade = { id: 'c', name: 'trade', arguments: { symbol: 'AAPL' } };

/** A world whose only agent has called the tool; it runs until an effect with this name, or nothing, is left. */
function trading(autonomyLevel: number) {
  const world = new World({ autonomy_level: autonomyLevel });
  const goOn = () => {
    while (!world.isQuiet) world.deliver(0);
    return world.effects[0];
  };
  const done = (name: string, value: Json) => {
    const effect = goOn()!;
    assert.equal(effect.name, name);
    world.complete(effect, { kind: 'done', value });
    return goOn();
  };
  done('plan', { result: { plan: { agents: [{ type: 'trader', title: 't', prompt: 'p', after: [] }] } }, tokens: 0, costMillicents: 0 });
  done('model', reply([trade]));
  const approve = (approved: boolean) => {
    const [agent] = world.agents;
    const approvalId = agent!.approvals.at(-1)!.id;
    world.act('agent', agent!.id, 'approve', { approvalId, approved, reason: null, editedArguments: null, by: somebody });
    return goOn();
  };
  return { world, goOn, done, approve, agent: () => world.agents[0]! };
}

test('the approval has the text of the preview, and the call runs with its basis', () => {
  const { done, approve, agent, world } = trading(99);
  assert.equal(done('preview', { result: { text: 'rests on 100', basis: 100 }, isError: false }), undefined);
  assert.deepEqual([agent().status, agent().approvals[0]!.summary], ['waiting', 'rests on 100']);
  assert.equal(world.events.find(({ type }) => type === 'approval.required')!.data.summary, 'rests on 100');
  assert.deepEqual(approve(true)!.input.approvedBasis, 100);
});

test('if an approved preview is no longer valid, nothing is recorded, and a person decides again about the new text', () => {
  const { done, approve, agent, world } = trading(99);
  done('preview', { result: { text: 'rests on 100', basis: 100 }, isError: false });
  const first = approve(true)!;
  assert.equal(first.name, 'purchase');
  const before = world.history.get(agent().id)!.length;
  assert.equal(done('purchase', { result: {}, isError: true, askAgain: { text: 'rests on 120', basis: 120 } }), undefined);
  assert.equal(world.history.get(agent().id)!.length, before);
  assert.deepEqual(
    agent().approvals.map(({ status, summary }) => [status, summary]),
    [
      ['approved', 'rests on 100'],
      ['pending', 'rests on 120'],
    ],
  );
  const second = approve(true)!;
  assert.equal(second.input.approvedBasis, 120);
  assert.notEqual(second.id, first.id, 'it is another call');
  done('purchase', { result: { placed: true }, isError: false });
  assert.ok(world.history.get(agent().id)!.some((entry) => entry.role === 'tool' && !entry.isError));
});

test('a call that its preview refuses needs no approval, and the agent gets the reason', () => {
  const { done, agent, world } = trading(0);
  done('preview', { result: { error: 'There is no symbol' }, isError: true });
  assert.deepEqual([agent().approvals, agent().calls], [[], []]);
  const toolEntry = world.history.get(agent().id)!.at(-1)!;
  assert.ok(toolEntry.role === 'tool' && toolEntry.isError);
});

test('with full autonomy there is no preview, and a rejected call is not made', () => {
  const free = trading(100);
  assert.deepEqual([free.goOn()!.name, free.goOn()!.input.approvedBasis], ['purchase', undefined]);
  const { done, approve, agent } = trading(99);
  done('preview', { result: { text: 'rests on 100', basis: 100 }, isError: false });
  assert.equal(approve(false)!.name, 'model');
  assert.deepEqual(agent().calls, []);
});
