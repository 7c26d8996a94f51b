/**
 * The deploy configurations of an account: one actor, whose id is the account's. Those of live mode serve deployments of both modes, those of test mode
 * deployments of test mode alone: no test key decides where live work is published.
 */
import { type ActorRef, actorRef } from '../../../actors/define-actor.ts';
import type { Mode } from '../../../mode.ts';
import type { DeployConfigsPort } from '../../tasks/contract.ts';
import type { Target } from '../targets.ts';
import type { DeployConfig } from './config.ts';

/** Of an account in each mode. */
export const maxConfigs = 50;

export type DeployConfigsContract = {
  commands: {
    /** Refused with `conflict` where another of its mode has the name, and beyond `maxConfigs`. A repeat with the same id returns the stored one. */
    add(input: DeployConfig): DeployConfig;
    /** Refused with `not_found`. Deployments that have begun keep using the configuration as it was. */
    remove(input: { id: string }): null;
    /** Stores values of the host; existing values stay, except those in `gone`. Returns the stored values; an empty object for a deleted configuration. */
    keep(input: { id: string; values: Record<string, string>; gone?: Record<string, string> }): Record<string, string>;
  };
  queries: {
    /** Those that serve the mode, newest first. */
    list(input: { mode: Mode }): DeployConfig[];
    /** null also where it does not serve the mode. */
    find(input: { id: string; mode: Mode }): DeployConfig | null;
    /** The newest of this target that serves the mode. */
    newest(input: { target: Target; mode: Mode }): DeployConfig | null;
  };
};

export const deployConfigs = actorRef<DeployConfigsContract>('deploy_configs') satisfies ActorRef<DeployConfigsPort>;
