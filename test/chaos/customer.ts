/** One account and its clients: they write and read registers, create objects, and control tasks, a few at a time, at random. */
import { setTimeout as pause } from 'node:timers/promises';
import type { NodeProcess } from '../support/node-process.ts';
import type { Random } from '../support/random.ts';
import { registerAccount, send } from './account.ts';
import { type Answer, type Ask, Client } from './client.ts';
import type { History } from './history.ts';

export type CustomerParts = { history: History; nodes: () => NodeProcess[]; random: Random };

/** Files that are written to at the same time; after so many writes others take their place, so that a history can be judged. */
const registersAtOnce = 2;
const writesOfARegister = 60;
const tasksAtOnce = 4;
const longestThoughtMs = 120;
const table = 'region,units\nnorth,12\nsouth,7\neast,30\n';

export class Customer {
  readonly account: string;
  readonly token: string;
  readonly client: Client;
  private readonly workspace: string;
  private readonly random: Random;
  private writes = 0;
  private created = 0;
  /** Tasks that may still run, newest last. */
  private readonly tasks: string[] = [];
  private readonly keys: string[] = [];

  private constructor(client: Client, workspace: string, random: Random) {
    this.client = client;
    this.account = client.account;
    this.token = client.token;
    this.workspace = workspace;
    this.random = random;
  }

  /** Registers, before anything is broken. */
  static async register(parts: CustomerParts): Promise<Customer> {
    const { url } = parts.nodes()[0]!;
    const { id, key } = await registerAccount(url);
    const workspace = (await send(`${url}/v1/workspaces`, key, { name: 'registers' })).id;
    const client = new Client({ ...parts, account: id, token: key });
    const customer = new Customer(client, workspace, parts.random);
    const uploaded = await client.ask({ method: 'POST', path: `/v1/workspaces/${workspace}/files`, body: () => form('table.csv', table) });
    if (uploaded?.status !== 201) throw new Error(`The table was not taken: ${uploaded?.status} ${uploaded?.text}`);
    return customer;
  }

  /** Performs one operation after the other until `isOver`. Several calls may run for one customer. */
  async work(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.doSomething();
      await pause(this.random.next() * longestThoughtMs);
    }
  }

  /** Lets every agent go on that a client paused and then lost sight of. */
  async resumeAll(): Promise<void> {
    for (const id of this.tasks)
      for (const agent of await this.agentsOf(id)) if (agent.status === 'paused') await this.steer('resume', agent.id);
  }

  private async doSomething(): Promise<void> {
    const chance = this.random.next();
    if (chance < 0.35) await this.write();
    else if (chance < 0.7) await this.read();
    else if (chance < 0.8) await this.query();
    else if (chance < 0.85) await this.createWorkspace();
    else if (chance < 0.93) await this.createTask();
    else if (chance < 0.95) await this.createKey();
    else if (chance < 0.96) await this.revokeKey();
    else if (chance < 0.99) await this.pauseAndResume();
    else await this.cancelTask();
  }

  private async write(): Promise<void> {
    const register = this.register(this.writes++);
    const value = `${register} ${this.writes}`;
    await this.client.perform('write', `${this.workspace}/${register}`, value, {
      method: 'POST',
      path: `/v1/workspaces/${this.workspace}/files`,
      body: () => form(register, value),
      resultOf: ({ json }) => json.version,
    });
  }

  private async read(): Promise<void> {
    const register = this.register(this.writes);
    await this.client.perform('read', `${this.workspace}/${register}`, null, readOf(this.workspace, register));
  }

  /** The two that are in use now take turns. */
  private register(n: number): string {
    const generation = Math.floor(n / (registersAtOnce * writesOfARegister));
    return `register-${generation}-${n % registersAtOnce}.txt`;
  }

  private async query(): Promise<void> {
    const path = this.tasks.length > 0 ? `/v1/tasks/${this.random.pick(this.tasks)}` : '/v1/tasks';
    const { answer } = await this.client.perform('query', path, null, { method: 'GET', path });
    if (answer !== null && answer.status !== 200) this.client.unexpected(`${path} was answered ${answer.status}`);
  }

  private async createWorkspace(): Promise<void> {
    const name = `workspace ${this.nextName()}`;
    await this.client.perform('create workspace', name, null, creation('/v1/workspaces', { name }));
  }

  private async createTask(): Promise<void> {
    if ((await this.runningTasks()) >= tasksAtOnce) return;
    const prompt = `Analyse table.csv, number ${this.nextName()}`;
    const body = { prompt, workspace_id: this.workspace, config: { autonomy_level: 100, max_agents: 2 } };
    const { answer } = await this.client.perform('create task', prompt, null, creation('/v1/tasks', body));
    if (answer?.status === 201) this.tasks.push(answer.json.id);
  }

  private async createKey(): Promise<void> {
    const name = `key ${this.nextName()}`;
    const { answer } = await this.client.perform('create key', name, null, creation('/v1/api-keys', { name, scopes: ['tasks.read'] }));
    if (answer?.status === 201) this.keys.push(answer.json.id);
  }

  private async revokeKey(): Promise<void> {
    const id = this.keys.shift();
    if (id !== undefined) await this.client.perform('revoke key', id, null, { method: 'DELETE', path: `/v1/api-keys/${id}` });
  }

  private async pauseAndResume(): Promise<void> {
    const id = this.tasks.at(-1);
    const agent = id === undefined ? undefined : (await this.agentsOf(id))[0];
    if (agent === undefined) return;
    await this.steer('pause', agent.id);
    await pause(this.random.next() * longestThoughtMs);
    await this.steer('resume', agent.id);
  }

  private async cancelTask(): Promise<void> {
    const id = this.tasks.at(-1);
    if (id !== undefined) await this.client.perform('cancel task', id, null, { method: 'POST', path: `/v1/tasks/${id}/cancel` });
  }

  private async steer(what: 'pause' | 'resume', agent: string): Promise<void> {
    await this.client.perform(`${what} agent`, agent, null, { method: 'POST', path: `/v1/agents/${agent}/${what}` });
  }

  private async agentsOf(task: string): Promise<{ id: string; status: string }[]> {
    const path = `/v1/tasks/${task}`;
    const { answer } = await this.client.perform('query', path, null, { method: 'GET', path });
    return answer?.json?.agents ?? [];
  }

  private async runningTasks(): Promise<number> {
    const { answer } = await this.client.perform('query', 'running tasks', null, { method: 'GET', path: '/v1/tasks?limit=20' });
    const tasks: { status: string }[] = answer?.json?.tasks ?? [];
    return tasks.filter(({ status }) => !['complete', 'failed', 'cancelled'].includes(status)).length;
  }

  private nextName(): string {
    return `${++this.created} of ${this.account}`;
  }
}

/** A read of a register: its contents, or null before the first write. */
export function readOf(workspace: string, register: string): Ask {
  return { method: 'GET', path: `/v1/workspaces/${workspace}/files/${register}`, resultOf: ({ text }: Answer) => text };
}

function creation(path: string, body: object): Ask {
  return { method: 'POST', path, body: () => JSON.stringify(body), resultOf: ({ json }) => json.id };
}

function form(name: string, text: string): FormData {
  const data = new FormData();
  data.set('file', new Blob([text]), name);
  return data;
}
