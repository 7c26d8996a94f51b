/**
 * Which members are isolated: alive, because they renew their lease, but not reachable by the others. A pure function of the unreachable
 * members that each member of a view reports, so that all nodes of one view agree without communication. An isolated node stays a member
 * and is assigned no shards (`placement-plan.ts`).
 *
 * Two members are linked if neither reports the other as unreachable, and near if they are linked or some member is linked to both: that
 * member forwards their asks (`router.ts`, A1).
 *
 * I1 The order of the members changes nothing.
 * I2 If all members are near each other, none is isolated. A member that reports nothing, as an earlier version does, reaches all.
 * I3 Those that are not isolated are near each other, and one of them can own shards; no isolated member is near all of them.
 * I4 The larger part stays: the members that are not isolated are at least as many as the links of any member that can own shards or is
 *    linked to one that can. Of equal parts the one around the oldest member stays, so that a new, unreachable member takes no shards from
 *    working members.
 * I5 A member without links does not change the result for the others.
 */
import { canOwn, type Member, type View } from './member.ts';

const noMembers: ReadonlySet<string> = new Set();

/** Incarnations; empty if no member can own shards. */
export function isolatedOf({ members }: View): ReadonlySet<string> {
  if (members.every(({ unreachable = [] }) => unreachable.length === 0)) return noMembers;
  const all = [...members].sort(byAge);
  const linked = linksOf(all);
  const indexes = all.map((_, i) => i);
  const linksTo = (i: number) => indexes.filter((j) => linked(i, j));
  let largest: number[] = [];
  for (const i of indexes) {
    const links = linksTo(i);
    if (links.length > largest.length && links.some((j) => canOwn(all[j]!))) largest = [i, ...links.filter((j) => j !== i)];
  }
  if (largest.length === 0) return noMembers;
  const near = (i: number, j: number) => linked(i, j) || indexes.some((by) => linked(i, by) && linked(by, j));
  const connected = new Set(largest);
  for (const i of indexes) if (!connected.has(i) && [...connected].every((j) => near(i, j))) connected.add(i);
  return new Set(indexes.flatMap((i) => (connected.has(i) ? [] : [all[i]!.incarnation])));
}

/** Whether neither of the two reports the other as unreachable. */
export function areLinked(a: Member, b: Member): boolean {
  return !a.unreachable?.includes(b.incarnation) && !b.unreachable?.includes(a.incarnation);
}

/** By index; each is linked to itself. */
function linksOf(members: readonly Member[]): (i: number, j: number) => boolean {
  const indexOf = new Map(members.map(({ incarnation }, i) => [incarnation, i]));
  const cut = new Uint8Array(members.length ** 2);
  members.forEach(({ unreachable = [] }, i) => {
    for (const incarnation of unreachable) {
      const j = indexOf.get(incarnation);
      if (j !== undefined && j !== i) cut[i * members.length + j] = cut[j * members.length + i] = 1;
    }
  });
  return (i, j) => cut[i * members.length + j] === 0;
}

/** A member without `startedAtMs` runs an older version and counts as older. */
function byAge(a: Member, b: Member): number {
  return (a.startedAtMs ?? 0) - (b.startedAtMs ?? 0) || (a.incarnation < b.incarnation ? -1 : 1);
}
