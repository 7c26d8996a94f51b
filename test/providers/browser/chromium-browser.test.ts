import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createFetchUrl } from '../../../src/domains/tasks/tools/fetch-url.ts';
import type { Tool } from '../../../src/domains/tasks/tools/port.ts';
import { runTool } from '../../../src/domains/tasks/tools/run-tool.ts';
import { createScreenshot } from '../../../src/domains/tasks/tools/screenshot.ts';
import { createLog } from '../../../src/log.ts';
import { createChromiumBrowser } from '../../../src/providers/browser/chromium-browser.ts';
import type { Browser } from '../../../src/providers/browser/port.ts';
import { inlineCompute } from '../../../src/providers/compute/inline.ts';
import type { Json } from '../../support/json.ts';
import { type MemoryWorkspace, memoryWorkspace, toolContext } from '../../support/memory-workspace.ts';
import { until } from '../../support/until.ts';
import { type Page, WebSite } from '../../support/web-site.ts';

const path = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((file) => existsSync(file));

describe('the browser', { skip: path === undefined && 'no Chromium on this machine' }, () => {
  const pages: Record<string, Page> = {};
  let site: WebSite;
  /** On an address that pages may not reach. */
  let secret: WebSite;
  let browser: Browser;
  before(async () => {
    site = await WebSite.open(pages);
    secret = await WebSite.open({ '/': 'the secret' }, '127.0.0.2');
    browser = createChromiumBrowser({ allow: ['127.0.0.1'], chromium: { path: path! }, log: createLog('silent') });
  });
  after(async () => {
    await browser.close();
    await Promise.all([site.close(), secret.close()]);
  });

  const request = (at: string, agentId = 'agnt_1') => ({
    url: new URL(at, site.url).href,
    agentId,
    accountId: 'acct_1',
    signal: new AbortController().signal,
  });
  const render = (at: string, agentId?: string) => browser.render(request(at, agentId));

  test('answers after its start with its name and version', async () => {
    let health = await browser.health();
    await until(async () => (health = await browser.health()).status === 'ok');
    assert.match(health.detail, /^Chromium \d+/);
  });

  test('a page is read after its scripts have run, with its title, status and final address', async () => {
    pages['/moved'] = (_, response) => response.writeHead(302, { location: '/page' }).end();
    pages['/page'] =
      `<title>A page</title><p id=p>before</p><script>fetch('/data').then(r => r.text()).then(t => p.textContent = t)</script>`;
    pages['/data'] = 'made by its script';
    pages['/endless'] = (_, response) => {
      const piece = Buffer.alloc(2 ** 20);
      const more = () => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', more);
      more();
    };
    const page = await render('/moved');
    assert.equal(page.title, 'A page');
    assert.equal(page.status, 200);
    assert.equal(page.url, `${site.url}/page`);
    assert.match(page.html, /made by its script/);
    assert.equal(page.truncated, false);
    assert.equal((await render('/nowhere')).status, 404);
  });

  test('a document longer than 2 MiB is cut', async () => {
    pages['/long'] = `<p>long<script>document.write('x'.repeat(3e6))</script>`;
    const { html, truncated } = await render('/long');
    assert.deepEqual([Buffer.byteLength(html), truncated], [2 ** 21, true]);
  });

  test('an agent keeps its cookies and storage from page to page; another agent sees none of them', async () => {
    pages['/set'] = `<script>document.cookie = 'a=1'; localStorage.b = '2'</script>`;
    pages['/get'] = `<p id=p></p><script>p.textContent = 'found ' + document.cookie + ' ' + localStorage.b</script>`;
    await render('/set', 'agnt_1');
    assert.match((await render('/get', 'agnt_1')).html, /found a=1 2/);
    assert.match((await render('/get', 'agnt_2')).html, /found {2}undefined/);
  });

  test('a page reaches no forbidden address by any means', async () => {
    pages['/leave'] = (_, response) => response.writeHead(302, { location: secret.url }).end();
    await assert.rejects(render('/leave'), { name: 'ToolError', message: /127\.0\.0\.2 is not a public address/ });
    await assert.rejects(render('http://169.254.169.254/latest/meta-data'), { message: /169\.254\.169\.254 is not a public address/ });
    await assert.rejects(render('http://localhost:1/'), { name: 'ToolError' });
    const { host } = new URL(secret.url);
    let upgrades = 0;
    secret.onUpgrade(() => upgrades++);
    pages['/tries'] = `<p id=p></p><script>
      const tries = {
        fetch: () => fetch('http://${host}/', { mode: 'no-cors' }).then(() => 'reached'),
        redirect: () => fetch('/leave', { mode: 'no-cors' }).then(() => 'reached'),
        socket: () => new Promise((done) => { const s = new WebSocket('ws://${host}/'); s.onopen = () => done('reached'); s.onerror = () => done('closed') }),
        worker: () => new Promise((done) => {
          const w = new Worker(URL.createObjectURL(new Blob(["fetch('http://${host}/', {mode:'no-cors'}).then(() => postMessage('reached'), () => postMessage('closed'))"])));
          w.onmessage = (e) => done(e.data); w.onerror = () => done('closed');
        }),
        datagrams: async () => { const f = document.createElement('iframe'); document.body.append(f); return typeof RTCPeerConnection + typeof f.contentWindow.RTCPeerConnection },
        beacon: async () => navigator.sendBeacon('http://${host}/') && 'sent',
        frame: () => new Promise((done) => { const f = document.createElement('iframe'); f.onload = () => done('loaded'); f.src = 'http://${host}/'; document.body.append(f) }),
        image: () => new Promise((done) => { const i = new Image(); i.onload = () => done('reached'); i.onerror = () => done('closed'); i.src = 'http://${host}/' }),
      };
      (async () => {
        document.head.insertAdjacentHTML('beforeend', '<link rel=preconnect href="http://${host}/"><link rel=prefetch href="http://${host}/">');
        for (const [name, run] of Object.entries(tries)) p.textContent += name + ':' + await run().catch(() => 'closed') + ' ';
        p.textContent += 'all tried';
      })();
    </script>`;
    const { html } = await render('/tries');
    assert.match(
      html,
      /fetch:closed redirect:closed socket:closed worker:closed datagrams:undefinedundefined beacon:sent frame:loaded image:closed all tried/,
    );
    assert.deepEqual([secret.asked, upgrades], [[], 0]);
  });

  test('addresses of the browser and the machine are refused', async () => {
    for (const url of ['file:///etc/passwd', 'chrome://version', 'data:text/html,x', 'about:blank', 'view-source:http://x', 'javascript:1'])
      await assert.rejects(browser.render({ ...request('/'), url }), { name: 'ToolError', message: /Only http and https/ });
    await assert.rejects(browser.render({ ...request('/'), url: 'http://a:b@127.0.0.1/' }), { name: 'ToolError' });
  });

  test('a screenshot is a PNG of the requested size', async () => {
    pages['/tall'] = '<body style="margin:0;background:#080"><div style="height:3000px">tall</div>';
    const shot = await browser.screenshot({ ...request('/tall'), width: 800, height: 600, fullPage: false });
    assert.equal(Buffer.from(shot.png.subarray(1, 4)).toString(), 'PNG');
    assert.deepEqual([shot.width, shot.height], [800, 600]);
    const full = await browser.screenshot({ ...request('/tall'), width: 800, height: 600, fullPage: true });
    assert.deepEqual([full.width, full.height], [800, 3000]);
  });

  const call = (tool: Tool, args: object, workspace: MemoryWorkspace = memoryWorkspace()): Promise<Json> =>
    runTool(tool, args, toolContext(workspace), (error) => assert.fail(String(error)));

  test('fetch_url with `render` returns text written by scripts, and reports to the agent why a page cannot be opened', async () => {
    const fetchUrl = createFetchUrl(null as never, inlineCompute, browser);
    const { result } = await call(fetchUrl, { url: `${site.url}/page`, render: true });
    assert.deepEqual([result.title, result.status, result.text], ['A page', 200, 'made by its script']);
    assert.match((await call(fetchUrl, { url: `${site.url}/nowhere`, render: true })).result.error, /nowhere answered with status 404/);
    assert.match((await call(fetchUrl, { url: secret.url, render: true })).result.error, /is not a public address/);
  });

  test('the tool screenshot writes a PNG into the workspace', async () => {
    const workspace = memoryWorkspace();
    const screenshot = createScreenshot(browser);
    const { result } = await call(screenshot, { url: `${site.url}/tall` }, workspace);
    assert.deepEqual([result.path, result.version, result.width, result.height], ['screenshot-127.0.0.1.png', 1, 1280, 800]);
    assert.equal(workspace.text('screenshot-127.0.0.1.png').slice(1, 4), 'PNG');
    await call(screenshot, { url: `${site.url}/tall`, full_page: true, path: 'whole.png' }, workspace);
    assert.equal(Buffer.from(workspace.files.get('whole.png')!.content).readUInt32BE(20), 3_000);
    assert.match((await call(screenshot, { url: site.url, path: 'page.jpg' }, workspace)).result.error, /must end with \.png/);
  });

  /** After 15 s a page is read as it is: `timeMs` is less, so that what goes on without end is always an error. `beside` it another page is read. */
  const hostile: Record<string, { page: Page; expected: RegExp | null; timeMs?: number; beside?: true }> = {
    'a script without end': { page: '<script>for (;;);</script>', expected: /do not end/, timeMs: 1_500, beside: true },
    'dialogs without end': { page: '<script>for (;;) alert(1)</script>', expected: /dialogs without end/ },
    'a question before it closes': { page: '<p>ask</p><script>onbeforeunload = (e) => e.preventDefault()</script>', expected: null },
    'windows without end': { page: '<script>for (;;) open("/page")</script>', expected: /windows without end|do not end/, timeMs: 10_000 },
    'documents without end': {
      page: '<script>location.href = "/hostile?" + Math.random()</script>',
      expected: /without end|do not end/,
      timeMs: 10_000,
    },
    'a download': {
      page: (_, response) => response.writeHead(200, { 'content-disposition': 'attachment; filename=a.zip' }).end('zip'),
      expected: /is a download/,
    },
    'a download by its script': { page: '<p>given</p><a id=a download=x href="/data"></a><script>a.click()</script>', expected: null },
    'an answer without end': {
      // Its script waits for the answer: on a busy machine the page would else be read before 64 MB have arrived.
      page: `<script>const request = new XMLHttpRequest(); request.open('GET', '/endless', false); request.send()</script>`,
      expected: /transfers more than 64 MB/,
      timeMs: 120_000,
    },
    'memory without end': {
      page: '<script>const all = []; for (;;) all.push(new Uint8Array(2 ** 26).fill(1))</script>',
      expected: /crashed the browser tab/,
      beside: true,
    },
    'an answer that never begins': { page: () => {}, expected: /do not end/, timeMs: 500 },
    'a cut answer': { page: (request) => request.socket.destroy(), expected: /ERR_EMPTY_RESPONSE/ },
    'a large text in its console, without end': {
      page: '<script>const s = "x".repeat(2 ** 28); for (let i = 0; ; i++) console.log(s + i)</script>',
      expected: /crashed the browser tab|do not end|browser ended/,
      timeMs: 3_000,
      beside: true,
    },
    'properties that hide the document': {
      page: '<p>hidden</p><form name=documentElement><input name=outerHTML></form><img name=title><script>String.prototype.slice = () => "lie"</script>',
      expected: null,
    },
  };
  for (const [name, { page, expected, timeMs, beside }] of Object.entries(hostile)) {
    test(`a page with ${name} ends with a clear result${beside ? ', and affects no other page' : ''}`, async () => {
      pages['/hostile'] = page;
      const read = browser.render({ ...request('/hostile', 'agnt_hostile'), timeMs });
      const other = beside && render('/page', 'agnt_other');
      if (expected === null) assert.match((await read).html, /<p>/);
      else await assert.rejects(read, { name: 'ToolError', message: expected });
      if (other !== undefined) assert.match((await other).html, /made by its script/);
    });
  }

  test('a page that ends the browser twice fails with this reason; other open pages are opened again and read', async () => {
    const held: (() => void)[] = [];
    pages['/held'] = (_, response) =>
      void held.push(() => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>read at last</p>'));
    const other = render('/held', 'agnt_other');
    await until(() => held.length === 1);
    pages['/killer'] = () => killBrowser();
    const killer = assert.rejects(render('/killer', 'agnt_killer'), { name: 'ToolError', message: /browser ended while/ });
    await until(() => held.length === 2);
    held[1]!();
    await killer;
    assert.match((await other).html, /read at last/);
  });

  test('an external Chromium is used through BROWSER_URL by the same rules', async (t) => {
    const other = await startChromium(t);
    const theirs = createChromiumBrowser({ allow: ['127.0.0.1'], chromium: { url: other.url }, log: createLog('silent'), idleMs: 2_000 });
    t.after(() => theirs.close());
    assert.match((await theirs.render(request('/page'))).html, /made by its script/);
    secret.asked.length = 0;
    assert.match((await theirs.render(request('/tries'))).html, /fetch:closed redirect:closed socket:closed worker:closed .* all tried/);
    await assert.rejects(theirs.render({ ...request('/'), url: secret.url }), { message: /is not a public address/ });
    assert.deepEqual(secret.asked, []);
    assert.equal((await theirs.health()).status, 'ok');
    // Without a page for a while its driver ends; their browser does not, and the next page is read.
    const drivers = childrenOf(process.pid);
    await until(() => drivers.some((pid) => !isAlive(pid)));
    assert.match((await theirs.render(request('/page'))).html, /made by its script/);
  });

  test('a browser that cannot be started or reached is unavailable', async () => {
    for (const chromium of [{ path: '/nowhere/chromium' }, { url: 'http://127.0.0.1:1' }]) {
      const broken = createChromiumBrowser({ allow: ['127.0.0.1'], chromium, log: createLog('silent') });
      await assert.rejects(broken.render(request('/page')), { code: 'unavailable', message: /cannot be started or reached/ });
      assert.equal((await broken.health()).status, 'unavailable');
      await broken.close();
    }
  });

  test('after its close no process or file remains', async () => {
    await render('/page');
    const [driver] = childrenOf(process.pid);
    const all = [driver!, ...childrenOf(driver!)];
    await browser.close();
    assert.deepEqual(all.filter(isAlive), []);
    assert.deepEqual(
      readdirSync(tmpdir()).filter((name) => name.startsWith(`troupe-browser-${process.pid}-`)),
      [],
    );
    await assert.rejects(render('/page'), { code: 'draining' });
  });
});

function killBrowser(): void {
  const [driver] = childrenOf(process.pid);
  for (const pid of childrenOf(driver!)) process.kill(pid, 'SIGKILL');
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

/** A process that has ended, but whose parent has not asked how, is not. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** As an operator starts it for others: with a port of the DevTools protocol. */
async function startChromium(t: { after(end: () => unknown): void }): Promise<{ url: string }> {
  const profile = mkdtempSync(join(tmpdir(), 'chromium-'));
  const flags = ['--headless', '--remote-debugging-port=0', `--user-data-dir=${profile}`, process.getuid?.() === 0 ? '--no-sandbox' : ''];
  const child = spawn(path!, flags.filter(Boolean), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: profile },
    detached: true,
  });
  t.after(async () => {
    // With all of its processes, which else write to the profile a little longer.
    process.kill(-child.pid!, 'SIGKILL');
    await once(child, 'exit');
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });
  let said = '';
  for await (const text of child.stderr) {
    said += text;
    const listening = /DevTools listening on ws:\/\/([^/]+)/.exec(said);
    if (listening !== null) {
      child.stderr.on('error', () => {}).resume();
      return { url: `http://${listening[1]}` };
    }
  }
  throw new Error(`Chromium did not start: ${said}`);
}
