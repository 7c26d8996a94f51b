/** The pages of a consent as a person sees them: in a Chromium without JavaScript, as narrow as a small phone, in light and dark. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { type Browser, chromium } from 'playwright-core';
import { confirmationPage, connectedPage, noConsentPage } from '../../../src/domains/integrations/routes/consent-pages.ts';
import { errorResponse } from '../../../src/edge/http/error-response.ts';
import type { HttpRequest, HttpResponse } from '../../../src/edge/http/message.ts';
import { asPage } from '../../../src/edge/http/refusal-page.ts';
import { AppError } from '../../../src/errors.ts';
import { noLog } from '../../../src/log.ts';

const path = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((file) => existsSync(file));
const width = 360;
/** What people hit with a finger (WCAG 2.5.5), and text that they can read (WCAG 1.4.3). */
const [minTargetPx, minContrast] = [44, 4.5];
const word = 'a'.repeat(120);

const request = (headers: Record<string, string>) =>
  ({ method: 'GET', header: (name: string) => headers[name] ?? '', has: (name: string) => name in headers }) as HttpRequest;
const person = request({ 'user-agent': 'Mozilla/5.0 (Linux; Android 16)', accept: 'text/html', 'sec-fetch-dest': 'document' });
const refusal = (message: string, by = person) =>
  asPage(by, errorResponse(new AppError('upstream_failed', message), by, noLog), 'Begin to connect the service again.');

const pages: Record<string, () => HttpResponse> = {
  connected: () => connectedPage(`The MCP server ${'a'.repeat(32)}`),
  'not-connected': () => noConsentPage(),
  refused: () => refusal(`The authorization server did not answer: ${word}`),
  question: () =>
    confirmationPage({
      what: `the MCP server ${'a'.repeat(32)}`,
      whose: `${word}@example.com`,
      action: 'http://127.0.0.1/integrations/callback',
      fields: { code: 'code', state: 'state' },
      leadsTo: null,
    }),
};

test('a refusal is a page for a person, with the status and the reason, and JSON for a program', () => {
  const { status, headers, body } = refusal('No <answer>');
  assert.deepEqual([status, headers?.['Content-Type']], [502, 'text/html; charset=utf-8']);
  assert.match(String(body), /<p role="alert">No &#60;answer&#62;\.<\/p>/);
  assert.match(String(refusal('No answer', request({ accept: 'application/json' })).headers?.['Content-Type']), /json/);
});

describe('on a phone', { skip: path === undefined && 'no Chromium on this machine' }, () => {
  let browser: Browser;
  let server: Server;
  before(async () => {
    browser = await chromium.launch({ executablePath: path!, chromiumSandbox: false, timeout: 120_000 });
    server = createServer(({ url }, response) => {
      const { status, headers, body } = pages[url!.slice(1)]?.() ?? { status: 404, body: null };
      response.writeHead(status, headers as Record<string, string>).end(body);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(async () => {
    await browser.close();
    server.close().closeAllConnections();
  });

  for (const name of Object.keys(pages))
    for (const colorScheme of ['light', 'dark'] as const)
      test(`the page ${name} fits, can be read, and has targets for a finger, in ${colorScheme}`, async () => {
        const context = await browser.newContext({
          viewport: { width, height: 640 },
          javaScriptEnabled: false,
          isMobile: true,
          colorScheme,
        });
        const shown = await context.newPage();
        shown.setDefaultTimeout(120_000);
        await shown.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}`, { timeout: 120_000 });
        const seen = await shown.evaluate<Seen>(measure);
        await context.close();
        assert.deepEqual([seen.innerWidth, seen.scrollWidth], [width, width]);
        assert.ok(seen.texts.length > 0);
        assert.equal(seen.targets.length, name === 'question' ? 1 : 0);
        for (const { left, right, text } of [...seen.texts, ...seen.targets]) assert.ok(left >= 0 && right <= width, `${text} is cut off`);
        for (const { height, text } of seen.targets) assert.ok(height >= minTargetPx, `${text} is ${height} px high`);
        for (const { color, background, text } of [...seen.texts, ...seen.targets])
          assert.ok(contrast(color, background) >= minContrast, `${text}: ${color} on ${background}`);
      });
});

type Box = { left: number; right: number; height: number; text: string; color: string; background: string };
type Seen = { innerWidth: number; scrollWidth: number; texts: Box[]; targets: Box[] };

/** Runs in the page. */
const measure = `(() => {
  const backgroundOf = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const { backgroundColor } = getComputedStyle(at);
      if (backgroundColor !== 'rgba(0, 0, 0, 0)') return backgroundColor;
    }
    return 'rgb(255, 255, 255)';
  };
  const boxOf = (element) => {
    const { left, right, height } = element.getBoundingClientRect();
    return { left, right, height, text: element.textContent, color: getComputedStyle(element).color, background: backgroundOf(element) };
  };
  return {
    innerWidth,
    scrollWidth: document.documentElement.scrollWidth,
    texts: [...document.querySelectorAll('h1, p, strong')].map(boxOf),
    targets: [...document.querySelectorAll('button, a, input:not([type=hidden])')].map(boxOf),
  };
})()`;

/** The contrast ratio of WCAG 2. */
function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const parts = [...color.matchAll(/[\d.]+/g)].slice(0, 3).map(([value]) => Number(value) / 255);
  const [red, green, blue] = parts.map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as [
    number,
    number,
    number,
  ];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
