/**
 * The largest sites block the event loop for at most 50 ms at a time, in processor time of the main thread; on a slow machine for longer in
 * proportion (test/support/loop-watch.ts).
 */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { setImmediate as round } from 'node:timers/promises';
import { checkSite } from '../../../src/domains/deployments/deployment/check-site.ts';
import { assetKey } from '../../../src/domains/deployments/hosts/cloudflare-api.ts';
import type { HostAnswer, HostRequest } from '../../../src/domains/deployments/hosts/host.ts';
import { netlify } from '../../../src/domains/deployments/hosts/netlify.ts';
import { pages } from '../../../src/domains/deployments/hosts/pages.ts';
import { vercel } from '../../../src/domains/deployments/hosts/vercel.ts';
import { workers } from '../../../src/domains/deployments/hosts/workers.ts';
import type { SiteFile } from '../../../src/domains/deployments/snapshot/site.ts';
import { openSnapshots, takeSnapshotText } from '../../../src/domains/deployments/snapshot/snapshots.ts';
import { isShortTurn, LoopWatch } from '../../support/loop-watch.ts';
import { startWorkspaceNode } from '../../support/workspace-node.ts';

/** The compiler and the garbage collector may fall into one sample; work that is too long is too long each time. */
const samples = 4;
const { signal } = new AbortController();
const content = Buffer.from('<h1>A page</h1>');

/** Like the read of a true file, it ends in a later turn of the loop. */
async function open(): Promise<Readable> {
  await round();
  return Readable.from([content]);
}

async function holdsTheLoopBriefly(work: () => Promise<unknown>): Promise<void> {
  const watch = new LoopWatch();
  const longest: number[] = [];
  try {
    for (let sample = 0; sample < samples; sample++) {
      await round();
      watch.take();
      await work();
      await round();
      longest.push(watch.take());
      if (isShortTurn(longest.at(-1)!)) return;
    }
  } finally {
    watch.stop();
  }
  assert.fail(`turns of the loop took ${longest.map((ms) => ms.toFixed(0)).join(', ')} ms`);
}

function siteOf(count: number): SiteFile[] {
  return Array.from({ length: count }, (_, n) => ({
    ...{ path: `pages/of/the/site/${n % 100}/page-${n}.html`, type: 'text/html', sizeBytes: content.length },
    ...{ sha256: n.toString(16).padStart(64, '0'), contentKey: `ws/file/${n}` },
  }));
}

test('a snapshot of 20,000 files is taken, read and checked, and its hashes are read and stored', async (t: TestContext) => {
  const count = 20_000;
  const node = await startWorkspaceNode(t);
  const { id } = await node.createWorkspace('Large');
  const accountId = 'acct_ann';
  await node.database.pool.query(
    `insert into workspace_file (id, workspace_id, account_id, name, type, size_bytes, sha256, version, generation, content_key, status, created_at)
      select 'wsf_' || n, $1, $2, 'pages/of/the/site/' || n % 100 || '/page-' || n || '.html', 'text/html', $3, lpad(to_hex(n), 64, '0'), 0, 0,
        'ws/file/' || n, 'present', now() from generate_series(1, ${count}) n`,
    [id, accountId, content.length],
  );
  const files = { ...node.files, open };
  const snapshots = openSnapshots({ ...node, files, limitsOf: async () => ({ bytes: -1, files: -1 }) });
  await holdsTheLoopBriefly(async () => {
    const { snapshotId } = await snapshots.take({ id, accountId });
    const taken = await snapshots.files(snapshotId);
    assert.equal(taken.length, count);
    checkSite(workers, taken);
    assert.equal((await snapshots.sha1(snapshotId, taken, signal)).length, count);
  });
});

