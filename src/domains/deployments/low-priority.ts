/** Deployments have a lower priority than requests: deployments are created, and contents are read, in turns of the spare time. */
import type { SpareTime } from '../../edge/http/spare-time.ts';
import { FairGate } from '../../fair-queue.ts';
import type { Creations } from './deployment/create.ts';
import type { SnapshotParts } from './snapshot/snapshots.ts';

/** More at once are not faster: they share the processors of the database with what callers read and write. */
const creationsAtOnce = 2;
/** Requests wait for them: fifty at once take some seconds. */
const maxWaitingCreations = 1_000;
const maxWaitMs = 25_000;
/**
 * Times the processor time of a content: the statements of the snapshot and the commits of all later steps. A node with requests creates about six deployments
 * a second.
 */
const creationPieces = 15;

/**
 * A content is read to be hashed, copied or sent, so its turn stands for all of that: nearly all work of a deployment is for its contents. The workspace
 * of a content stands for its account.
 */
export function filesInTurns(files: SnapshotParts['files'], spareTime: Pick<SpareTime, 'turn'>): SnapshotParts['files'] {
  return {
    put: (key, content, maxBytes) => files.put(key, content, maxBytes),
    async open(key, range) {
      await spareTime.turn(key.slice(0, key.indexOf('/')));
      return files.open(key, range);
    },
    remove: (key) => files.remove(key),
  };
}

/** Creations pass it: fifty at once would fill the few connections that all reads of this node share, and take the processor from all other requests. */
export function creationGate(spareTime: Pick<SpareTime, 'turn' | 'waitingRequests'>): Creations {
  const gate = new FairGate({
    ...{ maxRunning: creationsAtOnce, maxWaiting: maxWaitingCreations, maxWaitMs },
    full: 'Too many deployments begin at once; try again shortly',
  });
  return {
    async pass(account, create) {
      // An agent's creation is no request: the node seems less busy by one while it waits.
      spareTime.waitingRequests++;
      const leave = await gate
        .enter(account)
        .then(async (leave) => {
          await spareTime.turn(account, creationPieces);
          return leave;
        })
        .finally(() => spareTime.waitingRequests--);
      try {
        return await create();
      } finally {
        leave();
      }
    },
  };
}
