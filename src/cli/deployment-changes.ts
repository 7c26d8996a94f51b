/** Changes of deployments as the event stream reports them: a status that lasts less than the pause between two polls is seen too. */
import type { Client } from './client.ts';
import type { Deployment } from './deploy-output.ts';
import { type EventSocket, openEventSocket } from './socket.ts';
import type { TaskEvent } from './task.ts';

const types: readonly string[] = ['deployment.building', 'deployment.deploying', 'deployment.live', 'deployment.failed'];
/** An event usually arrives before the poll that sees the same state; without it the polled state is enough. */
const maxWaitMs = 10_000;
/** Of all deployments of the account; older ones are dropped. */
const maxSeen = 1_000;

export interface DeploymentChanges {
  /** The deployment at each change since the last call, up to the polled state, which is the last one. */
  upTo(polled: Deployment): Promise<Deployment[]>;
  close(): void;
}

/** Those from now on. Where there is no stream, only polled states. */
export async function watchDeployments({ url, token }: Client, signal: AbortSignal): Promise<DeploymentChanges> {
  const topics = types.map((type) => `type:${type}`);
  const isChosen = ({ type, data }: TaskEvent) => types.includes(type) && isDeployment(data.deployment);
  const socket = token === null ? 'refused' : await openEventSocket(url, { token, topics, isChosen, resumeFrom: null, signal });
  return typeof socket === 'string' ? { upTo: async (polled) => [polled], close() {} } : changesOf(socket);
}

function isDeployment(data: unknown): data is Deployment {
  const { id, status } = (data ?? {}) as Partial<Deployment>;
  return typeof id === 'string' && typeof status === 'string';
}

function changesOf(socket: EventSocket): DeploymentChanges {
  const seen: Deployment[] = [];
  let hasEnded = false;
  let wake = () => {};
  const read = async () => {
    for await (const { data } of socket.events()) {
      seen.push(data.deployment as Deployment);
      if (seen.length > maxSeen) seen.shift();
      wake();
    }
    hasEnded = true;
    wake();
  };
  void read();
  return {
    async upTo(polled) {
      const isPolled = ({ id, status }: Deployment) => id === polled.id && status === polled.status;
      const untilMs = performance.now() + maxWaitMs;
      for (;;) {
        const at = seen.findIndex(isPolled);
        if (at !== -1)
          return [
            ...seen
              .splice(0, at + 1)
              .filter(({ id }) => id === polled.id)
              .slice(0, -1),
            polled,
          ];
        const leftMs = untilMs - performance.now();
        if (hasEnded || leftMs <= 0) return [...seen.splice(0).filter(({ id }) => id === polled.id), polled];
        const timer = Promise.withResolvers<void>();
        wake = timer.resolve;
        const timeout = setTimeout(timer.resolve, leftMs);
        await timer.promise;
        clearTimeout(timeout);
      }
    },
    close: socket.close,
  };
}