test('a snapshot reads one row for each content, however many earlier snapshots reference it', async (t: TestContext) => {
  const [files, snapshots] = [500, 20];
  const node = await startWorkspaceNode(t);
  const { pool } = node.database;
  await pool.query(
    `insert into workspace_file (id, workspace_id, account_id, name, type, size_bytes, sha256, version, generation, content_key, status, created_at)
      select 'wsf_' || n, 'ws_1', 'acct_1', n || '.html', 'text/html', 1, lpad('', 64, '0'), 0, 0, 'ws/file/' || n, 'present', now()
      from generate_series(1, ${files}) n`,
  );
  await pool.query(
    `insert into snapshot_file (snapshot_id, path, account_id, type, size_bytes, sha256, sha1, content_key)
      select 'snap_' || s, n || '.html', 'acct_1', 'text/html', 1, lpad('', 64, '0'), case when s > 1 then lpad('', 40, '1') end, 'ws/file/' || n
      from generate_series(1, ${snapshots}) s, generate_series(1, ${files}) n`,
  );
  await pool.query(`insert into snapshot (id, account_id, workspace_id, created_at) values ('snap_new', 'acct_1', 'ws_1', now())`);
  await pool.query('analyze workspace_file, snapshot_file');
  const { rows } = await pool.query({ text: `explain (analyze, format json) ${takeSnapshotText}`, values: ['snap_new', 'ws_1'] });
  const plan = JSON.stringify(rows[0]['QUERY PLAN']);
  const [known] = /\{[^{}]*"Index Name":"snapshot_file_by_content_and_sha1"[^{}]*\}/.exec(plan) ?? [];
  assert.ok(known !== undefined, plan);
  const { 'Actual Rows': rowsEach, 'Actual Loops': loops } = JSON.parse(known);
  assert.deepEqual({ rowsEach, loops }, { rowsEach: 1, loops: files });
});

test('a site of 15,000 files is published at hosts that lack 1,000 of them', async () => {
  const files = siteOf(15_000);
  const hashes = files.map((_, n) => n.toString(16).padStart(40, '0'));
  const publication = () => ({
    ...{ deploymentId: 'dep_1', files, isRepeat: false, providerId: null, signal, log() {} },
    open,
    sha1: async () => hashes,
    created: async () => {},
    outcomeUnknown() {},
    keep: async (values: Record<string, string>) => values,
  });
  const access = (answer: (request: HostRequest) => object) => ({
    ...{ credentials: { token: 'a token', account_id: 'account' }, project: 'site', projectGiven: true, team: null, url: null, kept: {} },
    calls: {
      pause: async () => {},
      request: async (request: HostRequest): Promise<HostAnswer> => {
        await round();
        const text = JSON.stringify(answer(request));
        return { status: 200, headers: {}, json: JSON.parse(text), text };
      },
    },
  });
  await holdsTheLoopBriefly(async () => {
    let creations = 0;
    const answer = ({ path }: HostRequest) => {
      if (!path.startsWith('/v13/')) return {};
      return creations++ === 0 ? { error: { code: 'missing_files', missing: hashes.slice(0, 1_000) } } : { id: 'dpl_1' };
    };
    await vercel.publish(access(answer), publication());
    assert.equal(creations, 2);
  });
  await holdsTheLoopBriefly(async () => {
    const deploy = { id: 'deploy_1', site_id: 'site', state: 'uploading', title: 'dep_1', required: hashes.slice(0, 1_000) };
    const answer = ({ path, method }: HostRequest) => {
      if (/\/files\//.test(path)) return {};
      if (/\/deploys\/|\/deploys$/.test(path) || method === 'POST') return deploy;
      return { id: 'site', name: 'site' };
    };
    await netlify.publish(access(answer), publication());
  });
  await holdsTheLoopBriefly(async () => {
    const buckets = [files.slice(0, 1_000).map(assetKey)];
    let sent = 0;
    const answer = ({ path }: HostRequest) => {
      if (path.endsWith('/assets/upload?base64=true')) sent++;
      if (path.endsWith('/assets-upload-session')) return { success: true, result: { jwt: 'a token', buckets } };
      return { success: true, result: { jwt: 'a token', subdomain: 'site', enabled: true, deployment_id: 'a'.repeat(32) } };
    };
    await workers.publish(access(answer), publication());
    assert.equal(sent, 1);
  });
  await holdsTheLoopBriefly(async () => {
    const missing = files.slice(0, 1_000).map(assetKey);
    const jwt = ['{}', '{"max_file_count_allowed":20000}', ''].map((part) => Buffer.from(part).toString('base64url')).join('.');
    let lacked = 0;
    const answer = ({ path }: HostRequest) => {
      if (path === '/pages/assets/check-missing') lacked++;
      return { success: true, result: path === '/pages/assets/check-missing' ? missing : { jwt, id: 'deployment', name: 'site' } };
    };
    await pages.publish(access(answer), publication());
    assert.equal(lacked, 1);
  });
});
