/**
 * Which incarnations may still run and deliver outcomes of their effects. Other nodes take over an incarnation's work only when it has
 * certainly ended, was expelled from the cluster or is isolated in it, and owns no shard any more.
 *
 * K1 No incarnation is gone before the first view.
 * K2 An incarnation that no view of this node lists may be in a newer one: it is gone only if a view requested later does not list it.
 */
import type { View } from './member.ts';

export type IncarnationLivenessOptions = {
  self: string;
  /** The number of its shards, as far as known. */
  shardsOf: (incarnation: string) => number;
  /** Resolves when the view is as new as the call. */
  refresh: () => Promise<unknown>;
  onGone: (incarnation: string) => void;
};

/** `unconfirmed`: perhaps in a newer view. `out`: no member or isolated, and `onGone` is not called yet. */
type Absence = 'unconfirmed' | 'out' | 'gone';

/** Bound of known incarnations that are not members; the oldest are forgotten, and checked again on the next query. */
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
    if (this.members === null || this.isAlwaysAlive(incarnation)) return true;
    const absence = this.absent.get(incarnation);
    if (absence === undefined) this.mark(incarnation, 'unconfirmed');
    if (absence === undefined || absence === 'unconfirmed') {
      void this.confirm();
      return true;
    }
    return this.options.shardsOf(incarnation) > 0;
  }

  /** Applies a new view and its isolated members. Returns the members of the last view that are missing in this one. */
  take(view: View, isolated: ReadonlySet<string>): string[] {
    const before = [...(this.members ?? [])];
    const members = new Set(view.members.map(({ incarnation }) => incarnation));
    this.members = members;
    this.isolated = isolated;
    for (const incarnation of members) if (this.isAlwaysAlive(incarnation)) this.absent.delete(incarnation);
    for (const incarnation of [...before, ...isolated])
      if (!this.isAlwaysAlive(incarnation) && this.absent.get(incarnation) !== 'gone') this.mark(incarnation, 'out');
    this.announce();
    return before.filter((incarnation) => !members.has(incarnation));
  }

  /** Call when shards have moved: an incarnation that is out and owns no shard is gone. An isolated one may claim shards again. */
  announce(): void {
    for (const [incarnation, absence] of this.absent) {
      const ownsNothing = this.options.shardsOf(incarnation) === 0;
      if (absence === 'gone' && !ownsNothing) this.absent.set(incarnation, 'out');
      if (absence !== 'out' || !ownsNothing) continue;
      this.absent.set(incarnation, 'gone');
      this.options.onGone(incarnation);
    }
  }

  /** K2. */
  private async confirm(): Promise<void> {
    if (this.refreshing) return;
    this.refreshing = true;
    const asked = [...this.absent].flatMap(([incarnation, absence]) => (absence === 'unconfirmed' ? [incarnation] : []));
    try {
      await this.options.refresh();
      for (const incarnation of asked) if (this.absent.get(incarnation) === 'unconfirmed') this.absent.set(incarnation, 'out');
      this.announce();
    } catch {
      // Without an answer no incarnation is declared gone; the next query tries again.
    } finally {
      this.refreshing = false;
    }
  }

  /** Independent of its shards. */
  private isAlwaysAlive(incarnation: string): boolean {
    if (incarnation === this.options.self) return true;
    return this.members?.has(incarnation) === true && !this.isolated.has(incarnation);
  }

  private mark(incarnation: string, absence: Absence): void {
    this.absent.set(incarnation, absence);
    if (this.absent.size > maxAbsent) for (const oldest of this.absent.keys()) return void this.absent.delete(oldest);
  }
}
