/**
 * Nodes that lose all connections to other nodes but not to Redis and PostgreSQL: callers of the other nodes are answered again within
 * their deadlines.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Heal } from '../support/link.ts';
import type { NodeProcess } from '../support/node-process.ts';
import { withoutRedis } from '../support/redis.ts';
import type { Caller } from '../support/service.ts';
import { countShardChanges } from '../support/shard-changes.ts';
import { until } from '../support/until.ts';
import { World } from './world.ts';

const options = { skip: withoutRedis, timeout: 300_000 };

/** Fewer than one account may ask for at once. */
const atOnce = 5;

test(
  'when two nodes do not reach a third, writes to its actors continue on the two, none is lost or duplicated, and it gets its shards back',
  options,
  async (t) => {
    const world = await World.open();
    t.after(() => world.close());
    const { cluster } = world;
    const victim = world.node(3);
    await world.untilBalanced(['node-1', 'node-2', 'node-3']);
    const [changes, ownerBefore] = [await countShardChanges((text) => cluster.sql(text)), await cluster.ownerOfShards()];
    const writes = new Writes(world, world.others(victim), await world.ownedBy(victim));
    await writes.rounds(1);
    const heal = cluster.isolate(victim, 'cut');
    t.diagnostic(`cut: written to again after ${await writes.untilAllWrote()} ms at most, ${writes.late} writes not inside their deadline`);
    await isolated(victim);
    await world.untilBalanced(['node-1', 'node-2']);
    const moved = await changes();
    movedOnce(world, ownerBefore, victim, moved);
    await back(world, victim, heal, ['node-1', 'node-2', 'node-3']);
    await writes.end();
    const movedBack = (await changes()).map((times, shard) => times - moved[shard]!);
    movedOnce(world, ownerBefore, victim, movedBack);
    assert.doesNotMatch(victim.log, /"level":"error"/);
  },
);

/** Only shards of the isolated node were released and claimed; an offer that no node took for seconds, which owners log, is made again. */
function movedOnce({ cluster }: World, ownerBefore: readonly string[], victim: NodeProcess, changes: readonly number[]): void {
  const logs = cluster.nodes.map(({ log }) => log).join('\n');
  const taken = logs.includes('does not claim the shards it is offered') ? [2, 4] : [2];
  changes.forEach((times, shard) => {
    const allowed = ownerBefore[shard] === victim.name ? taken : [0];
    assert.ok(allowed.includes(times), `shard ${shard} of ${ownerBefore[shard]} has changed ${times} times\n${logs}`);
  });
}

/** Waits for this reason: before it, a busy machine may make the node unready for another reason. */
async function isolated(node: NodeProcess): Promise<void> {
  await until(async () => {
    const { status, words } = await node.readiness();
    return status === 503 && words.startsWith('isolated: ');
  }, `${node.name} to say that it is isolated`);
}

async function back(world: World, node: NodeProcess, heal: Heal, names: readonly string[]): Promise<void> {
  heal();
  await node.untilReady();
  await world.untilBalanced(names);
}

/** One file in each of some workspaces, written repeatedly. A request without an answer within its deadline is repeated with the same key. */
class Writes {
  /** Number of repeated requests: 0 unless the machine is overloaded. */
  late = 0;
  private readonly versions: number[];
  private isOver = false;
  private readonly running: Promise<unknown>;

  constructor(world: World, places: readonly NodeProcess[], owned: readonly string[]) {
    const workspaces = owned.slice(0, atOnce);
    assert.ok(workspaces.length > 0);
    this.versions = workspaces.map(() => 0);
    this.running = Promise.all(
      workspaces.map(async (id, i) => {
        for (let n = 1; !this.isOver; n++) {
          assert.equal(await this.write(world.caller.at(places[(i + n) % places.length]!), id, n), n, 'each write is made once');
          this.versions[i] = n;
        }
      }),
    );
    this.running.catch(() => {});
  }

  /** Resolves when each has been written so many times more. */
  async rounds(times: number): Promise<void> {
    const until = this.versions.map((version) => version + times);
    while (!this.versions.every((version, i) => version >= until[i]!))
      await Promise.race([this.running, new Promise((resolve) => setTimeout(resolve, 5))]);
  }

  /** Resolves with how long it took, in milliseconds, until each write that began before or soon after the call was answered. */
  async untilAllWrote(): Promise<number> {
    const beganMs = performance.now();
    await this.rounds(2);
    return Math.round(performance.now() - beganMs);
  }

  async end(): Promise<void> {
    this.isOver = true;
    await this.running;
  }

  private async write(caller: Caller, id: string, n: number): Promise<number> {
    for (;;) {
      const body = new FormData();
      body.set('file', new Blob([`${n}`]), 'register.txt');
      const response = await caller.fetch('POST', `/v1/workspaces/${id}/files`, body, { 'idempotency-key': `${id} ${n}` });
      const text = await response.text();
      if (response.status === 201) return JSON.parse(text).version;
      assert.ok([503, 504].includes(response.status), `${response.status} ${text}`);
      this.late++;
    }
  }
}
