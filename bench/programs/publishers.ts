/** Accounts that begin a deployment each in one moment, in a process of their own: what they ask for meanwhile is no work of what measures. */
import { machineMs } from '../support/machine-clock.ts';
import { serveCalls } from '../support/program.ts';
import { type File, Publisher } from '../support/publisher.ts';

export type Published = {
  /** Answers that refused a creation for now. */
  refusals: number;
  tookMs: number;
};

const pollMs = 2_000;
const publishers: Publisher[] = [];

serveCalls({
  async register({ url, sites }: { url: string; sites: File[][] }): Promise<void> {
    for (const [i, files] of sites.entries()) publishers.push(await Publisher.register(url, `publisher${i}@example.com`, files));
  },
  /** All at once; resolves when all are live. */
  async publish(): Promise<Published> {
    const beganMs = machineMs();
    const refusals = await Promise.all(publishers.map((publisher) => publisher.publish(pollMs)));
    return { refusals: refusals.reduce((sum, count) => sum + count, 0), tookMs: machineMs() - beganMs };
  },
});
