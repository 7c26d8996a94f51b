/**
 * Which members this node reports as unreachable, with hysteresis, so that a flapping link does not move shards back and forth. It counts
 * samples, not time: a paused process takes no samples, so a pause makes no member unreachable.
 *
 * H1 A member that is reached in at least one of any `doubtAfter` consecutive samples is not reported.
 * H2 A reported member stays reported until it was reached in `trustAfter` consecutive samples; in twice as many if it soon became
 *    unreachable again, up to `maxTrustAfter`.
 * H3 If more than `maxReported` are unreachable none is reported, so that a view stays small; the other members report this node instead.
 */

export type ReachabilityOptions = { doubtAfter: number; trustAfter: number; maxTrustAfter: number; maxReported: number };

/** At four samples a second: 1.5 s, 5 s, 40 s. */
export const defaultReachability: ReachabilityOptions = { doubtAfter: 6, trustAfter: 20, maxTrustAfter: 160, maxReported: 64 };

/**
 * `contrary`: consecutive samples that contradict the reported state. `trustAfter`: the number needed this time. `trustedFor`: samples
 * since it was trusted.
 */
type PeerSamples = { unreachable: boolean; contrary: number; trustAfter: number; trustedFor: number };

export class ReachabilityDetector {
  /** Incarnations to report, sorted. */
  unreachable: readonly string[] = [];
  private readonly peers = new Map<string, PeerSamples>();
  private readonly options: ReachabilityOptions;

  constructor(options: ReachabilityOptions) {
    this.options = options;
  }

  /** Takes one sample of all other members; former members are forgotten. True if the result has changed. */
  sample(members: readonly string[], isReached: (incarnation: string) => boolean): boolean {
    const listed = new Set(members);
    for (const incarnation of this.peers.keys()) if (!listed.has(incarnation)) this.peers.delete(incarnation);
    for (const incarnation of members) this.count(this.samplesOf(incarnation), isReached(incarnation));
    const all = members.filter((incarnation) => this.peers.get(incarnation)!.unreachable);
    const unreachable = all.length > this.options.maxReported ? [] : all.sort();
    const isNew = unreachable.join('\n') !== this.unreachable.join('\n');
    this.unreachable = unreachable;
    return isNew;
  }

  private samplesOf(incarnation: string): PeerSamples {
    const { trustAfter, maxTrustAfter } = this.options;
    let peer = this.peers.get(incarnation);
    if (peer === undefined) {
      peer = { unreachable: false, contrary: 0, trustAfter, trustedFor: maxTrustAfter };
      this.peers.set(incarnation, peer);
    }
    return peer;
  }

  private count(peer: PeerSamples, isReached: boolean): void {
    const { doubtAfter, trustAfter, maxTrustAfter } = this.options;
    if (!peer.unreachable) peer.trustedFor = Math.min(peer.trustedFor + 1, maxTrustAfter);
    peer.contrary = isReached === peer.unreachable ? peer.contrary + 1 : 0;
    if (peer.contrary < (peer.unreachable ? peer.trustAfter : doubtAfter)) return;
    peer.contrary = 0;
    peer.unreachable = !peer.unreachable;
    if (!peer.unreachable) peer.trustedFor = 0;
    else peer.trustAfter = peer.trustedFor < maxTrustAfter ? Math.min(2 * peer.trustAfter, maxTrustAfter) : trustAfter;
  }
}
