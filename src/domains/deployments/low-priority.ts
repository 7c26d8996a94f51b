/**
 * Deployments have a lower priority than requests: deployments are created, and contents are read, in turns of the spare time. Each of the two has its own lane,
 * so a node that always has creations still sends contents.
 */
import type { Clock } from '../../clock.ts';
import type { SpareTime } from '../../edge/http/spare-time.ts';
import { FairGate } from '../../fair-queue.ts';
import type { Creations } from './deployment/create.ts';
import type { DeploymentRow } from './deployment/entity.ts';

/** More at once are not faster: they share the processors of the database with what callers read and write. */
const creationsAtOnce = 2;
/** Requests wait for them: fifty at once take some seconds. */
const maxWaitingCreations = 1_000;
const maxWaitMs = 25_000;
/**
 * Times the processor time of a content: the statements of the snapshot and the commits of all later steps. A node with requests creates about five deployments
 * a second, or half as many while contents wait.
 */
const creationPieces = 12;

/** The function that it returns is awaited before each read of a content. */
export type ContentTurns = (deployment: Pick<DeploymentRow, 'accountId' | 'createdAt'>) => () => Promise<void>;

/**
 * A content is read to be hashed, copied or sent, so its turn stands for all of that: nearly all work of a deployment is for its contents. A deployment that has
 * used half of its time does not wait for requests any more.
 *
 * @param timeoutMs of a deployment
 */
export function contentTurns({ spareTime, clock, timeoutMs }: ContentTurnParts): ContentTurns {
  const lane = spareTime.lane();
  return ({ accountId, createdAt }) =>
    () =>
      lane.turn(accountId, { isUrgent: clock.nowMs() >= createdAt + timeoutMs / 2 });
}

export type ContentTurnParts = { spareTime: Pick<SpareTime, 'lane'>; clock: Clock; timeoutMs: number };

/** Creations pass it: fifty at once would fill the few connections that all reads of this node share, and take the processor from all other requests. */
export function creationGate(spareTime: Pick<SpareTime, 'lane' | 'waitingRequests'>): Creations {
  const lane = spareTime.lane(creationPieces);
  const gate = new FairGate({
    ...{ maxRunning: creationsAtOnce, maxWaiting: maxWaitingCreations, maxWaitMs },
    full: 'Too many deployments begin at once; try again shortly',
  });
  return {
    async pass(account, creator, create) {
      const waitingRequests = creator === 'request' ? 1 : 0;
      spareTime.waitingRequests += waitingRequests;
      const leave = await gate
        .enter(account)
        .then(async (leave) => {
          await lane.turn(account);
          return leave;
        })
        .finally(() => (spareTime.waitingRequests -= waitingRequests));
      try {
        return await create();
      } finally {
        leave();
      }
    },
  };
}
