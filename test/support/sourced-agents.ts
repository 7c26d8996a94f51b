/** A node with tasks and agents as in the service: the model is scripted by account, and tools come from sources of the test. */
import type { AnyActor } from '../../src/actors/define-actor.ts';
import { accountActor } from '../../src/domains/accounts/account/account.ts';
import { accountEffects } from '../../src/domains/accounts/account/effects.ts';
import { accountSettingsActor } from '../../src/domains/accounts/account-settings/account-settings.ts';
import { accountStorageActor } from '../../src/domains/accounts/account-storage/account-storage.ts';
import { storageEffects } from '../../src/domains/accounts/account-storage/count.ts';
import { accountsIds } from '../../src/domains/accounts/ids.ts';
import { agentActor } from '../../src/domains/tasks/agent/agent.ts';
import { type AgentServices, agentEffects } from '../../src/domains/tasks/agent/effects.ts';
import type { AgentRow } from '../../src/domains/tasks/agent/entity.ts';
import { agent } from '../../src/domains/tasks/agent/messages.ts';
import { tasksIds } from '../../src/domains/tasks/ids.ts';
import type { Approval, TaskConfig } from '../../src/domains/tasks/task/entity.ts';
import { task } from '../../src/domains/tasks/task/messages.ts';
import { taskActor } from '../../src/domains/tasks/task/task.ts';
import { createCatalogue } from '../../src/domains/tasks/tools/catalogue.ts';
import type { Tool } from '../../src/domains/tasks/tools/port.ts';
import type { ToolSource } from '../../src/domains/tasks/tools/source.ts';
import { workspaceAccess } from '../../src/domains/workspaces/contract.ts';
import { workspaceActor } from '../../src/domains/workspaces/workspace/workspace.ts';
import { workspaceFileActor } from '../../src/domains/workspaces/workspace-file/workspace-file.ts';
import { newId } from '../../src/ids.ts';
import { noLog } from '../../src/log.ts';
import type { Mode } from '../../src/mode.ts';
import { inlineCompute } from '../../src/providers/compute/inline.ts';
import type { Model, ModelMessage, ModelRequest } from '../../src/providers/model/port.ts';
import type { Granted } from '../../src/scopes.ts';
import { openLocalFiles } from '../../src/storage/local-files.ts';
import type { Json } from './json.ts';
import { somebody } from './memory-workspace.ts';
import { type TestRuntime, testRuntime } from './runtime.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { until } from './until.ts';

/** The calls of one model turn. */
export type Turn = [name: string, args: object][];
/** Each list of turns is one agent's; after its last turn it ends with "Done.". Agents work one after the other. */
export type Script = Turn[][];
export type Begin = { config?: Partial<TaskConfig>; mode?: Mode; scopes?: Granted; accountId?: string; workspaceId?: string | null };

export type SourcedAgents = Awaited<ReturnType<typeof sourcedAgents>>;

