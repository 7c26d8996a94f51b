/**
 * Proves that a process has ended, long before its lease expires: its stream broke, then nothing or another process answered at its
 * address, and then it did not renew its lease for two intervals. None of these is enough alone: a proxy may refuse, a link may be cut,
 * Redis may be slow.
 *
 * D1 A member that renews is not expelled. The coordinator compares the renewal count in the same step.
 */
import type { Log } from '../log.ts';
import type { DownReason } from './peers.ts';

export type Renewals = {
  /** How often an incarnation has renewed its lease, as far as known here; null if it is not a member. */
  renewals(incarnation: string): { count: number } | null;
  /** Resolves when the renewals are as new as the call, or cannot be read. */
  refresh(): Promise<unknown>;
  /** Expels it if its last renewal is two intervals ago, unless it has renewed since that count. True if it is expelled. */
  expel(incarnation: string, count: number): Promise<boolean>;
};

export type FailureDetectorOptions = {
  membership: Renewals;
  /** Called when an incarnation is proven dead and expelled. */
  onDead: (incarnation: string) => void;
  log: Log;
};

/** `broken`: its stream broke. `proving`: its address refuses too, and its renewals are monitored. */
type Suspicion = 'broken' | 'proving';

export class FailureDetector {
  private readonly suspects = new Map<string, Suspicion>();
  private stopped = false;
  private readonly options: FailureDetectorOptions;

  constructor(options: FailureDetectorOptions) {
    this.options = options;
  }

  up(incarnation: string): void {
    this.suspects.delete(incarnation);
  }

  down(incarnation: string, reason: DownReason): void {
    const suspicion = this.suspects.get(incarnation);
    if (reason === 'broken') {
      if (suspicion === undefined) this.suspects.set(incarnation, 'broken');
    } else if (suspicion === 'broken' && (reason === 'refused' || reason === 'other')) {
      this.suspects.set(incarnation, 'proving');
      void this.prove(incarnation);
    }
  }

  /** It is no longer a member. */
  remove(incarnation: string): void {
    this.suspects.delete(incarnation);
  }

  stop(): void {
    this.stopped = true;
    this.suspects.clear();
  }

  private async prove(incarnation: string): Promise<void> {
    const { membership, log, onDead } = this.options;
    try {
      // A renewal from just before its death must be counted first.
      await membership.refresh();
      const last = membership.renewals(incarnation);
      if (last === null || this.stopped || this.suspects.get(incarnation) !== 'proving') return;
      if (await membership.expel(incarnation, last.count)) {
        log.warn(
          { peer: incarnation },
          'a node has failed: its stream broke, its address refuses connections, and it does not renew its lease',
        );
        if (!this.stopped) onDead(incarnation);
      }
    } catch (error) {
      log.warn({ err: error, peer: incarnation }, 'could not check whether a node has failed; retrying');
    } finally {
      // The next refusal starts another proof.
      if (this.suspects.get(incarnation) === 'proving') this.suspects.set(incarnation, 'broken');
    }
  }
}
