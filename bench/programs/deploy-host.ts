/** A host of sites for benches: the stand-in of Vercel's API in a process of its own, which notes when it has all of a deployment. */
import { VercelStandIn } from '../../test/support/hosts/vercel-stand-in.ts';
import { machineMs } from '../support/machine-clock.ts';
import { serveCalls } from '../support/program.ts';

export type Received = {
  /** The last deployment was there at this time of the machine. */
  atMs: number;
  deployments: number;
  uploads: number;
};

let atMs = 0;

class NotingHost extends VercelStandIn {
  protected override answer(request: Parameters<VercelStandIn['answer']>[0]) {
    const before = this.deployments.length;
    const answer = super.answer(request);
    const made = this.deployments[before];
    if (made !== undefined) {
      atMs = machineMs();
      // Waiting is not measured: the next poll finds it ready.
      made.readyState = 'READY';
    }
    return answer;
  }
}

let host: NotingHost;

serveCalls({
  async listen(): Promise<string> {
    host = await NotingHost.start({ after() {} });
    return host.apiUrl;
  },
  received: (): Received => ({ atMs, deployments: host.deployments.length, uploads: host.uploads.length }),
  /** It lacks every content from now on. */
  forget(): void {
    host.contents.clear();
    host.requests.length = 0;
    host.uploads.length = 0;
  },
});
