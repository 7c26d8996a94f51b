/**
 * The actors of other domains that an account sends messages to. Those domains depend on this one, so this one does not import them: a port
 * names only the kind of actor and the commands that are sent. The actor's own reference is checked against the port where it is made
 * (`satisfies`). Commands are properties, not methods: only then the compiler refuses an actor that accepts less than is sent.
 */

import { actorRef, type Contract } from '../../../actors/define-actor.ts';
import type { WaitingFor } from './entity.ts';

/** Creates an account for a new user. */
export type RegistrationPort = {
  commands: {
    /** Answers `create`: the account exists. */
    created: (input: { registrationId: string; part: 'account' }) => unknown;
  };
  queries: Contract['queries'];
};

/** Starts when the account admits it, and does not continue while a limit of the plan is reached. */
export type TaskPort = {
  commands: {
    /** It is this task's turn. */
    begin: (input: Record<string, never>) => unknown;
    /** The task cannot begin now; contains the reason. */
    mustWait: (input: { waitingFor: WaitingFor }) => unknown;
    /** A requested place cannot be given now: as many agents are at work as the plan allows. */
    placeLacking: (input: { place: string; allowed: number }) => unknown;
    /** A requested place is given. */
    placeGiven: (input: { place: string }) => unknown;
    /** The usage of an agent is counted. */
    counted: (input: { place: string }) => unknown;
    /** A limit of the plan is reached, or no longer is. Answered with `goOn`. */
    planLimit: (input: { reached: boolean; limit: WaitingFor | null }) => unknown;
  };
  queries: Contract['queries'];
};

export const registrationPort = actorRef<RegistrationPort>('email_address');
export const taskPort = actorRef<TaskPort>('task');
