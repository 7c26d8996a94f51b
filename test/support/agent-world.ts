/**
 * A task, its agents and their account without time: messages and outcomes wait until the caller picks one, messages of one sender stay
 * in order, and after every turn the invariants are checked. The caller supplies model answers, decisions of users and settings of
 * operators.
 */
import assert from 'node:assert/strict';
import type { EffectOutcome } from '../../src/actors/define-actor.ts';
import { missingScope } from '../../src/authority.ts';
import { accountActor } from '../../src/domains/accounts/account/account.ts';
import type { AccountRow } from '../../src/domains/accounts/account/entity.ts';
import type { AccountContract } from '../../src/domains/accounts/account/messages.ts';
import { agentActor } from '../../src/domains/tasks/agent/agent.ts';
import type { AgentRow } from '../../src/domains/tasks/agent/entity.ts';
import type { AgentContract } from '../../src/domains/tasks/agent/messages.ts';
import type { TaskConfig, TaskRow } from '../../src/domains/tasks/task/entity.ts';
import type { TaskContract } from '../../src/domains/tasks/task/messages.ts';
import { taskActor } from '../../src/domains/tasks/task/task.ts';
import type { Toolbox, ToolOutcome } from '../../src/domains/tasks/tools/port.ts';
import { AppError } from '../../src/errors.ts';
import type { ModelMessage, ModelReply } from '../../src/providers/model/port.ts';
import type { Overrides } from '../../src/storage/account-overrides.ts';
import type { Json } from './json.ts';
import { type Call, play, type RecordedEffect, type RecordedEvent, type RecordedMessage, RecordedTurn } from './turn-context.ts';

const tools = [
  { name: 'read_file', need: null, highConsequence: false },
  { name: 'send_email', need: null, highConsequence: true },
  { name: 'order', need: { scope: 'commerce.write' }, highConsequence: true },
  { name: 'trade', need: { scope: 'trading.write' }, highConsequence: true, preview: () => Promise.reject(new Error('nothing runs here')) },
  { name: 'delegate', need: null, highConsequence: false },
  { name: 'finish', need: null, highConsequence: false },
] as const;

export const toolbox: Toolbox = {
  instructionsFor: () => '',
  offersFor: (_type, authority) =>
    tools.filter(({ need }) => missingScope(authority, need) === null).map(({ name }) => ({ name, description: name, parameters: {} })),
  withheldFrom: (_type, authority) =>
    tools.flatMap(({ name, need }) => {
      const scope = missingScope(authority, need);
      return scope === null ? [] : [{ name, scope }];
    }),
  find: (_type, name) => tools.find((tool) => tool.name === name),
  isRepeatable: (name) => name !== 'send_email',
  check: (_name, sent) =>
    typeof sent === 'object' && sent !== null
      ? { ok: true, args: sent as Record<string, unknown> }
      : { ok: false, message: 'not an object' },
  run: () => Promise.reject(new Error('no tool runs here')),
  preview: () => Promise.reject(new Error('no tool runs here')),
  runSourced: () => Promise.reject(new Error('no tool runs here')),
  previewSourced: () => Promise.reject(new Error('no tool runs here')),
};

/** Tools that come from a source, by name. */
const sourcedTools = {
  read_channel: { service: 'chat', highConsequence: false, previews: false, untrusted: true, repeatable: true },
  post_message: { service: 'chat', highConsequence: true, previews: true, untrusted: false, repeatable: false },
  send_email: { service: 'mailbox', highConsequence: true, previews: false, untrusted: false, repeatable: true },
};

const actors = {
  account: accountActor({ startedTasks: null as never }),
  task: taskActor({ plan: null as never }),
  agent: agentActor(toolbox, { model: null, tool: null, checkOutput: null } as never),
};

export type Limits = { concurrentAgents?: number; concurrentTasks?: number; tasksLimit?: number };
type Contracts = { account: AccountContract; task: TaskContract; agent: AgentContract };
type Kind = keyof Contracts;
type Act = { [K in Kind]: [kind: K, id: string, ...Call<Contracts[K]>] }[Kind];
type Effect = RecordedEffect & { kind: Kind; actorId: string };
type Message = RecordedMessage & { from: string };
/** The actors' rows, of which each has some of the fields. */
type AnyRow = AccountRow | TaskRow | AgentRow;

