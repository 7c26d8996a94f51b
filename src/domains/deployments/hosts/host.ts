/** The port of hosts: each publishes a site by its own protocol, hashes first, and sends only what the host does not have. */
import type { Readable } from 'node:stream';
import type { SiteFile } from '../snapshot/site.ts';
import type { Target } from '../targets.ts';

/** Parameters of requests to a host. The credentials are never copied to a log, an error or an event. */
export type HostAccess = {
  credentials: Readonly<Record<string, string>>;
  /** The name at the host: a project, site or script; the slug of the configuration's name where none was given. */
  project: string;
  /** Whether `project` was given by the account. */
  projectGiven: boolean;
  team: string | null;
  /** The account's own address of the site, which is reached in place of the host's. */
  url: string | null;
  /** Values that an earlier deployment of this configuration stored by `keep`, such as the id of a site. */
  kept: Readonly<Record<string, string>>;
  calls: HostCalls;
};

/**
 * HTTP to the host's API: the address of its setting, the limits of outbound requests, and G59: 429 and 5xx are tried again, refusals become `DeployFailed`.
 * `path` begins with a slash and follows the base address.
 */
export interface HostCalls {
  request(request: HostRequest): Promise<HostAnswer>;
  /** Between attempts: rejects with the signal's reason when it is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<unknown>;
}
export type HostRequest = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Statuses from 400 on that are answers and no failures. */
  accept?: readonly number[];
  /**
   * true: sending it twice does no harm, so it is retried after 429, 5xx and a lost answer. false: it is retried after 429 only; 5xx and a lost answer throw
   * `OutcomeUnknown` (calls.ts): search for the created object, as `createOnce` does.
   */
  repeatable: boolean;
  /** An address other than the API's, such as a presigned one: it is checked like an address from outside. */
  url?: string;
  signal: AbortSignal;
};
export type HostAnswer = { status: number; headers: Record<string, string>; json: unknown; text: string };

export type Publication = {
  deploymentId: string;
  files: readonly SiteFile[];
  /** An earlier try may have been started: what it has created is found by the tag (the deployment's id) and used. */
  isRepeat: boolean;
  /** null: no creation is known. */
  providerId: string | null;
  open(file: SiteFile): Promise<Readable>;
  /** SHA-1 as lower-case hex of each file, in the order of `files`; computed once for a content. */
  sha1(): Promise<readonly string[]>;
  /** Call it as soon as the host has returned an id; resolves when the id is stored. */
  created(providerId: string): Promise<void>;
  /**
   * Keeps values with the configuration, such as the id of a site. Returns the stored values: those of the first deployment that stored any. `gone`: stored values
   * that do not exist at the host any more, which are replaced.
   */
  keep(values: Record<string, string>, gone?: Readonly<Record<string, string>>): Promise<Readonly<Record<string, string>>>;
  /** Reports a creation whose outcome is unknown. The host may carry it out later, in addition to what exists by then, so the host is searched again. */
  outcomeUnknown(): void;
  /** A line of the deployment's log. */
  log(text: string, source?: 'troupe' | 'provider'): void;
  signal: AbortSignal;
};

/** `url`: as the host reports it, with or without a scheme; null where it is not known yet. */
export type HostState =
  | { kind: 'working'; detail: string }
  | { kind: 'live'; url: string }
  /** `code`: build_failed, alias_failed or cancelled; other failures are thrown. */
  | { kind: 'failed'; code: 'build_failed' | 'alias_failed' | 'cancelled'; message: string };

/** Deployments that exist twice because a creation was carried out after the search for it. */
export type HostCopies = {
  /** The ids of all that have the tag, newest first. */
  list(access: HostAccess, deploymentId: string, signal: AbortSignal): Promise<string[]>;
  /**
   * What of the deployment this id has, such as a platform's part; none if it does not exist any more. Absent: each id has all of it. An id is removed only if the
   * ids that stay have its parts.
   */
  parts?(access: HostAccess, providerId: string, signal: AbortSignal): Promise<string[]>;
  /** The id of the one that visitors of the site see; null: there is none. */
  served(access: HostAccess, signal: AbortSignal): Promise<string | null>;
  /** Of one that is live and not served. */
  remove(access: HostAccess, providerId: string, signal: AbortSignal): Promise<void>;
};

export type HostLimits = {
  files: number;
  fileBytes: number;
  /** Why the host cannot serve a file of this name; null: it can. */
  badName?(path: string): string | null;
};

export type Host = {
  target: Target;
  /** For people, e.g. `Vercel`. */
  title: string;
  /** The fields of `credentials`, all required. */
  credentials: readonly string[];
  limits: HostLimits;
  /** One cheap request that shows whether the credentials hold. Throws `DeployFailed` as every call does: `auth` where they do not. */
  identify(access: HostAccess, signal: AbortSignal): Promise<void>;
  /** Checks the files before anything is sent, in addition to `limits`. Throws `DeployFailed`. */
  check?(files: readonly SiteFile[]): void;
  /** Creates, uploads what is missing, finishes. Safe to run again after a crash at any point. Returns the id at the host. */
  publish(access: HostAccess, publication: Publication): Promise<{ providerId: string }>;
  state(access: HostAccess, providerId: string, signal: AbortSignal): Promise<HostState>;
  /**
   * The id of the deployment that an interrupted `publish` has created, found by its tag; null: there is none. Called before `cancel` if `created` was
   * never called. Absent: an interrupted publish leaves no unfinished deployment at this host.
   */
  find?(access: HostAccess, deploymentId: string, signal: AbortSignal): Promise<string | null>;
  /** Resolves when the host has ended it, or it cannot be ended any more. */
  cancel(access: HostAccess, providerId: string, signal: AbortSignal): Promise<void>;
  /** Absent: a second creation replaces the first, or the host has no list of them. */
  copies?: HostCopies;
};
