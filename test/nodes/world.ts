/** A cluster of three nodes with one account, whose workspaces have actors on every node. */
import { shardOf } from '../../src/cluster/address.ts';
import { planOf } from '../../src/cluster/placement-plan.ts';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import type { NodeProcess } from '../support/node-process.ts';
import { Caller } from '../support/service.ts';
import { StreamClient } from '../support/stream-client.ts';

const workspaceCount = 30;

export class World {
  readonly cluster: ClusterProcesses;
  readonly caller: Caller;
  readonly workspaces: readonly string[];

  private constructor(cluster: ClusterProcesses, caller: Caller, workspaces: readonly string[]) {
    this.cluster = cluster;
    this.caller = caller;
    this.workspaces = workspaces;
  }

  static async open(options: { postgres?: 'shared' | 'own'; nodes?: number; env?: Record<string, string> } = {}): Promise<World> {
    const cluster = await ClusterProcesses.start({ nodes: 3, redis: true, ...options });
    try {
      const caller = await Caller.register(cluster.nodes[0]!);
      const workspaces: string[] = [];
      for (let n = 0; n < workspaceCount; n++) workspaces.push((await caller.json('POST', '/v1/workspaces', { name: `w${n}` })).id);
      return new World(cluster, caller, workspaces);
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  get paths(): string[] {
    return this.workspaces.map((id) => `/v1/workspaces/${id}`);
  }

  node(n: number): NodeProcess {
    return this.cluster.nodes[n - 1]!;
  }

  others(node: NodeProcess): NodeProcess[] {
    return this.cluster.up.filter((one) => one !== node);
  }

  /** Workspaces whose actors live on that node now. */
  async ownedBy(node: NodeProcess): Promise<string[]> {
    const shards = new Set((await this.cluster.owners()).get(node.name));
    return this.workspaces.filter((id) => shards.has(shardOf('workspace', id)));
  }

  /** Resolves when each shard is where it should be with these nodes, so that nothing moves any more. */
  async untilBalanced(names: readonly string[]): Promise<void> {
    const members = names.map((name) => ({ incarnation: name, name, host: '', port: 0, roles: ['actors'] as const, leaving: false }));
    const planned = planOf({ number: 1, members }).join();
    while ((await this.cluster.ownerOfShards()).join() !== planned) await new Promise((resolve) => setTimeout(resolve, 50));
  }

  /** A stream of the customer's events on that node, from `after` on where it is given. */
  async stream(node: NodeProcess, after?: number): Promise<StreamClient> {
    const socket = await StreamClient.open(Number(new URL(node.url).port));
    socket.send({ type: 'auth', token: this.caller.token, ...(after === undefined ? {} : { resume_from: after }) });
    await socket.untilMessage('auth_ok');
    return socket;
  }

  async close(): Promise<void> {
    await this.cluster.close();
  }
}