export class World {
  readonly accountId = 'acct_1';
  readonly taskId = 'task_1';
  readonly rows = new Map<string, AnyRow>();
  readonly events: RecordedEvent[] = [];
  readonly history = new Map<string, ModelMessage[]>();
  readonly effects: Effect[] = [];
  private readonly messages: Message[] = [];
  private readonly said = new Map<string, string[]>();
  private readonly decided = new Map<string, string>();
  private nowMs = 0;
  lastTurnTokens = 0;
  /** Connections of the account, by service; a new one after each loss. */
  private readonly connections = new Map<string, string>();
  private readonly lost = new Set<string>();
  /** Effects that read the connections before the last one was made. */
  private readonly lookedBefore = new Set<string>();
  /** Messages between task and account overtake one another. */
  overtakes = false;
  wasStarted = false;

  /** @param limits what an operator has set for the account */
  constructor(config: Partial<TaskConfig> = {}, limits: Limits = {}) {
    this.setLimits(limits);
    const full = { max_agents: 3, autonomy_level: 50, auto_deploy: false, deploy_target: null, ...config };
    this.act('task', this.taskId, 'create', {
      accountId: this.accountId,
      userId: 'usr_1',
      mode: 'live',
      scopes: null,
      prompt: 'do it',
      config: full,
      workspaceId: 'ws_1',
    });
  }

  get task(): TaskRow {
    return this.rows.get(this.taskId) as TaskRow;
  }
  get account(): AccountRow {
    return this.rows.get(this.accountId) as AccountRow;
  }
  get agents(): AgentRow[] {
    return this.task.agents.flatMap(({ id }) => this.agent(id) ?? []);
  }
  agent(id: string): AgentRow | undefined {
    return this.rows.get(id) as AgentRow | undefined;
  }
  get isQuiet(): boolean {
    return this.messages.length === 0;
  }

  /** What is left out is unlimited. */
  setLimits(limits: Limits): void {
    const overrides = { plan: 'business', tasksLimit: -1, concurrentTasks: -1, concurrentAgents: -1, ...limits } as Overrides;
    this.act('account', this.accountId, 'limitsChanged', { overrides, changedAtMs: this.nowMs });
  }

  /** A model's call of a sourced tool, as the effect of its turn hands it over. */
  sourcedCall(name: keyof typeof sourcedTools, args: object) {
    const source = { ...sourcedTools[name], connection: this.connections.get(sourcedTools[name].service) ?? null, need: null };
    return { id: 'same', name, arguments: args, sourced: { source, checked: { ok: true as const, args: { ...args } } } };
  }

  /** As `connectionMade` does: notifies every live agent that waits for the connection. */
  connect(service: string): void {
    this.connections.set(service, `int_${service}_${this.lost.size}`);
    for (const { id } of this.effects) this.lookedBefore.add(id);
    for (const { id, phase } of this.agents) if (phase !== 'ended') this.act('agent', id, 'connectionMade', { service });
  }

  /** As `failAgentsRelyingOn` does. */
  lose(service: string): void {
    const connection = this.connections.get(service);
    if (connection === undefined) return;
    this.connections.delete(service);
    this.lost.add(connection);
    for (const { id, phase, connections } of this.agents) {
      if (phase === 'ended' || !connections.includes(connection)) continue;
      this.act('agent', id, 'connectionLost', { connection, message: `${service} is gone` });
      assert.deepEqual([this.agent(id)!.status, this.agent(id)!.error], ['error', `${service} is gone`]);
    }
  }

