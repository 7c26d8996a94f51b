import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createFetchUrl } from '../../../../src/domains/tasks/tools/fetch-url.ts';
import { maxResultBytes, type Tool } from '../../../../src/domains/tasks/tools/port.ts';
import { runTool } from '../../../../src/domains/tasks/tools/run-tool.ts';
import { createWebSearch } from '../../../../src/domains/tasks/tools/web-search.ts';
import { noBrowser } from '../../../../src/providers/browser/no-browser.ts';
import { inlineCompute } from '../../../../src/providers/compute/inline.ts';
import { createOutbound, type Outbound } from '../../../../src/providers/outbound/outbound.ts';
import { memoryWorkspace, toolContext } from '../../../support/memory-workspace.ts';

let answer: { status?: number; type?: string; body: string | Uint8Array } = { body: '' };
let asked = '';
const server = createServer((request, response) => {
  asked = request.url!;
  response.writeHead(answer.status ?? 200, answer.type === undefined ? {} : { 'content-type': answer.type }).end(answer.body);
});
let url = '';
let local: Outbound;
let strict: Outbound;
before(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  local = createOutbound({ allow: ['127.0.0.0/8'] });
  strict = createOutbound({ allow: [] });
});
after(async () => {
  await Promise.all([local.close(), strict.close()]);
  server.close().closeAllConnections();
});

async function call(tool: Tool, args: object): Promise<{ result: any; isError: boolean }> {
  return runTool(tool, args, toolContext(memoryWorkspace()), (error) => assert.fail(String(error)));
}

async function fetched(body: string | Uint8Array, type: string | undefined = 'text/html'): Promise<any> {
  answer = { body, type };
  const { result, isError } = await call(createFetchUrl(local, inlineCompute, noBrowser), { url: `${url}/dir/page` });
  assert.equal(isError, false, JSON.stringify(result));
  return result;
}

const long = 'Words that make this the main part of the page, not a caption. '.repeat(5);