/** @param tools of the catalogue */
export async function sourcedAgents(sources: readonly ToolSource[], tools: readonly Tool[]) {
  const scripts = new Map<string, Script>();
  const requests: (ModelRequest & { account: string })[] = [];
  /** What a model turn waits for before it answers. */
  const gate: { before: ((account: string) => Promise<void>) | null } = { before: null };
  const model: Model = {
    name: 'scripted',
    async turn(request, { account = '' }) {
      requests.push({ ...request, account });
      await gate.before?.(account);
      const [first] = request.messages;
      const which = Number(/script (\d+)/.exec(first?.role === 'user' ? first.text : '')?.[1] ?? 0);
      const at = request.messages.filter(({ role }) => role === 'assistant').length;
      const turn = scripts.get(account)?.[which]?.[at];
      const said = { inputTokens: 1, outputTokens: 1, costMillicents: 0, model: 'scripted' };
      if (turn === undefined) return { ...said, text: 'Done.', toolCalls: [] };
      return { ...said, text: '', toolCalls: turn.map(([name, args], id) => ({ id: `c${id}`, name, arguments: args })) };
    },
  };
  const toolbox = createCatalogue(tools);
  const folder = await temporaryFolder();
  const files = await openLocalFiles(folder.path);
  // After a crash they are others.
  const database: AgentServices['database'] = new Proxy({} as never, { get: (_, name) => bound(node.database, name) });
  const actors: AgentServices['actors'] = new Proxy({} as never, { get: (_, name) => bound(node.actors, name) });
  const services: AgentServices = {
    model,
    toolbox,
    sources,
    workspace: (row, authority, callId) => workspaceAccess({ actors, database, files }, { ...row, agentId: row.id, authority, callId }),
    mail: () => ({ send: async () => ({ detail: 'posted' }) }),
    compute: inlineCompute,
    log: noLog,
    database,
    actors,
  };
  const plan = {
    outcome: 'planned',
    timeoutMs: 60_000,
    repeatable: () => true,
    async run(_input: unknown, { actorId }: { actorId: string }) {
      const row = await node.actors.query(task, actorId, 'get', null);
      const script = scripts.get(row!.accountId)!;
      const agents = script.map((_, at) => ({ type: 'builder', title: `a${at}`, prompt: `script ${at}`, after: at === 0 ? [] : [at - 1] }));
      return { result: { plan: { agents } }, tokens: 1, costMillicents: 0 };
    },
  };
  const node: TestRuntime = await testRuntime(
    [
      accountActor(accountEffects({ database })),
      accountSettingsActor,
      accountStorageActor(storageEffects({ database })),
      workspaceActor,
      workspaceFileActor({ database, files }),
      taskActor({ plan } as never),
      agentActor(toolbox, agentEffects(services)),
    ] as unknown as AnyActor[],
    { suspectPauseMs: 50 },
  );

  return {
    node,
    requests,
    gate,
    services,
    files,
    newAccount: () => newId(accountsIds.account, null),
    /** Begins a task whose agents follow the script. */
    async begin(
      script: Script,
      { config = {}, mode = 'live', scopes = null, accountId = newId(accountsIds.account, null), workspaceId = null }: Begin = {},
    ) {
      scripts.set(accountId, script);
      const taskId = newId(tasksIds.task, accountId);
      await node.actors.ask(task, taskId, 'create', {
        accountId,
        userId: 'usr_1',
        mode,
        scopes,
        prompt: 'go',
        config: { max_agents: 3, autonomy_level: 50, auto_deploy: false, deploy_target: null, ...config },
        workspaceId,
      });
      return new SourcedTask(node, accountId, taskId);
    },
    async close() {
      await node.close();
      await folder.remove();
    },
  };
}

export class SourcedTask {
  readonly node: TestRuntime;
  readonly accountId: string;
  readonly id: string;
  constructor(node: TestRuntime, accountId: string, id: string) {
    this.node = node;
    this.accountId = accountId;
    this.id = id;
  }

  async row() {
    return (await this.node.actors.query(task, this.id, 'get', null))!;
  }
  /** The agent that works, or the last one. */
  async agent(): Promise<AgentRow> {
    const { agents } = await this.row();
    const one = agents.find(({ status }) => !['complete', 'error', 'cancelled'].includes(status)) ?? agents.at(-1)!;
    return (await this.node.actors.query(agent, one.id, 'get', null))!;
  }
  async ended() {
    await until(async () => (await this.row()).completedAt !== null, 'the end of the task');
    return this.row();
  }
  /** The first pending approval of the task. */
  async asked(): Promise<Approval> {
    const pending = async () => (await this.row()).approvals.find(({ status }) => status === 'pending');
    await until(async () => (await pending()) !== undefined, 'a question');
    return (await pending())!;
  }
  async waitsForConnection(): Promise<AgentRow> {
    await until(async () => {
      const { agents } = await this.row();
      return agents.some(({ waitingFor }) => waitingFor === 'authorization');
    }, 'an agent that waits for a connection');
    return this.agent();
  }
  async approve({ id, agentId }: Approval, approved = true, editedArguments: object | null = null) {
    return this.node.actors.ask(agent, agentId, 'approve', { approvalId: id, approved, reason: null, editedArguments, by: somebody });
  }
  /** The results of the tool calls of all its agents, in order. */
  async results(): Promise<Extract<ModelMessage, { role: 'tool' }>[]> {
    const text = `select entry from agent_step s join agent a on a.id = s.agent_id where a.task_id = $1 and entry->>'role' = 'tool' order by a.created_at, a.id, step`;
    return (await this.node.sql(text, [this.id])).map(({ entry }) => entry);
  }
  events(type: string): Json[] {
    return this.node.events
      .filter((event) => event.taskId === this.id && event.type === type)
      .map(({ data }) => JSON.parse((data as Json).text));
  }
}

function bound(object: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(object, name, object);
  return typeof value === 'function' ? value.bind(object) : value;
}
