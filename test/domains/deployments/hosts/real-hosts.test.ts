/** The real hosts, where the environment has credentials of a test account: a site is published, is live, and is not sent again. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { machineClock } from '../../../../src/clock.ts';
import { hostCalls } from '../../../../src/domains/deployments/hosts/calls.ts';
import { defaultApiUrls } from '../../../../src/domains/deployments/hosts/catalogue.ts';
import type { HostAccess } from '../../../../src/domains/deployments/hosts/host.ts';
import { masked } from '../../../../src/domains/deployments/hosts/mask.ts';
import { createOutbound } from '../../../../src/providers/outbound/outbound.ts';
import { publicationOf, type Site } from '../../../support/hosts/host-world.ts';
import { hostRows } from '../../../support/hosts/rows.ts';

/** Variables by the field of the credentials. */
const variables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  vercel: { token: 'VERCEL_TOKEN' },
  netlify: { token: 'NETLIFY_AUTH_TOKEN' },
  workers: { token: 'CLOUDFLARE_API_TOKEN', account_id: 'CLOUDFLARE_ACCOUNT_ID' },
  pages: { token: 'CLOUDFLARE_API_TOKEN', account_id: 'CLOUDFLARE_ACCOUNT_ID' },
  expo: { token: 'EXPO_TOKEN' },
};

for (const { name, host, site: given, projectGiven = false } of hostRows) {
  const names = variables[name];
  if (names === undefined) continue;
  const missing = Object.values(names).filter((variable) => !process.env[variable]);
  const skip = missing.length > 0 && `no credentials: set ${missing.join(' and ')}`;

  test(`${name}: the real host accepts a site and serves it, and contents are not sent again`, { skip, timeout: 600_000 }, async (t) => {
    const outbound = createOutbound({ allow: [] });
    t.after(() => outbound.close());
    const credentials = Object.fromEntries(Object.entries(names).map(([field, variable]) => [field, process.env[variable]!]));
    const calls = hostCalls({
      ...{ outbound, clock: machineClock, apiUrl: defaultApiUrls[host.target], title: host.title, accountId: 'acct_1', credentials },
    });
    const kept: Record<string, string> = {};
    const access: HostAccess = { credentials, project: 'troupe-conformance', projectGiven, team: null, url: null, kept: {}, calls };
    const { signal } = new AbortController();
    const run = Date.now().toString(36);
    const site: Site = given ?? { 'index.html': `<!doctype html><title>${run}</title>`, 'a/style.css': `/* ${run} */` };
    await masked(host).identify(access, signal);
    for (const round of [1, 2]) {
      const lines: string[] = [];
      const publication = {
        ...publicationOf(`dep_${run}${round}`, site),
        keep: async (values: Record<string, string>) => Object.assign(kept, { ...values, ...kept }),
      };
      const { providerId } = await masked(host).publish(access, { ...publication, log: (text) => void lines.push(text) });
      let state = await masked(host).state(access, providerId, signal);
      while (state.kind === 'working') {
        await calls.pause(2_000, signal);
        state = await masked(host).state(access, providerId, signal);
      }
      assert.equal(state.kind, 'live', JSON.stringify(state));
      const url = state.kind === 'live' ? state.url : '';
      const response = await fetch(/^https?:/.test(url) ? url : `https://${url}`);
      assert.equal(response.status, 200);
      if (round === 2) assert.ok(!lines.some((line) => /lacks|requires/.test(line)), lines.join('\n'));
    }
  });
}
