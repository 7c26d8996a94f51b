/** The actors of other domains that a file sends messages to. Those domains depend on this one: a port names only the commands that are sent. */

import { actorRef, type Contract } from '../../../actors/define-actor.ts';

/** A file that was written for a task, with its content at that time. */
export type DeliveredFile = { name: string; type: string; sizeBytes: number; sha256: string; contentKey: string };

/** A task, whose agents write files; it lists them as deliverables. */
export type DeliveryPort = {
  commands: { delivered: (input: DeliveredFile) => unknown };
  queries: Contract['queries'];
};

export const deliveryPort = actorRef<DeliveryPort>('task');