  /** What the effect of a sourced call may answer now; one that began before a connection was made may not know of it. */
  sourcedOutcome({ id, name, input }: Effect, how: number): ToolOutcome {
    const tool = sourcedTools[input.name as keyof typeof sourcedTools];
    const connection = this.connections.get(tool.service) ?? null;
    const isStale = this.lookedBefore.has(id) && how % 2 === 0;
    if (input.connection === null && (connection === null || isStale))
      return { result: null, isError: true, needsConnection: { service: tool.service, tool: input.name, connectUrl: 'x' } };
    if (input.connection === null) return { result: null, isError: false, nowConnected: { ...tool, connection, need: null } };
    if (input.connection !== connection) return { result: { error: { type: 'forbidden', message: 'gone' } }, isError: true };
    if (how % 11 === 0) return { result: { error: 'lost' }, isError: true, connectionLost: 'lost' };
    return toolOutcome({ name: name === 'sourcedPreview' ? 'preview' : 'tool', input } as Effect, how);
  }

  /** A command from outside. Returns its reply, or the code of its refusal. */
  act(...[kind, id, command, input]: Act): Json {
    return this.take(kind, id, command, input);
  }

  /** A command by its name, as messages and outcomes have it. */
  private take(kind: Kind, id: string, command: string, input: Json): Json {
    const before = this.rows.get(id) ?? null;
    const ctx = new RecordedTurn(id, ++this.nowMs);
    let turn: ReturnType<typeof play>;
    try {
      turn = play(actors[kind], command, before, structuredClone(input), ctx);
    } catch (error) {
      if (error instanceof AppError) return error.code;
      throw error;
    }
    this.commit(kind, id, command, before, turn.state, ctx);
    if (command === 'guide') this.said.set(id, [...(this.said.get(id) ?? []), input.message]);
    return turn.reply;
  }

  /** Delivers a message: the oldest one of some sender to some receiver. */
  deliver(choice: number): void {
    const first = this.messages.filter(
      (one, index) =>
        (this.overtakes && (one.kind === 'account' || one.from === this.accountId)) ||
        this.messages.findIndex((other) => other.from === one.from && other.id === one.id) === index,
    );
    const message = first.at(choice % first.length)!;
    this.messages.splice(this.messages.indexOf(message), 1);
    if (!isKind(message.kind)) return;
    const refusal = this.take(message.kind, message.id, message.command, message.input);
    assert.notEqual(typeof refusal, 'string', `message ${message.command} was refused: ${refusal}`);
  }

  complete(effect: Effect, given: EffectOutcome): void {
    const started = ['planning', 'running', 'paused'].includes(this.task.status) ? [this.taskId] : [];
    const outcome = effect.name === 'startedTasks' ? { kind: 'done' as const, value: { ids: started, areAll: true } } : given;
    this.effects.splice(this.effects.indexOf(effect), 1);
    if (effect.name === 'model' && outcome.kind === 'done') {
      this.lastTurnTokens = (outcome.value as ModelReply).inputTokens + (outcome.value as ModelReply).outputTokens;
    }
    this.take(effect.kind, effect.actorId, outcomes[effect.name]!, { effectId: effect.id, outcome, tookMs: 10 });
  }

  private commit(kind: Kind, id: string, command: string, before: AnyRow | null, after: AnyRow | null, ctx: RecordedTurn): void {
    for (const effectId of ctx.cancelled) {
      const at = this.effects.findIndex((one) => one.id === effectId);
      const { effectId: own, planEffectId } = (before ?? {}) as Partial<AgentRow & TaskRow>;
      assert.ok(at >= 0 || own === effectId || planEffectId === effectId, 'only an effect of its own is cancelled');
      if (at >= 0) this.effects.splice(at, 1);
    }
    if (after !== null) this.rows.set(id, deepFreeze(after));
    for (const { name, input, id: effectId } of ctx.effects) this.effects.push({ id: effectId, kind, actorId: id, name, input });
    for (const message of ctx.messages) this.messages.push({ from: id, ...message });
    this.events.push(...ctx.events);
    if (kind === 'agent') {
      const history = this.history.get(id) ?? [];
      for (const row of ctx.rows) {
        assert.equal(row.step, history.length, 'steps are numbered without a gap');
        history.push(row.entry);
      }
      this.history.set(id, history);
      this.checkAgent(command, before as AgentRow | null, after as AgentRow, ctx);
    } else if (kind === 'task') this.checkTask(before as TaskRow | null, after as TaskRow);
    this.checkPlaces();
  }

