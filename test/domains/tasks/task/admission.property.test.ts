/** Tasks and agents under random orders of messages, outcomes and decisions of users. The checked guarantees are in `agent-world.ts`. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { AgentContract, AgentReply } from '../../../../src/domains/tasks/agent/messages.ts';
import type { TaskConfig } from '../../../../src/domains/tasks/task/entity.ts';
import { ended, isSourcedCall, isToolCall, toolOutcome, World } from '../../../support/agent-world.ts';
import { somebody } from '../../../support/memory-workspace.ts';
import type { Call } from '../../../support/turn-context.ts';

const tokensPerTurn = 700;
const plainly = { reason: null, editedArguments: null, by: somebody };
const numRuns = Number(process.env.RUNS ?? 400);

test('for any order of messages, replies, outcomes and decisions, agents and their task keep all guarantees and end', () => {
  fc.assert(
    fc.property(
      fc.record(
        {
          max_agents: fc.integer({ min: 1, max: 4 }),
          autonomy_level: fc.constantFrom(0, 100),
          max_credits: fc.constantFrom(1, 3, 8),
          output_schema: fc.constant({ type: 'object' }),
          allow_connect: fc.constant(true),
        },
        { requiredKeys: ['max_agents', 'autonomy_level'] },
      ),
      fc.constantFrom(1, 2, -1),
      fc.array(fc.tuple(fc.nat(99), fc.nat(99)), { maxLength: 400, size: 'max' }),
      (config, concurrentAgents, choices) => {
        const world = new World(config as Partial<TaskConfig>, { concurrentAgents });
        world.largestTurnTokens = tokensPerTurn;
        for (const [what, which] of choices) {
          step(world, what, which);
          world.assertShownTruly();
          world.assertPlacesTrue();
        }
        world.setLimits({ concurrentAgents });
        bringToEnd(world);
      },
    ),
    { numRuns },
  );
});

test('if messages between a task and its account overtake each other, as retried dead letters do, the task ends and no slot is lost', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(1, 2, -1),
      fc.constantFrom(1, 0, -1),
      fc.array(fc.tuple(fc.nat(99), fc.nat(99)), { maxLength: 300, size: 'max' }),
      (concurrentAgents, concurrentTasks, choices) => {
        const world = new World({ max_agents: 3, autonomy_level: 100 }, { concurrentAgents, concurrentTasks });
        world.overtakes = true;
        for (const [what, which] of choices) step(world, what, which);
        world.setLimits({ concurrentAgents });
        bringToEnd(world);
        if (ended.has(world.task.status)) world.assertNothingLeft();
      },
    ),
    { numRuns },
  );
});

const services = ['chat', 'mailbox'];

/** Mostly the work continues; sometimes a user acts. */
function step(world: World, what: number, which: number): void {
  if (what < 45 && !world.isQuiet) return world.deliver(which);
  if (what < 80 && world.effects.length > 0) return completeOne(world, which, what);
  if (what === 98)
    return world.setLimits({ concurrentAgents: world.account.overrides!.concurrentAgents!, tasksLimit: which < 50 ? 0 : -1 });
  if (what === 96) return which % 3 === 0 ? world.lose(services[which % 2]!) : world.connect(services[which % 2]!);
  const agents = world.task.agents;
  const target = agents[which % Math.max(1, agents.length)];
  const row = target === undefined ? undefined : world.agent(target.id);
  if (row === undefined || (what < 80 && which % 4 > 0)) return;
  const act = (...call: Call<AgentContract>) => {
    const [command] = call;
    const reply = world.act('agent', row.id, ...call);
    if (row.phase === 'ended' && command !== 'taskEnded')
      assert.equal(reply, command === 'approve' && reply === 'not_found' ? 'not_found' : 'conflict');
    return reply;
  };
  if (what < 82) return void act('pause', {});
  if (what < 89) return void act('resume', {});
  if (what < 92)
    return void act('guide', {
      message: `said ${world.events.length}`,
      by: { ...somebody, scopes: which % 3 === 0 ? ['agents.write'] : null },
    });
  if (what < 97) {
    const approval = row.approvals.at(-1);
    const reply = act('approve', { approvalId: approval?.id ?? 'appr_none', approved: which % 2 === 0, ...plainly });
    if (approval === undefined) assert.equal(reply, 'not_found');
    else if (approval.status !== 'pending') assert.equal(reply, 'conflict');
    return;
  }
  if (what === 97 && which < 30) return void act('cancel', {});
  if (what === 99 && which < 10) {
    const wasOver = ended.has(world.task.status);
    const reply = world.act('task', world.taskId, 'cancel', {});
    assert.equal(wasOver, reply === 'conflict');
  }
  const { max_credits: maxCredits } = world.task.config;
  if (what === 99 && which >= 10 && maxCredits !== undefined) changeBudget(world, maxCredits + (which % 2 === 0 ? 1 : -0.5));
}

function changeBudget(world: World, maxCredits: number | null): void {
  const wasOver = ended.has(world.task.status);
  const reply = world.act('task', world.taskId, 'changeBudget', { maxCredits });
  assert.equal(wasOver, reply === 'conflict');
}

function completeOne(world: World, which: number, how: number): void {
  const effect = world.effects[which % world.effects.length]!;
  if (how === 46) return world.complete(effect, { kind: 'failed', message: 'It broke' });
  if (how === 47) return world.complete(effect, { kind: 'unknown' });
  if (effect.name === 'plan') return world.complete(effect, { kind: 'done', value: planOf(world, which) });
  if (isSourcedCall(effect)) return world.complete(effect, { kind: 'done', value: world.sourcedOutcome(effect, how) });
  if (isToolCall(effect)) return world.complete(effect, { kind: 'done', value: toolOutcome(effect, how) });
  if (effect.name === 'checkOutput')
    return world.complete(effect, { kind: 'done', value: { problem: how % 3 === 0 ? 'It is wrong.' : null } });
  world.complete(effect, { kind: 'done', value: reply(which, world) });
}