describe('fetch_url', () => {
  test('a page is returned as its title, main text and absolute links', async () => {
    const page =
      await fetched(`<!doctype html><html><head><title>A &amp; B</title><meta name="description" content="What it &lt;is&gt;"><style>p{}</style></head>
      <body><nav><a href="/home">Home</a></nav><main><h1>Head&shy;ing</h1><p>First&nbsp;<b>bold</b> text,<br>next line. ${long}</p>
      <ul><li>One</li><li>Two <a href="../x?a=1&amp;b=2">link</a></li></ul><table><tr><th>k</th><td>v</td></tr></table><pre>a\n  b</pre>
      <script>document.write("<p>never</p>")</script><!-- hidden <p>comment</p> --><a href="javascript:alert(1)">bad</a><a href="mailto:a@b.c">mail</a></main><footer>Imprint</footer></body></html>`);
    assert.equal(page.title, 'A & B');
    assert.equal(page.description, 'What it <is>');
    assert.match(page.text, /^# Head\u00ading\n\nFirst bold text,\nnext line\. /);
    assert.match(page.text, /\n- One\n- Two link\n/);
    assert.match(page.text, /k \| v/);
    assert.match(page.text, /a\n {2}b/);
    assert.doesNotMatch(page.text, /Home|never|hidden|Imprint|p\{\}/);
    assert.deepEqual(page.links, [
      { text: 'Home', url: `${url}/home` },
      { text: 'link', url: `${url}/x?a=1&b=2` },
    ]);
    assert.equal(page.truncated, false);
  });

  test('a page that has only navigation and side elements is still read', async () => {
    assert.match((await fetched('<nav>Only a menu here<p>and a line')).text, /Only a menu here\n+and a line/);
  });

  const encodings: [string, string | undefined, Uint8Array][] = [
    ['the header', 'text/html; charset=ISO-8859-1', Buffer.from('<p>grün', 'latin1')],
    ['a meta element', 'text/html', Buffer.from('<meta charset="windows-1252"><p>grün', 'latin1')],
    [
      'an old meta element',
      'text/html',
      Buffer.from('<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-15"><p>grün', 'latin1'),
    ],
    ['a byte order mark', 'text/html; charset=utf-8', Buffer.from('\ufeff<p>grün', 'utf16le')],
    ['nothing, in UTF-8', 'text/html', Buffer.from('<p>grün')],
    ['nothing, in windows-1252', 'text/html', Buffer.from('<p>grün', 'latin1')],
    ['a lie', 'text/html; charset=utf-8', Buffer.from('<p>grün', 'latin1')],
    ['an invention', 'text/html; charset=klingon', Buffer.from('<p>grün')],
  ];
  for (const [by, type, body] of encodings)
    test(`the encoding is detected by ${by}`, async () => assert.equal((await fetched(body, type)).text, 'grün'));

  test('a page in an Asian encoding is read as declared', async () => {
    const body = Buffer.concat([Buffer.from('<p>'), Buffer.from([0x93, 0xfa, 0x96, 0x7b])]);
    assert.equal((await fetched(body, 'text/html; charset=shift_jis')).text, '日本');
  });

  test('JSON and plain text are returned unchanged', async () => {
    assert.equal((await fetched('{"a": "<b>"}', 'application/json')).text, '{"a": "<b>"}');
    assert.equal((await fetched('a <b> c', 'text/plain')).text, 'a <b> c');
    assert.equal((await fetched('<html><p>untyped', undefined)).text, 'untyped');
  });

  test('content that is not text is reported with its type, also if it is declared as a page', async () => {
    for (const type of ['application/pdf', 'text/html']) {
      const page = await fetched(Buffer.from('%PDF-1.7\n\x00\x01', 'latin1'), type);
      assert.equal(page.text, null);
      assert.match(page.note, /PDF document of 11 bytes/);
    }
  });

  test('a long page is cut with a note and fits the record', async () => {
    for (const body of [`<main>${long.repeat(2000)}`, `<p>${'"é'.repeat(100_000)}`, '<a href="/x">'.concat('y'.repeat(3e6))]) {
      const page = await fetched(body);
      assert.equal(page.truncated, true);
      assert.ok(Buffer.byteLength(JSON.stringify(page)) <= maxResultBytes);
    }
  });

  test('hostile pages are read within the time limit', async () => {
    const hostile = [
      '<a>',
      '<div>',
      '<',
      '<!--',
      '</',
      '<a x="',
      '<svg>',
      '<title>',
      '<script>',
      '<pre>\n',
      '&#',
      '<a href=/x>y</a>',
      '<b></i>',
      '<!',
      '<table><td>',
    ];
    for (const piece of hostile) assert.ok(await fetched(piece.repeat(Math.floor(1.5e6 / piece.length))), piece);
  });

  test('a page with unbalanced elements is read', async () => {
    assert.equal((await fetched('<svg><p>gone')).text, '');
    assert.equal((await fetched('</nav></main></svg></pre><p>still here')).text, 'still here');
    assert.equal((await fetched('<title>only a title')).title, 'only a title');
  });

  test('a failed status, a refused address and a missing browser are reported with the reason', async () => {
    answer = { status: 404, body: 'no' };
    assert.match((await call(createFetchUrl(local, inlineCompute, noBrowser), { url })).result.error, /answered with status 404/);
    assert.match((await call(createFetchUrl(strict, inlineCompute, noBrowser), { url })).result.error, /not a public address/);
    assert.match(
      (await call(createFetchUrl(strict, inlineCompute, noBrowser), { url: 'http://169.254.169.254/latest' })).result.error,
      /not a public address/,
    );
    assert.match(
      (await call(createFetchUrl(local, inlineCompute, noBrowser), { url: 'file:///etc/passwd' })).result.error,
      /Only http and https/,
    );
    assert.match(
      (await call(createFetchUrl(local, inlineCompute, noBrowser), { url, render: true })).result.error,
      /No browser service is configured/,
    );
  });
});

describe('web_search', () => {
  test('without an endpoint the result names the alternative', async () => {
    const { result, isError } = await call(createWebSearch(strict, null), { query: 'x' });
    assert.equal(isError, true);
    assert.match(result.error, /SEARCH_URL.*fetch_url/);
  });

  test('results are limited and cleaned; the endpoint may be private', async () => {
    const many = Array.from({ length: 30 }, (_, i) => ({ title: `T${i}\n `, url: `https://e.example/${i}`, content: 'c'.repeat(5000) }));
    answer = { body: JSON.stringify({ results: [{ url: 'javascript:1' }, null, 7, { url: 5 }, ...many] }) };
    const { result } = await call(createWebSearch(strict, `${url}/search?language=de`), { query: 'a & b=c' });
    assert.equal(asked, '/search?language=de&q=a+%26+b%3Dc&format=json');
    assert.equal(result.results.length, 10);
    assert.deepEqual(result.results[0], { title: 'T0', url: 'https://e.example/0', snippet: 'c'.repeat(600) });
  });

  test('an endpoint that fails, answers with HTML or is unreachable is reported with the reason', async () => {
    const search = createWebSearch(strict, url);
    for (const bad of [
      { status: 403, body: '' },
      { status: 302, body: '' },
      { body: '<html>' },
      { body: '{"results": {}}' },
      { body: 'null' },
    ]) {
      answer = bad;
      assert.match((await call(search, { query: 'x' })).result.error, /search endpoint/);
    }
    assert.match((await call(createWebSearch(strict, 'http://127.0.0.1:1/'), { query: 'x' })).result.error, /does not answer now/);
  });
});