  private checkAgent(command: string, before: AgentRow | null, after: AgentRow, ctx: RecordedTurn): void {
    const starts = ctx.effects.length > 0 || ctx.messages.some((one) => one.command === 'requestTurn' || one.command === 'delegate');
    if (before?.status === 'paused' && command !== 'resume' && command !== 'guide')
      assert.ok(!starts, `${command} started something of a paused agent`);
    if (after.status === 'paused') assert.ok(!starts, `${command} started something and left the agent paused`);
    if (after.status === 'waiting') assert.ok(!starts && after.effectId === null, 'a waiting agent waits');
    if (before?.phase === 'ended') assert.equal(after, before, 'an ended agent never changes');
    if (before !== null) assert.ok(after.progress >= before.progress, 'progress never goes back');
    assert.ok(after.progress >= 0 && after.progress <= 100);
    this.checkAuthority(before, after, ctx);
    this.checkSources(after, ctx);
    const mine = this.effects.filter((one) => one.actorId === after.id);
    assert.ok(mine.length <= 1, 'one effect at a time');
    if (after.effectId?.startsWith('eff_')) assert.equal(mine[0]?.id, after.effectId);
    else assert.equal(mine.length, 0);
    for (const approval of after.approvals) {
      const known = this.decided.get(approval.id);
      if (known !== undefined) assert.equal(approval.status, known, 'an approval is decided once');
      else if (approval.status !== 'pending') this.decided.set(approval.id, approval.status);
    }
    if (ctx.effects.some((one) => one.name === 'model')) {
      assertConversation(this.history.get(after.id)!);
      assert.ok(this.task.config.max_credits === undefined || this.effects.filter((one) => one.name === 'model').length <= 1);
    }
    if (after.phase === 'asking' && before?.phase !== 'asking') this.assertGuidanceStored(after.id);
    if (after.phase === 'ended' && after.status === 'complete') this.assertGuidanceStored(after.id);
    if (after.phase === 'ended' && before?.phase !== 'ended') {
      assert.equal(ctx.events.filter((one) => /^agent\.(completed|error|cancelled)$/.test(one.type)).length, 1, 'an end is emitted once');
    }
  }

  /** Never more than the task has, never more than before, and nothing is started without it. */
  private checkAuthority(before: AgentRow | null, after: AgentRow, ctx: RecordedTurn): void {
    const wider = before === null ? this.task.scopes : before.scopes;
    if (wider !== null)
      assert.ok(
        after.scopes?.every((scope) => wider.includes(scope)),
        'authority never grows',
      );
    for (const { name, input } of ctx.effects) {
      if (!isToolCall({ name })) continue;
      const need = tools.find((tool) => tool.name === input.name)?.need ?? null;
      assert.ok(need === null || after.scopes === null || after.scopes.includes(need.scope));
      if (name === 'purchase' && input.name === 'trade') this.checkTrade(after, input.approvedBasis);
    }
  }

  /** Nothing of high consequence runs without the approval that it needs, nor with a connection that the agent would outlive. */
  private checkSources(after: AgentRow, ctx: RecordedTurn): void {
    const [call] = after.calls;
    const approval = after.approvals.find(({ id }) => id === call?.approvalId);
    for (const { name, input } of ctx.effects) {
      if (name !== 'sourcedTool' && name !== 'sourcedPreview') continue;
      assert.ok(input.connection === null || after.connections.includes(input.connection), 'it ends with a connection that it uses');
      if (name === 'sourcedPreview' || input.connection === null || !sourcedTools[input.name as 'send_email'].highConsequence) continue;
      const isFree = after.autonomyLevel === 100 && (!after.holdsUntrusted || call!.trusted === true);
      assert.ok(isFree || approval?.status === 'approved', 'somebody approved it');
    }
    const hasUntrusted = this.history.get(after.id)!.some((entry) => entry.role === 'tool' && entry.untrusted);
    assert.ok(!hasUntrusted || after.holdsUntrusted, 'text of others is remembered');
    if (after.waitingService !== null) {
      assert.deepEqual([after.phase, after.effectId, call?.source?.connection], ['calling', null, null]);
    } else if (after.status === 'waiting') assert.equal(approval?.status, 'pending', 'a waiting agent waits for a person or a connection');
  }

