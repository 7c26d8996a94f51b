/** A node is ready while a command passes mailbox, turn, commit and reply. A running process and an answering database prove less. */
import { monotonicMs } from '../../clock.ts';
import { shardCount, shardOf } from '../../cluster/address.ts';
import type { Placement } from '../../cluster/placement.ts';
import { Canary as CanaryEntity, type CanaryRow } from '../../storage/entities/runtime.ts';
import type { ActorSystem } from '../actor-system.ts';
import { actorRef, defineActor } from '../define-actor.ts';

type CanaryContract = { commands: { beat(input: null): number }; queries: { beats(input: null): number } };
const canary = actorRef<CanaryContract>('canary');

export const canaryActor = defineActor<CanaryRow, CanaryContract>({
  ref: canary,
  entity: CanaryEntity,
  isVital: true,
  commands: {
    beat(state, _input, ctx) {
      const beats = (state?.beats ?? 0) + 1;
      return { state: { id: ctx.id, beats }, reply: beats };
    },
  },
  queries: { beats: (state) => state?.beats ?? 0 },
});

const anyKey = 'canary-0';
const beatIntervalMs = 1_000;
/** A beat that takes longer than this counts as missed. */
const beatTimeoutMs = 2_000;
/** Without a beat for this long the node is not ready. */
const staleAfterMs = 4_000;

export class Canary {
  private lastBeatMs = -Infinity;
  private problem = 'starting';
  private timer: NodeJS.Timeout | null = null;
  private beating = false;
  private readonly actors: ActorSystem;
  private readonly placement: Placement;

  constructor(actors: ActorSystem, placement: Placement) {
    this.actors = actors;
    this.placement = placement;
  }

  /** Resolves after the first beat, successful or not. */
  async start(): Promise<void> {
    this.timer = setInterval(() => void this.beat(), beatIntervalMs);
    this.timer.unref();
    await this.beat();
  }

  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
  }

  /** `ok`, or why the node makes no progress. */
  status(): string {
    return monotonicMs() - this.lastBeatMs <= staleAfterMs ? 'ok' : this.problem;
  }

  private async beat(): Promise<void> {
    if (this.beating) return;
    this.beating = true;
    try {
      const key = this.ownKey() ?? anyKey;
      await this.actors.ask(canary, key, 'beat', null, { timeoutMs: beatTimeoutMs });
      this.lastBeatMs = monotonicMs();
    } catch (error) {
      this.problem = `no progress: ${(error as Error).message}`;
    } finally {
      this.beating = false;
    }
  }

  /**
   * A canary address on a shard that this node owns: at most one row per shard, 1,024 in all. Null if the node owns none, as an edge-only
   * node: then the beat goes to another node.
   */
  private ownKey(): string | null {
    for (let n = 0; n < shardCount; n++) {
      const key = `canary-${n}`;
      if (this.placement.epochOf(shardOf(canary.kind, key)) !== null) return key;
    }
    return null;
  }
}
