/**
 * Optional parts of a run besides nodes, PostgreSQL and Redis: each part makes some faults possible, and changes the setup for all
 * others.
 */
import { commitNamed } from '../support/earlier-version.ts';
import { withoutPgbouncer } from '../support/pgbouncer.ts';
import { randomFrom } from '../support/random.ts';
import { withoutVolumes } from '../support/volume.ts';

/** `disks`: PostgreSQL has disks of its own. `pooler`: PgBouncer before it. `versions`: some nodes run the program of an earlier commit. */
export type Part = 'disks' | 'pooler' | 'versions';
export type Topology = {
  disks: boolean;
  pooler: boolean;
  /** The commit of the earlier program; null without. */
  earlier: string | null;
  /** Why what was wanted is left out. */
  leftOut: { part: Part; why: string }[];
};

export const plainTopology: Topology = { disks: false, pooler: false, earlier: null, leftOut: [] };
const parts: readonly Part[] = ['disks', 'pooler', 'versions'];

/** @param wanted the parts that the asked faults need; null: drawn by the seed, each in every other run */
export async function chooseTopology(seed: number, wanted: ReadonlySet<Part> | null, commit: string): Promise<Topology> {
  const random = randomFrom(seed + 10_000);
  const drawn = parts.filter(() => random.next() < 0.5);
  const chosen = wanted ?? new Set(drawn);
  const leftOut: Topology['leftOut'] = [];
  const isThere = (part: Part, why: string | false) => {
    if (why !== false) leftOut.push({ part, why });
    return why === false;
  };
  const earlier = chosen.has('versions') ? await commitNamed(commit) : null;
  return {
    disks: chosen.has('disks') && isThere('disks', await withoutVolumes()),
    pooler: chosen.has('pooler') && isThere('pooler', withoutPgbouncer),
    earlier: chosen.has('versions') && isThere('versions', earlier === null && `there is no commit ${commit} here`) ? earlier : null,
    leftOut,
  };
}

export function topologyText({ disks, pooler, earlier }: Topology): string[] {
  return [
    ...(disks ? ['PostgreSQL on disks of its own'] : []),
    ...(pooler ? ['PgBouncer before it'] : []),
    ...(earlier === null ? [] : [`nodes of ${earlier} beside those of this version`]),
  ];
}
