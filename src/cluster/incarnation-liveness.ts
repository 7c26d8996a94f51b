/**
 * Which incarnations may still run and deliver outcomes of their effects. Other nodes take over an incarnation's work only when it has
 * certainly ended, was expelled from the cluster or is isolated in it, and owns no shard any more.
 *
 * K1 No incarnation counts as ended before the first view.
 * K2 An incarnation that no view of this node lists may be in a newer one: it counts as ended only if a view requested later does not list it.
 */
import type { View } from './member.ts';

export type IncarnationLivenessOptions = {
  self: string;
  /** The number of its shards, as far as known. */
  shardsOf: (incarnation: string) => number;
  /** Resolves when the view is as new as the call. */
  refresh: () => Promise<unknown>;
  onEnded: (incarnation: string) => void;
};

/** `unconfirmed`: perhaps in a newer view. `absent`: no member or isolated, and `onEnded` is not called yet. */
type Absence = 'unconfirmed' | 'absent' | 'ended';

/** Bound of known incarnations that are not members; the oldest are removed, and checked again on the next query. */
const maxAbsent = 10_000;

export class IncarnationLiveness {
  private members: ReadonlySet<string> | null = null;
  private isolated: ReadonlySet<string> = new Set();
  private readonly absent = new Map<string, Absence>();
  private refreshing = false;
  private readonly options: IncarnationLivenessOptions;

  constructor(options: IncarnationLivenessOptions) {
    this.options = options;
  }

  isAlive(incarnation: string): boolean {
    if (this.members === null || this.isReachableMember(incarnation)) return true;
    const absence = this.absent.get(incarnation);
    if (absence === undefined) this.mark(incarnation, 'unconfirmed');
    if (absence === undefined || absence === 'unconfirmed') {
      void this.confirm();
      return true;
    }
    return this.options.shardsOf(incarnation) > 0;
  }

  /** Applies a new view and its isolated members. Returns the members of the last view that are missing in this one. */
  applyView(view: View, isolated: ReadonlySet<string>): string[] {
    const before = [...(this.members ?? [])];
    const members = new Set(view.members.map(({ incarnation }) => incarnation));
    this.members = members;
    this.isolated = isolated;
    for (const incarnation of members) if (this.isReachableMember(incarnation)) this.absent.delete(incarnation);
    for (const incarnation of [...before, ...isolated])
      if (!this.isReachableMember(incarnation) && this.absent.get(incarnation) !== 'ended') this.mark(incarnation, 'absent');
    this.announce();
    return before.filter((incarnation) => !members.has(incarnation));
  }

  /** Call when shards have moved: an absent incarnation without shards has ended. An isolated one may claim shards again. */
  announce(): void {
    for (const [incarnation, absence] of this.absent) {
      const ownsNothing = this.options.shardsOf(incarnation) === 0;
      if (absence === 'ended' && !ownsNothing) this.absent.set(incarnation, 'absent');
      if (absence !== 'absent' || !ownsNothing) continue;
      this.absent.set(incarnation, 'ended');
      this.options.onEnded(incarnation);
    }
  }

  /** K2. */
  private async confirm(): Promise<void> {
    if (this.refreshing) return;
    this.refreshing = true;
    const candidates = [...this.absent].flatMap(([incarnation, absence]) => (absence === 'unconfirmed' ? [incarnation] : []));
    try {
      await this.options.refresh();
      for (const incarnation of candidates) if (this.absent.get(incarnation) === 'unconfirmed') this.absent.set(incarnation, 'absent');
      this.announce();
    } catch {
      // Without an answer no incarnation is declared ended; the next query tries again.
    } finally {
      this.refreshing = false;
    }
  }

  /** Independent of its shards. */
  private isReachableMember(incarnation: string): boolean {
    if (incarnation === this.options.self) return true;
    return this.members?.has(incarnation) === true && !this.isolated.has(incarnation);
  }

  private mark(incarnation: string, absence: Absence): void {
    this.absent.set(incarnation, absence);
    if (this.absent.size > maxAbsent) for (const oldest of this.absent.keys()) return void this.absent.delete(oldest);
  }
}