  private checkTrade(agent: AgentRow, approvedBasis: unknown): void {
    if (agent.autonomyLevel === 100 && (!agent.holdsUntrusted || agent.calls[0]!.trusted)) return assert.equal(approvedBasis, undefined);
    const approval = agent.approvals.find(({ id }) => id === agent.calls[0]!.approvalId);
    assert.deepEqual([approval?.status, approval?.summary], ['approved', `rests on ${approvedBasis}`], 'it runs with what was approved');
  }

  private checkPlaces(): void {
    const atWork = this.effects.filter((one) => one.name === 'model' || isToolCall(one));
    const limit = this.account.overrides!.concurrentAgents!;
    assert.ok(limit === -1 || atWork.length <= limit, 'no more agents at work than the plan allows');
    assert.ok(limit === -1 || this.account.agentPlaces.held <= limit, 'nor places given');
  }

  /** When all messages have arrived: a holder of a place works, a waiting agent has requested one, and after a notified limit nothing starts. */
  assertPlacesTrue(): void {
    if (!this.isQuiet || this.overtakes) return;
    const { agentPlaces, taskPlaces, limitReached, tasksUsed, tokensUsed, workedMs } = this.account;
    const places = Object.values(this.task.places);
    assert.equal(agentPlaces.held, places.filter((place) => place.held).length, 'each place that is given is held by one');
    assert.deepEqual([...agentPlaces.waiting].sort(), places.flatMap((place) => (place.held ? [] : [place.name])).sort());
    for (const agent of this.agents) {
      assert.equal(this.task.places[agent.id]?.held ?? false, agent.place !== 'none', 'agent and task agree about its place');
      assert.ok(agent.place === 'none' || agent.effectId?.startsWith('eff_'), 'who holds a place works');
    }
    this.assertWaitsTruly();
    const over = ended.has(this.task.status);
    assert.equal(taskPlaces.held + taskPlaces.waiting.length, over ? 0 : 1);
    assert.equal(tasksUsed, over && this.wasStarted ? 1 : 0, 'a task that started and ended is used, and no other');
    if (over) return;
    assert.equal(tokensUsed, this.task.tokensUsed, 'the account counts what its task counts');
    assert.equal(
      workedMs,
      this.agents.reduce((sum, agent) => sum + agent.reportedMs, 0),
    );
    if (limitReached === this.task.limitReached) return;
    assert.ok(
      this.effects.some((one) => one.name === 'startedTasks') || this.task.status === 'pending' || this.task.status === 'planning',
      'a started task knows the limit, or will be notified',
    );
  }

  /** In any order of messages, nothing is left of a task that has ended. */
  assertNothingLeft(): void {
    const { agentPlaces, taskPlaces } = this.account;
    assert.deepEqual({ agentPlaces, taskPlaces }, { agentPlaces: { held: 0, waiting: [] }, taskPlaces: { held: 0, waiting: [] } });
  }

  /** When all messages have arrived, a task says that it waits for the plan just where that is so. */
  private assertWaitsTruly(): void {
    const { status, places, pauseReason, limitReached, waitingFor } = this.task;
    const held = Object.values(places).filter((place) => place.held).length;
    const asked = Object.values(places).length - held;
    const isKnown = limitReached === this.account.limitReached;
    if (ended.has(status) || status === 'planning') assert.equal(waitingFor, null);
    else if (status === 'pending') assert.equal(waitingFor?.kind, this.account.limitReached ? 'plan_limit' : 'concurrency');
    else if (limitReached && isKnown) assert.equal(waitingFor?.kind, 'plan_limit');
    else if (pauseReason === null && isKnown) assert.equal(waitingFor?.of ?? null, held === 0 && asked > 0 ? 'agents' : null);
  }

  private assertGuidanceStored(agentId: string): void {
    const userTexts = this.history.get(agentId)!.flatMap((entry) => (entry.role === 'user' ? [entry.text] : []));
    for (const words of this.said.get(agentId) ?? [])
      assert.ok(userTexts.includes(`A person says: ${words}`), `"${words}" was not received`);
  }

