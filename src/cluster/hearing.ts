/**
 * Which members this node does not hear, as it reports them: slow to doubt and slower to trust, so that a link that flaps moves no shards to
 * and fro. It counts its own looks, not time: a process that stood still heard nobody, and that says nothing of them.
 *
 * H1 Who is heard at one of any `doubtAfter` looks in a row is not reported.
 * H2 Who was reported stays so until it was heard at each of `trustAfter` looks in a row; at twice as many where it was lost again soon, up
 *    to `longestTrust`.
 * H3 More than `mostReported` are not reported at all, so that a view stays small; of a node that hears nobody the others say it.
 */

export type HearingOptions = { doubtAfter: number; trustAfter: number; longestTrust: number; mostReported: number };

/** At four looks a second: 1.5 s, 5 s, 40 s. */
export const defaultHearing: HearingOptions = { doubtAfter: 6, trustAfter: 20, longestTrust: 160, mostReported: 64 };

/** `looks`: in a row that spoke against what is reported. `trustAfter`: what it takes this time. `trustedFor`: looks since it was trusted. */
type Ear = { unheard: boolean; looks: number; trustAfter: number; trustedFor: number };

export class Hearing {
  /** Incarnations to report, sorted. */
  unheard: readonly string[] = [];
  private readonly ears = new Map<string, Ear>();
  private readonly options: HearingOptions;

  constructor(options: HearingOptions) {
    this.options = options;
  }

  /** One look at all other members; who is no member any more is forgotten. True where there is something new to report. */
  look(members: readonly string[], isHeard: (incarnation: string) => boolean): boolean {
    const listed = new Set(members);
    for (const incarnation of this.ears.keys()) if (!listed.has(incarnation)) this.ears.delete(incarnation);
    for (const incarnation of members) this.listen(this.ear(incarnation), isHeard(incarnation));
    const all = members.filter((incarnation) => this.ears.get(incarnation)!.unheard);
    const unheard = all.length > this.options.mostReported ? [] : all.sort();
    const isNew = unheard.join('\n') !== this.unheard.join('\n');
    this.unheard = unheard;
    return isNew;
  }

  private ear(incarnation: string): Ear {
    const { trustAfter, longestTrust } = this.options;
    let ear = this.ears.get(incarnation);
    if (ear === undefined) {
      ear = { unheard: false, looks: 0, trustAfter, trustedFor: longestTrust };
      this.ears.set(incarnation, ear);
    }
    return ear;
  }

  private listen(ear: Ear, isHeard: boolean): void {
    const { doubtAfter, trustAfter, longestTrust } = this.options;
    if (!ear.unheard) ear.trustedFor = Math.min(ear.trustedFor + 1, longestTrust);
    ear.looks = isHeard === ear.unheard ? ear.looks + 1 : 0;
    if (ear.looks < (ear.unheard ? ear.trustAfter : doubtAfter)) return;
    ear.looks = 0;
    ear.unheard = !ear.unheard;
    if (!ear.unheard) ear.trustedFor = 0;
    else ear.trustAfter = ear.trustedFor < longestTrust ? Math.min(2 * ear.trustAfter, longestTrust) : trustAfter;
  }
}
