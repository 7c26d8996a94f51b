/** Commands, queries and effects of a deployment. */
import { type ActorRef, actorRef, type EffectResult } from '../../../actors/define-actor.ts';
import type { Mode } from '../../../mode.ts';
import type { DeploymentPort } from '../../tasks/contract.ts';
import type { DeployConfig } from '../configs/config.ts';
import type { FailureCode } from '../hosts/host-failure.ts';
import type { Snapshot } from '../snapshot/site.ts';
import type { Target } from '../targets.ts';
import type { DeploymentRow } from './entity.ts';
import type { LogSource } from './log-entity.ts';

export type NewDeployment = {
  accountId: string;
  mode: Mode;
  workspaceId: string;
  target: Target;
  /** null: the newest configuration of the target when it begins. A test key's deployment may have none. */
  configId: string | null;
  /** The task it belongs to, by an agent or by `auto_deploy`. */
  taskId: string | null;
  /** The configuration as it is at creation. Absent: it is looked up when the deployment begins. */
  config?: DeployConfig | null;
  /** Of the workspace at creation. Absent: it is taken when the deployment begins. */
  snapshot?: Snapshot | null;
  /** These files are published as they are: those of an earlier deployment. */
  site?: Snapshot | null;
};

export type LogLine = { at: number; source: LogSource; text: string };

export type Failed = { kind: 'failed'; code: FailureCode; message: string };
/** `site`: null as long as it must be built. */
export type Prepared = { kind: 'prepared'; config: DeployConfig | null; snapshot: Snapshot; site: Snapshot | null };
export type Built = { kind: 'built'; site: Snapshot };
/** `isDoubtful`: the outcome of a creation was unknown, so the host may create it twice. */
export type Published = { kind: 'published'; providerId: string; isDoubtful?: boolean };
export type Polled =
  /** `detail`: the host's own state; `isNews`: it differs from the one before. */
  | { kind: 'working'; detail: string; isNews: boolean; polls: number }
  | { kind: 'live'; url: string }
  /** The host itself has ended it. */
  | { kind: 'ended'; code: FailureCode; message: string };
/** How often the host was polled before, and its last own state. */
export type Poll = { polls: number; detail: string };
export type Probed = { kind: 'answered'; status: number };
/** `isLive`: the host had published it already, and does not end that. */
export type CancelledAtHost = { kind: 'cancelled'; providerId: string; isLive?: boolean } | { kind: 'nothing' };
/** Ids at the host. */
export type CopiesRemoved = { kind: 'looked'; kept: string | null; removed: string[] };

type Nothing = Record<string, never>;

export type DeploymentContract = {
  commands: {
    /** Returns the existing deployment if the id is used already. */
    create(input: NewDeployment): DeploymentRow;
    /** Ends it at once, whatever runs. Refused with `conflict` when it has ended. */
    cancel(input: null): DeploymentRow;
    begin(input: Nothing): null;
    /** The host has returned an id. Returns whether the effect must continue. */
    created(input: { effectId: string; providerId: string }): boolean;
    /** Log lines of an effect. Returns whether the effect must continue. */
    logged(input: { effectId: string; lines: LogLine[] }): boolean;
    prepared(input: EffectResult<Prepared | Failed>): null;
    built(input: EffectResult<Built | Failed>): null;
    published(input: EffectResult<Published | Failed>): null;
    polled(input: EffectResult<Polled | Failed>): null;
    probed(input: EffectResult<Probed | Failed>): null;
    cancelledAtHost(input: EffectResult<CancelledAtHost | Failed>): null;
    copiesRemoved(input: EffectResult<CopiesRemoved | Failed>): null;
    /** By timer. */
    pollAgain(input: Poll): null;
    /** By timer: searches the host for a second deployment. */
    lookAgain(input: Nothing): null;
    timedOut(input: Nothing): null;
  };
  queries: { get(input: null): DeploymentRow | null };
  effects: {
    prepare(input: Nothing): Prepared | Failed;
    build(input: Nothing): Built | Failed;
    publish(input: Nothing): Published | Failed;
    poll(input: Poll): Polled | Failed;
    probe(input: { url: string; untilMs: number }): Probed | Failed;
    cancelAtHost(input: Nothing): CancelledAtHost | Failed;
    removeCopies(input: Nothing): CopiesRemoved | Failed;
  };
};

export const deployment = actorRef<DeploymentContract>('deployment') satisfies ActorRef<DeploymentPort>;
