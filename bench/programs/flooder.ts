/** Sends requests when they are due, whether or not the service keeps up, and says how those fared that were let in. */
import { flood } from '../../test/support/flood.ts';
import { serveCalls } from '../support/program.ts';
import { percentile } from '../support/statistics.ts';

export type Offer = {
  url: string;
  authorization: string;
  what: 'commands' | 'lists';
  perSecond: number;
  ms: number;
  maxConnections: number;
  initialConnections: number;
};
export type Offered = {
  admitted: number;
  refused: number;
  /** Neither done nor refused. */
  failed: number;
  /** Of those let in, from the moment they were due. */
  p99Ms: number;
  /** Requests were sent that much after they were due, at most. */
  latestSentMs: number;
};

let created = 0;

serveCalls({
  async offer({ authorization, what, ...load }: Offer): Promise<Offered> {
    const common = { ...load, headers: { Authorization: authorization } };
    const outcome = await flood(
      what === 'lists'
        ? { ...common, line: 'GET /v1/workspaces?limit=100' }
        : { ...common, line: 'POST /v1/workspaces', body: () => JSON.stringify({ name: `flood ${process.pid} ${++created}` }) },
    );
    const { statuses, broken, unsent, admittedMs, refusedMs, latestSentMs } = outcome;
    const answered = Object.values(statuses).reduce((sum, count) => sum + count, 0);
    return {
      admitted: admittedMs.length,
      refused: refusedMs.length + unsent,
      failed: answered - admittedMs.length - refusedMs.length + broken,
      p99Ms: percentile(admittedMs, 0.99),
      latestSentMs,
    };
  },
});
