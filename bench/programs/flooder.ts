/** Sends requests when they are due, whether or not the service keeps up, and says how those fared that were let in. */
import { flood } from '../../test/support/flood.ts';
import { serveCalls } from '../support/program.ts';
import { percentile } from '../support/statistics.ts';

type Offer = { url: string; authorization: string; what: string; perSecond: number; ms: number; maxConnections: number };

let created = 0;

serveCalls({
  async offer({ url, authorization, what, perSecond, ms, maxConnections }: Offer) {
    const headers = { Authorization: authorization };
    const list = { line: 'GET /v1/workspaces?limit=100', headers };
    const command = () => ({ line: 'POST /v1/workspaces', headers, body: JSON.stringify({ name: `flood ${++created}` }) });
    const { statuses, broken, unsent, admittedMs, refusedMs } = await flood({
      url,
      perSecond,
      ms,
      maxConnections,
      request: what === 'lists' ? () => list : command,
    });
    const answered = Object.values(statuses).reduce((sum, count) => sum + count, 0);
    return {
      admittedPerSecond: (admittedMs.length * 1_000) / ms,
      p99Ms: percentile(admittedMs, 0.99),
      refused: refusedMs.length + unsent,
      failed: answered - admittedMs.length - refusedMs.length + broken,
    };
  },
});
