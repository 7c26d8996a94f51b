/** Parses the replies of the scripts in `membership-scripts.ts` into types. */
import type { Member, View } from './member.ts';
import type { MemberRecord, SharedSettings } from './membership-scripts.ts';

export type MembershipSnapshot = {
  generation: string;
  number: number;
  /** By incarnation; null if the view has not changed since the query. */
  records: ReadonlyMap<string, MemberRecord> | null;
  /** Incarnation and renewals of every member. */
  counts: [string, number][];
  /** An operator has asked this node to leave. */
  drain: boolean;
};

export type NameInUse = { kind: 'name_in_use'; host: string; port: number; incarnation: string; count: number };

export type Reply =
  | { kind: 'member'; snapshot: MembershipSnapshot }
  /** The calling node was expelled (null), or the target of `expel` is no member, with the current snapshot. */
  | { kind: 'removed'; snapshot: MembershipSnapshot | null }
  | { kind: 'data_lost' }
  | { kind: 'retry' }
  | { kind: 'renewed' }
  | { kind: 'early'; waitMs: number }
  | ({ kind: 'settings' } & SharedSettings)
  | { kind: 'protocol'; name: string; lowest: number; highest: number }
  | NameInUse;

export function replyOf(answer: unknown): Reply {
  const [kind, ...rest] = answer as [Reply['kind'], ...any[]];
  switch (kind) {
    case 'member':
      return { kind, snapshot: snapshotOf(rest) };
    case 'removed':
      return { kind, snapshot: rest.length === 0 ? null : snapshotOf(rest) };
    case 'early':
      return { kind, waitMs: rest[0] };
    case 'settings':
      return { kind, shardCount: rest[0], secretKeyDigest: rest[1], network: rest[2] };
    case 'protocol':
      return { kind, name: rest[0], lowest: rest[1], highest: rest[2] };
    case 'name_in_use':
      return { kind, host: rest[0], port: rest[1], incarnation: rest[2], count: rest[3] };
    case 'data_lost':
    case 'retry':
    case 'renewed':
      return { kind };
  }
}

export function viewOf(number: number, records: ReadonlyMap<string, MemberRecord>): View {
  const members = Array.from(records.values(), memberOf).sort((a, b) => (a.incarnation < b.incarnation ? -1 : 1));
  return Object.freeze({ number, members: Object.freeze(members) });
}

export function recordsOf(texts: string[]): Map<string, MemberRecord> {
  const records = texts.map((text) => JSON.parse(text) as MemberRecord);
  return new Map(records.map((record) => [record.incarnation, record]));
}

/** A flat list of keys and values, as Redis returns a hash. */
export function pairsOf(flat: string[]): [string, number][] {
  const pairs: [string, number][] = [];
  for (let i = 0; i < flat.length; i += 2) pairs.push([flat[i]!, Number(flat[i + 1])]);
  return pairs;
}

function snapshotOf([generation, number, texts, counts, drain]: any[]): MembershipSnapshot {
  return { generation, number, records: texts === null ? null : recordsOf(texts), counts: pairsOf(counts), drain: drain === 1 };
}

/** Fields added by a newer version are ignored; fields missing in an older one are absent. */
function memberOf({ incarnation, name, host, port, roles, leaving, startedAtMs, unheard, cannotCommit }: MemberRecord): Member {
  const optional = {
    ...(startedAtMs === undefined ? {} : { startedAtMs }),
    ...(unheard === undefined ? {} : { unreachable: unheard }),
    ...(cannotCommit ? { cannotCommit } : {}),
  };
  return Object.freeze({ incarnation, name, host, port, roles, leaving, ...optional });
}
