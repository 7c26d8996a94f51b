/**
 * One account that publishes sites: each deployment has its own workspace, so that the stored rows show how often it took effect. Some
 * are cancelled at any time, some are published again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from '../support/random.ts';
import { type Account, registerAccount } from './account.ts';
import { type Answer, type Ask, Client, type Door } from './client.ts';
import { deployCredentials } from './deploy-hosts.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { History, OperationName } from './history.ts';

export type DeployerParts = { history: History; nodes: () => Door[]; random: Random };

type Made = { id: string; workspace: string; fingerprint: string };

const longestThoughtMs = 800;
/** The share of operations that are not retried after a lost answer, so that their outcome stays unknown. */
const noRetryChance = 0.05;
const repeatChance = 0.05;
const remembered = 30;

export class Deployer {
  readonly account: string;
  readonly token: string;
  readonly client: Client;
  private readonly random: Random;
  private readonly made: Made[] = [];
  private sites = 0;

  private constructor(client: Client, { id, key }: Account, random: Random) {
    this.client = client;
    this.account = id;
    this.token = key;
    this.random = random;
  }

  /** Registers and configures both hosts, before anything is broken. */
  static async register(parts: DeployerParts): Promise<Deployer> {
    const account = await registerAccount(parts.nodes()[0]!.url);
    const deployer = new Deployer(new Client({ ...parts, account: account.id, token: account.key }), account, parts.random);
    for (const target of ['vercel', 'netlify']) {
      const body = { name: `site at ${target}`, target, credentials: deployCredentials };
      const answer = await deployer.client.ask({ ...posting('/v1/deployments/configs', body) });
      if (answer?.status !== 201) throw new Error(`The configuration was not made: ${answer?.text}`);
    }
    return deployer;
  }

  async work(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const chance = this.random.next();
      if (chance < 0.7 || this.made.length === 0) await this.deploy();
      else if (chance < 0.85) await this.redeploy();
      else await this.cancel();
      await pause(this.random.next() * longestThoughtMs);
    }
  }

  private async deploy(): Promise<void> {
    const name = `site ${this.account} ${++this.sites}`;
    const workspace = await this.perform('create workspace', name, null, {
      ...posting('/v1/workspaces', { name }),
      resultOf: ({ json }) => json.id,
    });
    if (workspace?.status !== 201) return;
    const { id } = workspace.json;
    const site = { 'index.html': `<h1>${name}</h1>`, 'css/app.css': `/* ${name} */`, 'same.txt': 'the same in every site' };
    for (const [path, content] of Object.entries(site)) {
      const answer = await this.perform('upload', `${id}/${path}`, null, {
        method: 'POST',
        path: `/v1/workspaces/${id}/files`,
        body: () => form(path, content),
      });
      if (answer?.status !== 201) return;
    }
    const fingerprint = fingerprintOf(site);
    const target = this.random.pick(['vercel', 'netlify'] as const);
    const answer = await this.perform('deploy', id, fingerprint, {
      ...posting('/v1/deployments', { workspace_id: id, target }),
      resultOf: ({ json }) => json.id,
    });
    this.remember(answer, id, fingerprint);
  }

  /** 409: it has published nothing yet. */
  private async redeploy(): Promise<void> {
    const { id, workspace, fingerprint } = this.random.pick(this.made);
    const answer = await this.perform('deploy', workspace, fingerprint, {
      ...posting(`/v1/deployments/${id}/redeploy`, {}),
      resultOf: ({ json }) => json.id,
      refusals: [409],
    });
    this.remember(answer, workspace, fingerprint);
  }

  /** 409: it has ended. */
  private async cancel(): Promise<void> {
    const { id } = this.made.at(-1 - this.random.between(0, Math.min(2, this.made.length - 1)))!;
    await this.perform('cancel deployment', id, null, {
      ...posting(`/v1/deployments/${id}/cancel`, {}),
      resultOf: ({ json }) => json.status,
      refusals: [409],
    });
  }

  private remember(answer: Answer | null, workspace: string, fingerprint: string): void {
    if (answer?.status !== 201) return;
    this.made.push({ id: answer.json.id, workspace, fingerprint });
    if (this.made.length > remembered) this.made.shift();
  }

  private async perform(name: OperationName, subject: string, value: string | null, ask: Ask): Promise<Answer | null> {
    const chance = this.random.next();
    const patienceMs = chance < noRetryChance ? 0 : undefined;
    const { answer } = await this.client.perform(name, subject, value, { patienceMs, isRepeated: chance > 1 - repeatChance, ...ask });
    return answer;
  }
}

function form(path: string, content: string): FormData {
  const data = new FormData();
  data.append('path', path);
  data.append('file', new Blob([content]), path.split('/').at(-1));
  return data;
}

function posting(path: string, body: object): Ask {
  return { method: 'POST', path, body: () => JSON.stringify(body) };
}
