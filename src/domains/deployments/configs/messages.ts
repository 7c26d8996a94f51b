/** The deploy configurations of an account: one actor, whose id is the account's. */
import { type ActorRef, actorRef } from '../../../actors/define-actor.ts';
import type { DeployConfigsPort } from '../../tasks/contract.ts';
import type { Target } from '../targets.ts';
import type { DeployConfig } from './config.ts';

export type DeployConfigsContract = {
  commands: {
    /** Refused with `conflict` where another has the name, and beyond `maxConfigs`. The same id again: what is there. */
    add(input: DeployConfig): DeployConfig;
    /** Refused with `not_found`. */
    remove(input: { id: string }): null;
    /** What the host has named; values that are there stay. Returns what holds; an empty object for a configuration that is gone. */
    keep(input: { id: string; values: Record<string, string> }): Record<string, string>;
  };
  queries: {
    /** Newest first. */
    list(input: null): DeployConfig[];
    find(input: { id: string }): DeployConfig | null;
    /** The newest of this target. */
    newest(input: { target: Target }): DeployConfig | null;
  };
};

export const deployConfigs = actorRef<DeployConfigsContract>('deploy_configs') satisfies ActorRef<DeployConfigsPort>;