function planOf(world: World, which: number) {
  if (which % 17 === 0) return { result: { problem: 'No plan.' }, tokens: tokensPerTurn, costMillicents: 1 };
  const count = 1 + (which % world.task.config.max_agents);
  const agents = Array.from({ length: count }, (_, index) => ({
    type: 'analyst',
    title: `agent ${index}`,
    prompt: 'work',
    after: index > 0 && which % 2 === 0 ? [index - 1] : [],
  }));
  return { result: { plan: { agents } }, tokens: which % 3 === 0 ? tokensPerTurn : 0, costMillicents: 1 };
}

const call = (name: string, args: unknown = {}) => ({ id: 'same', name, arguments: args });
const answers: ((world: World) => Pick<AgentReply, 'text' | 'toolCalls'>)[] = [
  () => ({ text: 'These are closing words.', toolCalls: [] }),
  () => ({ text: ' ', toolCalls: [] }),
  () => ({ text: '', toolCalls: [call('finish', { summary: 'done' })] }),
  () => ({ text: '', toolCalls: [call('finish', { summary: 'done' }), call('read_file', { n: 1 }), call('finish', { summary: 'again' })] }),
  () => ({ text: '', toolCalls: [call('read_file', { n: Math.random() })] }),
  () => ({ text: 'so', toolCalls: [call('read_file', { n: 2 }), call('send_email', { n: 3 })] }),
  () => ({ text: '', toolCalls: [call('no_such_tool'), call('read_file', { n: Math.random() })] }),
  () => ({ text: '', toolCalls: [call('read_file', '{not json')] }),
  () => ({ text: '', toolCalls: [call('order', { n: Math.random() })] }),
  () => ({ text: '', toolCalls: [call('trade', { n: Math.random() }), call('trade', { n: 7 })] }),
  () => ({ text: '', toolCalls: [call('send_email', { n: Math.random() }), call('send_email', { n: 5 })] }),
  () => ({ text: '', toolCalls: [call('delegate', { type: 'analyst', prompt: 'part' }), call('read_file', { n: Math.random() })] }),
  (world) => ({ text: '', toolCalls: [world.sourcedCall('read_channel', { n: Math.random() })] }),
  (world) => ({ text: '', toolCalls: [world.sourcedCall('post_message', { n: Math.random() }), call('order', { n: Math.random() })] }),
  (world) => ({ text: '', toolCalls: [world.sourcedCall('read_channel', {}), world.sourcedCall('send_email', { n: Math.random() })] }),
  () => ({ text: '', toolCalls: [{ ...call('post_message', { n: Math.random() }), isGone: true }] }),
  () => ({ text: '', toolCalls: Array.from({ length: 30 }, (_, n) => call('read_file', { n })) }),
];

function reply(which: number, world: World): AgentReply {
  const said = answers[which % answers.length]!(world);
  const trusts = which % 5 === 0 ? { trustsContent: true } : null;
  return { ...said, ...trusts, inputTokens: 600, outputTokens: 100, costMillicents: 3, model: 'm' };
}

/** From any state: users approve and resume, the model calls `finish`, the budget is raised, and then the task must end. */
function bringToEnd(world: World): void {
  for (let steps = 0; steps < 3_000; steps++) {
    world.assertShownTruly();
    world.assertPlacesTrue();
    // The newest first, where they may overtake.
    if (!world.isQuiet) world.deliver(world.overtakes ? -1 : 0);
    else if (world.effects.length > 0) {
      const effect = world.effects[0]!;
      const value =
        effect.name === 'plan'
          ? planOf(world, 1)
          : effect.name === 'checkOutput'
            ? { problem: null }
            : isToolCall(effect)
              ? isSourcedCall(effect)
                ? world.sourcedOutcome(effect, 1)
                : toolOutcome(effect, 1)
              : reply(2, world);
      world.complete(effect, { kind: 'done', value });
    } else if (ended.has(world.task.status)) break;
    else {
      const paused = world.agents.find((one) => one.status === 'paused');
      const waiting = world.agents.find((one) => one.status === 'waiting');
      if (paused !== undefined) world.act('agent', paused.id, 'resume', {});
      else if (waiting?.waitingService != null) world.connect(waiting.waitingService);
      else if (waiting !== undefined)
        world.act('agent', waiting.id, 'approve', { approvalId: waiting.approvals.at(-1)!.id, approved: true, ...plainly });
      else {
        const { task } = world;
        assert.equal(task.pauseReason, 'budget', `stuck: ${JSON.stringify({ task, agents: world.agents })}`);
        assert.ok(task.tokensUsed >= task.config.max_credits! * 1_000);
        changeBudget(world, steps % 2 === 0 ? task.config.max_credits! + 1 : null);
      }
    }
  }
  const { task } = world;
  assert.ok(ended.has(task.status), `stuck: ${JSON.stringify({ task, agents: world.agents })}`);
  if (task.status === 'failed') assert.ok(task.error !== null && task.error.length > 0, 'a failed task says why');
  for (const agent of world.agents) assert.equal(agent.phase, 'ended', 'no agent outlives its task');
  assert.equal(world.effects.length, 0, 'nothing runs on');
}