  private checkTask(before: TaskRow | null, after: TaskRow): void {
    this.wasStarted ||= !['pending', 'cancelled'].includes(after.status);
    assert.ok(after.agents.length <= after.config.max_agents, 'no more agents than allowed');
    assert.equal(after.status === 'paused', after.pauseReason !== null, 'a paused task says why, and no other');
    const { max_credits: max } = after.config;
    if (max !== undefined) {
      assert.ok(after.granted.length <= 1, 'with a budget one turn at a time');
      const allowed = Math.max(max * 1_000, before?.tokensUsed ?? 0);
      assert.ok(after.tokensUsed <= allowed + this.largestTurnTokens, 'the budget is overshot by one turn at most');
    }
    if (before !== null && ended.has(before.status)) {
      assert.equal(after.status, before.status, 'an ended task stays as it ended');
      assert.equal(after.tokensUsed, before.tokensUsed, 'and costs nothing more');
    }
  }
  /** The highest cost of a turn in this world; set by the code that makes the replies. */
  largestTurnTokens = 0;

  /** When all messages have arrived, the task shows of each agent what the agent is. */
  assertShownTruly(): void {
    if (!this.isQuiet || ended.has(this.task.status)) return;
    for (const shown of this.task.agents) {
      const agent = this.agent(shown.id)!;
      const pick = ({ status, currentTool, progress, result, error, tokensUsed }: typeof shown | AgentRow) => ({
        status,
        currentTool,
        progress,
        result,
        error,
        tokensUsed,
      });
      assert.deepEqual(pick(shown), pick(agent));
    }
    assert.deepEqual([...this.task.approvals].sort(byId), this.agents.flatMap((agent) => agent.approvals).sort(byId));
    const planned = this.task.tokensUsed - this.agents.reduce((sum, agent) => sum + agent.tokensUsed, 0);
    assert.ok(planned >= 0, 'the task counts what its agents count');
  }
}

export const ended = new Set(['complete', 'failed', 'cancelled']);
/** What spends is an effect of a name of its own. */
export function isToolCall({ name }: { name: string }): boolean {
  return name === 'tool' || name === 'purchase' || name === 'preview' || isSourcedCall({ name });
}

export function isSourcedCall({ name }: { name: string }): boolean {
  return name === 'sourcedTool' || name === 'sourcedPreview';
}

/** What a tool answers: one that has a preview may ask for another decision. */
export function toolOutcome({ name, input }: Effect, how: number): ToolOutcome {
  const preview = { text: `rests on ${input.callId} ${how}`, basis: `${input.callId} ${how}` };
  if (name === 'preview' && how % 7 !== 0) return { result: preview, isError: false };
  const result = { result: { ok: true }, isError: how % 7 === 0 };
  return input.approvedBasis !== undefined && how % 3 === 0 ? { ...result, isError: true, askAgain: preview } : result;
}

function isKind(kind: string): kind is Kind {
  return kind in actors;
}

const outcomes: Record<string, string> = {
  plan: 'planned',
  model: 'modelled',
  tool: 'toolDone',
  purchase: 'toolDone',
  preview: 'previewed',
  sourcedTool: 'toolDone',
  sourcedPreview: 'previewed',
  checkOutput: 'outputChecked',
  startedTasks: 'tellTasks',
};

function byId(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : 1;
}

/** Every call of an answer has exactly one result, given before the next answer: else a provider refuses the conversation. */
function assertConversation(entries: ModelMessage[]): void {
  let open = new Set<string>();
  const seen = new Set<string>();
  assert.equal(entries[0]?.role, 'user');
  for (const entry of entries) {
    if (entry.role === 'tool') assert.ok(open.delete(entry.callId), `${entry.callId} has a result that nobody waits for`);
    else assert.equal(open.size, 0, `calls without a result: ${[...open]}`);
    if (entry.role !== 'assistant') continue;
    for (const call of entry.toolCalls) {
      assert.ok(!seen.has(call.id), 'call ids are never used again');
      seen.add(call.id);
    }
    open = new Set(entry.toolCalls.map((call) => call.id));
  }
  assert.equal(open.size, 0, `calls without a result: ${[...open]}`);
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
