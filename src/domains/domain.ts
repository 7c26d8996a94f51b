/** A domain: one part of the product, which a node serves because it is listed in `src/node/domains.ts`. */

import type { ActorSystem } from '../actors/actor-system.ts';
import type { AnyActor } from '../actors/define-actor.ts';
import type { Clock } from '../clock.ts';
import type { Placement } from '../cluster/placement.ts';
import type { Config } from '../config.ts';
import type { Authenticator } from '../edge/auth/authenticator.ts';
import type { Tokens } from '../edge/auth/tokens.ts';
import type { ReferencePart } from '../edge/http/reference-part.ts';
import type { AnyRoute } from '../edge/http/route.ts';
import type { SpareTime } from '../edge/http/spare-time.ts';
import type { EventCatalogue, EventFamilies } from '../edge/stream/event-catalogue.ts';
import type { StreamHub } from '../edge/stream/stream-hub.ts';
import type { IdPrefix } from '../ids.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Browser } from '../providers/browser/port.ts';
import type { Compute } from '../providers/compute/port.ts';
import type { MailProvider } from '../providers/mail/port.ts';
import type { Model } from '../providers/model/port.ts';
import type { Outbound } from '../providers/outbound/port.ts';
import type { SandboxPool } from '../providers/sandbox/port.ts';
import type { EventDraft } from '../storage/commit-unit.ts';
import type { Database } from '../storage/database.ts';
import type { FileStore } from '../storage/files.ts';
import type { HousekeepingJob } from '../storage/maintenance.ts';
import type { Schema } from '../storage/schema.ts';
import type { Tracer } from '../tracing.ts';
import type { Tool, ToolSource } from './tasks/contract.ts';

/** The parts of a node that its domains use. None of them is running when domains start. */
export type Platform = {
  config: Config;
  log: Log;
  clock: Clock;
  /** null: nothing is traced. */
  tracer: Tracer | null;
  /** The root secret for signing and encryption, and former or other roots that are accepted for reading. */
  secretKey: string;
  acceptedKeys: readonly string[];
  database: Database;
  files: FileStore;
  actors: ActorSystem;
  placement: Placement;
  tokens: Tokens;
  hub: StreamHub;
  /** The events of all domains. */
  eventCatalogue: EventCatalogue;
  outbound: Outbound;
  /** For webhooks, which limit their connections themselves: many receivers may share an address, and one may hang. */
  deliveries: Outbound;
  /** For services that accounts connect: many accounts share an address, and answers may take seconds. */
  connected: Outbound;
  mail: MailProvider;
  model: Model;
  compute: Compute;
  sandbox: SandboxPool;
  /** For work that no caller waits for. */
  spareTime: SpareTime;
  /** Opens pages for agents; where none is configured, each call says so. */
  browser: Browser;
  /** The service's address for callers, without a trailing slash; call it only while a request is served. */
  publicUrl(): string;
};

/** With the tools and tool sources of all domains, which are created before any domain starts. */
export type StartPlatform = Platform & { agentTools: readonly Tool[]; toolSources: readonly ToolSource[] };

/** A running domain on one node. */
export type StartedDomain = {
  actors: AnyActor[];
  routes?: AnyRoute[];
  /** Exactly one domain authenticates callers. */
  authenticator?: Authenticator;
  /** Its retention jobs. */
  jobs?: HousekeepingJob[];
  metrics?(metrics: Metrics): void;
  /** With the events that this node has committed, of all domains: for metrics. Must not throw. */
  committed?(events: readonly EventDraft[]): void;
  /** The actors run now. */
  begin?(): void;
  /** The node leaves: running work has this long to end. */
  finish?(graceMs: number): Promise<unknown>;
  stop?(): Promise<void> | void;
};

/** @typeParam Parts what its tools and its start share on a node */
export type Domain<Parts = any> = {
  /** The name of its folder. */
  name: string;
  /** Id prefixes, by the kind of resource. */
  ids: Readonly<Record<string, IdPrefix>>;
  schema: Schema;
  /** The families of its events. */
  events?: EventFamilies;
  /** Its chapters of the API reference. */
  api?: ReferencePart;
  /** Called once for a node, before `agentTools`, `toolSource` and `start`, which get the returned parts: for parts that they share, such as a feed of prices. */
  open?(platform: Platform): Parts;
  /** Its tools for agents, in the order in which they are offered to models. */
  agentTools?(platform: Platform, parts: Parts): Tool[];
  /** The tools that depend on what an account has connected. */
  toolSource?(platform: Platform, parts: Parts): ToolSource;
  start(platform: StartPlatform, parts: Parts): StartedDomain;
};

/** Checks the types and returns the same. */
export function defineDomain<Parts>(domain: Domain<Parts>): Domain<Parts> {
  return domain;
}
