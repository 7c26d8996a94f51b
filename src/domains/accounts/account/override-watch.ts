/**
 * Delivers operators' overrides to the accounts: an actor knows its limits only from its own state, and the `troupe` command writes a
 * table. Each node polls for changes that are missing in the accounts of its shards, and sends them. An account that is not in memory is
 * activated, because its work may continue. The account's row contains the known overrides, so no crash loses a change, and none is sent
 * forever.
 */

import type { ActorSystem } from '../../../actors/actor-system.ts';
import { shardOf } from '../../../cluster/address.ts';
import type { Placement } from '../../../cluster/placement.ts';
import type { Log } from '../../../log.ts';
import { readOverrideChanges } from '../../../storage/account-overrides.ts';
import type { Database } from '../../../storage/database.ts';
import { account } from './messages.ts';

export type OverrideWatchParts = { database: Database; actors: ActorSystem; placement: Pick<Placement, 'epochOf'>; log: Log };

/** From the end of one poll to the next. */
const everyMs = 400;
/** Polling only recent changes is fast; periodically all are read, for changes while no node ran or a shard moved. */
const recentMs = 60_000;
const fullEveryMs = 30_000;

export class OverrideWatch {
  private readonly parts: OverrideWatchParts;
  private fullScanAtMs = -Infinity;
  private failing = false;
  private timer: NodeJS.Timeout | null = null;
  private stopped = false;

  constructor(parts: OverrideWatchParts) {
    this.parts = parts;
  }

  start(): void {
    void this.poll().finally(() => {
      if (this.stopped) return;
      this.timer = setTimeout(() => this.start(), everyMs);
      this.timer.unref();
    });
  }

  stop(): void {
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }

  /** Polls now; resolves when the accounts of this node's shards are updated. Failures are logged, never thrown: the next poll finds the rest. */
  async poll(): Promise<void> {
    const { database, actors, placement, log } = this.parts;
    const beganAtMs = performance.now();
    const all = beganAtMs - this.fullScanAtMs >= fullEveryMs;
    try {
      const changes = await readOverrideChanges(database, all ? null : recentMs);
      const ours = changes.filter(({ accountId }) => placement.epochOf(shardOf(account.kind, accountId)) !== null);
      await Promise.all(
        ours.map(({ accountId, overrides, changedAtMs }) => actors.ask(account, accountId, 'limitsChanged', { overrides, changedAtMs })),
      );
      if (all) this.fullScanAtMs = beganAtMs;
      this.failing = false;
    } catch (error) {
      if (!this.failing && !this.stopped) log.warn({ err: error }, 'changed account overrides could not be delivered; retrying');
      this.failing = true;
    }
  }
}
