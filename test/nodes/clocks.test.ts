/**
 * Nodes whose machines' clocks differ by a minute or are set: tokens and ids of one node are valid on the other, and both use the
 * database's time.
 */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { TOTP } from 'otpauth';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { setClock, settableClock, withoutFaketime } from '../support/faketime.ts';
import type { NodeProcess } from '../support/node-process.ts';
import { withoutRedis } from '../support/redis.ts';
import { Caller } from '../support/service.ts';
import { StreamClient } from '../support/stream-client.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const skip = withoutRedis || withoutFaketime;
const options = { skip, timeout: 300_000 };
const password = 'a long enough password';

let cluster: ClusterProcesses;
let pairs: [NodeProcess, NodeProcess][];
let folder: Awaited<ReturnType<typeof temporaryFolder>>;

before(async () => {
  if (skip) return;
  folder = await temporaryFolder();
  cluster = await ClusterProcesses.start({ nodes: 0, redis: true, links: false, env: { DATA_DIR: folder.path, DRAIN_GRACE_MS: '0' } });
  const [early, late] = await Promise.all(
    [30, -30].map((seconds) => {
      const clock = settableClock(join(folder.path, `clock of ${seconds}`), seconds);
      return cluster.add({ ...clock, DATA_DIR: folder.path });
    }),
  );
  await cluster.untilReady();
  pairs = [
    [early!, late!],
    [late!, early!],
  ];
});
after(async () => {
  await cluster?.close();
  await folder?.remove();
});

test('the clocks of the processes differ, and the nodes report it', options, async () => {
  for (const [node] of pairs) await until(() => /"database_ahead_ms":-?(29|30)\d{3}/.test(node.log), `the difference of ${node.name}`);
});

test('tokens, codes, keys and sockets of one node are accepted by the other, and end on both at the same time', options, async () => {
  for (const [n, [here, there]] of pairs.entries()) {
    const email = `ann-${n}@example.com`;
    const ann = await Caller.register(here, `ann-${n}`);
    const me = await ann.at(there).json('GET', '/v1/auth/me');
    assert.ok(Math.abs(Date.parse(me.created_at) - Date.now()) < 15_000, `the time is the database's: ${me.created_at}`);
    const nobody = new Anonymous(there);
    const { refresh_token } = await nobody.post('/auth/login', { email, password });
    const { access_token } = await new Anonymous(here).post('/auth/refresh', { refresh_token });
    const socket = await StreamClient.open(Number(new URL(there.url).port));
    socket.send({ type: 'auth', token: access_token });
    await socket.untilMessage('auth_ok');
    socket.vanish();

    const { secret } = await ann.json('POST', '/v1/auth/2fa/enroll');
    const app = new TOTP({ secret });
    await ann.at(there).json('POST', '/v1/auth/2fa/confirm', { code: app.generate() });
    const { challenge_token } = await new Anonymous(here).post('/auth/login', { email, password });
    const next = app.generate({ timestamp: Date.now() + 30_000 });
    const signedIn = await nobody.post('/auth/login/2fa', { challenge_token, code: next });

    await nobody.post('/auth/verify-email', { token: await mailed(email, 'registration-') });
    await new Anonymous(here).post('/auth/forgot-password', { email });
    await nobody.post('/auth/reset-password', { token: await mailed(email, 'req_'), password: 'another long password' });
    const old = await fetch(`${here.url}/v1/auth/me`, { headers: { authorization: `Bearer ${signedIn.access_token}` } });
    assert.ok(old.status === 401 || old.status === 200);
  }
});

test('links, checkouts, idempotency keys and timers of one node are valid on the other', options, async () => {
  for (const [here, there] of pairs) {
    const bob = await Caller.register(here);
    const { id } = await bob.json('POST', '/v1/workspaces', { name: 'files' });
    const form = new FormData();
    form.append('file', new Blob(['a,b\n1,2\n']), 'a.csv');
    await bob.json('POST', `/v1/workspaces/${id}/files`, form);
    const [file] = await bob.json('GET', `/v1/workspaces/${id}/files`);
    const link = new URL(file.download_url);
    assert.equal((await fetch(`${there.url}${link.pathname}${link.search}`)).status, 200);

    const page = await bob.json('POST', '/v1/billing/checkout', {
      plan: 'pro',
      billing_period: 'monthly',
      success_url: `${here.url}/yes`,
      cancel_url: `${here.url}/no`,
    });
    const lifeMs = Date.parse(page.expires_at) - Date.now();
    assert.ok(lifeMs > 29 * 60_000 && lifeMs < 31 * 60_000, page.expires_at);
    const shown = await fetch(`${there.url}${new URL(page.checkout_url).pathname}`);
    assert.equal(shown.status, 200);

    const order = { description: 'once', amount: 10, vendor: 'Acme' };
    const key = { 'idempotency-key': `once-${id}` };
    const first = await bob.json('POST', '/v1/commerce/orders', order, key);
    assert.equal((await bob.at(there).json('POST', '/v1/commerce/orders', order, key)).id, first.id);
  }
});

test(
  "a step of a node's clock by seconds or an hour, forward or back, fails or delays no request and causes no wrong time",
  options,
  async () => {
    const [[here, there]] = pairs as [[NodeProcess, NodeProcess]];
    const cat = await Caller.register(there);
    let isOver = false;
    const tookMs: number[] = [];
    const asking = Array.from({ length: 4 }, async (_, client) => {
      for (let n = 0; !isOver; n++) {
        const beganMs = performance.now();
        const made = await cat.at(n % 2 === 0 ? here : there).json('POST', '/v1/workspaces', { name: `${client} ${n}` });
        tookMs.push(performance.now() - beganMs);
        assert.ok(Math.abs(Date.parse(made.created_at) - Date.now()) < 15_000, `the time is the database's: ${made.created_at}`);
      }
    });
    const stepped = (async () => {
      for (const seconds of [41, 30, 19, 3_630, -3_570, 30]) {
        const noted = here.log.length;
        setClock(here.env, seconds);
        // So long that it has compared its clock with the database's at least once.
        const ahead = new RegExp(
          `"database_ahead_ms":${-seconds - 1}\\d{3}|"database_ahead_ms":${-seconds}\\d{3}|"database_ahead_ms":${1 - seconds}\\d{3}`,
        );
        while (!ahead.test(here.log.slice(noted))) await new Promise((resolve) => setTimeout(resolve, 20));
        assert.equal((await here.readiness()).status, 200);
      }
    })();
    await stepped.finally(() => (isOver = true));
    await Promise.all(asking);
    assert.ok(
      tookMs.length > 20 && Math.max(...tookMs) < 8_000,
      `${tookMs.length} requests, the slowest of ${Math.round(Math.max(...tookMs))} ms`,
    );
  },
);

class Anonymous {
  private readonly node: NodeProcess;

  constructor(node: NodeProcess) {
    this.node = node;
  }

  async post(path: string, body: object): Promise<any> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${this.node.url}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await response.text();
    assert.ok(response.ok, `POST ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }
}

/** The token of a mail to the address. @param begin of its file's name */
async function mailed(to: string, begin: string): Promise<string> {
  for (;;) {
    const names = await readdir(join(folder.path, 'mail')).catch(() => []);
    for (const name of names.filter((one) => one.startsWith(begin) && one.endsWith('.eml'))) {
      const text = (await readFile(join(folder.path, 'mail', name), 'utf8')).replace(/=\r\n/g, '').replaceAll('=3D', '=');
      if (text.includes(`To: ${to}`)) return /^v4\.public\.\S+/m.exec(text)![0];
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
