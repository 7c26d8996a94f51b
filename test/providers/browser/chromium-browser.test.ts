import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { createLog } from '../../../src/log.ts';
import { createChromiumBrowser } from '../../../src/providers/browser/chromium-browser.ts';
import type { Browser } from '../../../src/providers/browser/port.ts';
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
    browser = createChromiumBrowser({ allow: ['127.0.0.1'], chromium: { path: path! }, log: createLog('silent'), timeMs: 15_000 });
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

  test('answers once it is started, and says which one it is', async () => {
    const { status, detail } = await browser.health();
    assert.match(detail, /^Chromium \d+/);
    assert.equal(status, 'ok');
  });

  test('a page is read once its scripts have run, with its title, status and last address', async () => {
    pages['/moved'] = (_, response) => response.writeHead(302, { location: '/page' }).end();
    pages['/page'] =
      `<title>A page</title><p id=p>before</p><script>fetch('/data').then(r => r.text()).then(t => p.textContent = t)</script>`;
    pages['/data'] = 'made by its script';
    const page = await render('/moved');
    assert.equal(page.title, 'A page');
    assert.equal(page.status, 200);
    assert.equal(page.url, `${site.url}/page`);
    assert.match(page.html, /made by its script/);
    assert.equal(page.truncated, false);
    assert.equal((await render('/nowhere')).status, 404);
  });

  test('an agent keeps its cookies and storage from page to page; another agent sees none of them', async () => {
    pages['/set'] = `<script>document.cookie = 'a=1'; localStorage.b = '2'</script>`;
    pages['/get'] = `<p id=p></p><script>p.textContent = 'found ' + document.cookie + ' ' + localStorage.b</script>`;
    await render('/set', 'agnt_1');
    assert.match((await render('/get', 'agnt_1')).html, /found a=1 2/);
    assert.match((await render('/get', 'agnt_2')).html, /found {2}undefined/);
  });

  test('a page reaches no address that is not permitted, in whatever way it tries', async () => {
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
    assert.match(html, /fetch:closed redirect:closed socket:closed worker:closed beacon:sent frame:loaded image:closed all tried/);
    assert.deepEqual([secret.asked, upgrades], [[], 0]);
  });

  test('addresses of the browser and the machine are refused', async () => {
    for (const url of ['file:///etc/passwd', 'chrome://version', 'data:text/html,x', 'about:blank', 'view-source:http://x', 'javascript:1'])
      await assert.rejects(browser.render({ ...request('/'), url }), { name: 'ToolError', message: /Only http and https/ });
    await assert.rejects(browser.render({ ...request('/'), url: 'http://a:b@127.0.0.1/' }), { name: 'ToolError' });
  });

  test('a screenshot is a PNG of the wished size', async () => {
    pages['/tall'] = '<body style="margin:0;background:#080"><div style="height:3000px">tall</div>';
    const shot = await browser.screenshot({ ...request('/tall'), width: 800, height: 600, fullPage: false });
    assert.equal(Buffer.from(shot.png.subarray(1, 4)).toString(), 'PNG');
    assert.deepEqual([shot.width, shot.height], [800, 600]);
    const full = await browser.screenshot({ ...request('/tall'), width: 800, height: 600, fullPage: true });
    assert.deepEqual([full.width, full.height], [800, 3000]);
  });
});
