/** One host in the contract suite: its stand-in, its requests, and its failures. */
import type { Host } from '../../../src/domains/deployments/hosts/host.ts';
import type { FailureCode } from '../../../src/domains/deployments/hosts/host-failure.ts';
import type { Scope } from '../scope.ts';
import { goodToken, type HostStandIn, type StandInAnswer } from './host-stand-in.ts';

/** What a stand-in has of one deployment. */
export type Published = {
  id: string;
  /** Where our id is: it is this, or begins with it. */
  tag: string;
  state: 'working' | 'live' | 'failed' | 'cancelled';
  /** Content by path, as text. */
  files: Readonly<Record<string, string>>;
};

export type HostRow<S extends HostStandIn = HostStandIn> = {
  name: string;
  host: Host;
  start(t: Scope): Promise<S>;
  /** Default: the good token as `token`. */
  credentials?: Readonly<Record<string, string>>;
  projectGiven?: boolean;
  /** By `METHOD /path`. null: the host has no such request. */
  requests: { identify: RegExp; create: RegExp; upload: RegExp; state: RegExp | null; cancel: RegExp | null };
  deployments(standIn: S): Published[];
  /** Contents that it was sent, as text, in the order in which they came. */
  uploads(standIn: S): string[];
  /** Paths of the site that the host gets in another way than by an upload. */
  notSent?: readonly string[];
  /** A site whose names and contents this host takes; default: `plainSite`. */
  site?: Readonly<Record<string, string>>;
  /** What its address must be; null: no stand-in can serve it. */
  url(standIn: S): string | null;
  /** How the host words a refusal, with `text` in it. */
  refusal(status: number, text: string): StandInAnswer;
  /** An answer of 200 with an error inside, to the request that creates. */
  errorInside: { answer: StandInAnswer; code: FailureCode; message: RegExp };
  /** Makes the next deployment fail at the host. */
  failures: Partial<Record<'build_failed' | 'alias_failed', (standIn: S) => void>>;
  /** Makes deployments never end at the host; null: they are live at once. */
  neverReady: ((standIn: S) => void) | null;
};

/** Checks the types. The suite knows a stand-in only as what all have in common. */
export function defineRow<S extends HostStandIn>(row: HostRow<S>): HostRow {
  return row as unknown as HostRow;
}

export const plainSite: Readonly<Record<string, string>> = {
  'index.html': '<!doctype html><title>Home</title>',
  'a/style.css': 'body { color: red }',
  'a/b/copy.css': 'body { color: red }',
  'größe 100%.txt': 'Größe',
  'empty.txt': '',
};

export function credentialsOf(row: HostRow): Readonly<Record<string, string>> {
  return row.credentials ?? { token: goodToken };
}

export function contentsOf(files: ReadonlyMap<string, Buffer>): Record<string, string> {
  return Object.fromEntries([...files].map(([path, bytes]) => [path, bytes.toString('utf8')]));
}
