/** Changing the plan as a user does: a checkout, its page by plain requests, the plan, the invoice and its PDF. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Invalid } from '../support/bodies.ts';
import { Caller, startService } from '../support/service.ts';

const service = await startService({ after });
const { url } = service;

/** Follows no redirect. */
function form(page: string, what: string, fields?: Record<string, string>): Promise<Response> {
  return fetch(`${page}?do=${what}`, { method: 'POST', redirect: 'manual', body: fields && new URLSearchParams(fields) });
}

test('a paid checkout changes the plan at once, and leaves one invoice with a PDF behind a link', async () => {
  const ann = await Caller.register(service);
  const opened = await ann.json('POST', '/v1/billing/checkout', { plan: 'pro', billing_period: 'monthly' });
  assert.match(opened.session_id, /^cs_/);
  assert.equal(opened.url, opened.checkout_url);
  const lifeMs = Date.parse(opened.expires_at) - Date.now();
  assert.ok(lifeMs > 25 * 60_000 && lifeMs < 31 * 60_000);

  const page = await fetch(opened.checkout_url);
  assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
  assert.match(page.headers.get('content-security-policy')!, /default-src 'none'.*frame-ancestors 'none'; form-action 'self'$/);
  const html = await page.text();
  assert.match(html, /Pay \$49\.00/);
  assert.match(html, /nothing is charged/);
  assert.doesNotMatch(html, /<script/);
  assert.equal((await ann.json('GET', '/v1/billing')).plan, 'free', 'reading the page changes nothing');

  const answers = await Promise.all([1, 2, 3].map(() => form(opened.checkout_url, 'pay')));
  for (const { status } of answers) assert.ok([303, 409].includes(status));
  assert.ok(answers.some(({ status }) => status === 303));
  assert.equal((await ann.json('GET', '/v1/billing')).plan, 'pro');
  const redirected = new URL(answers.find(({ status }) => status === 303)!.headers.get('location')!, opened.checkout_url);
  assert.match(await (await fetch(redirected)).text(), /You have chosen the plan Pro/);
  assert.equal((await form(opened.checkout_url, 'pay')).status, 409, 'it cannot be paid again');
  assert.equal((await form(opened.checkout_url, 'cancel')).status, 409);

  const { data, has_more } = await ann.json('GET', '/v1/billing/invoices');
  assert.equal(data.length, 1);
  assert.equal(has_more, false);
  const [{ pdf_url, ...invoice }] = data;
  const { billing_period_start, billing_period_end } = await ann.json('GET', '/v1/billing');
  assert.deepEqual(
    [invoice.amount, invoice.status, invoice.period_start, invoice.period_end],
    [49, 'paid', billing_period_start, billing_period_end],
  );
  assert.deepEqual(invoice.lines, [{ description: `Pro, monthly, ${billing_period_start} to ${billing_period_end}`, amount: 49 }]);
  const pdf = await fetch(pdf_url);
  assert.deepEqual([pdf.status, pdf.headers.get('content-type')], [200, 'application/pdf']);
  const bytes = Buffer.from(await pdf.arrayBuffer());
  assert.equal(bytes.subarray(0, 5).toString(), '%PDF-');
  assert.match(bytes.subarray(-8).toString(), /%%EOF/);
  const link = new URL(pdf_url);
  assert.equal((await fetch(link.origin + link.pathname)).status, 401);
  const bob = await Caller.register(service);
  assert.equal((await bob.fetch('GET', `/v1/billing/invoices/${invoice.id}/pdf`)).status, 404);
  assert.deepEqual((await bob.json('GET', '/v1/billing/invoices')).data, []);

  const types = (await ann.events()).map(({ type }) => type);
  assert.deepEqual(
    types.filter((type) => ['plan.changed', 'invoice.created'].includes(type)),
    ['invoice.created', 'plan.changed'],
  );
});

test('a lesser plan costs nothing and waits for the end of the period; two checkouts for one plan are charged once', async () => {
  const ann = await Caller.register(service);
  const open = (body: object) => ann.json('POST', '/v1/billing/checkout', body);
  const pages = await Promise.all([1, 2].map(() => open({ plan: 'power', billing_period: 'annual' })));
  for (const { status } of await Promise.all(pages.map(({ url: page }) => form(page, 'pay')))) assert.equal(status, 303);
  const { data } = await ann.json('GET', '/v1/billing/invoices');
  assert.deepEqual(
    data.map(({ amount }: { amount: number }) => amount),
    [1_788],
  );
  assert.equal(Number(data[0].period_end.slice(0, 4)), Number(data[0].period_start.slice(0, 4)) + 1);
  const { url: page } = await open({ plan: 'free', billing_period: 'monthly' });
  assert.match(await (await fetch(page)).text(), /Nothing is due now/);
  assert.equal((await form(page, 'pay')).status, 303);
  assert.equal((await ann.json('GET', '/v1/billing')).plan, 'power');
  assert.equal((await ann.json('GET', '/v1/billing/invoices')).data.length, 1);
});

test('a checkout returns only to https addresses, whose host the page names before', async () => {
  const ann = await Caller.register(service);
  const open = (body: object) => ann.fetch('POST', '/billing/checkout', { plan: 'pro', ...body });
  for (const bad of [
    'http://app.example.com/paid',
    'http://127.0.0.1.example.com/',
    'https://bank.example.com@evil.example.com/',
    'javascript:alert(1)',
    'data:text/html,x',
    '//evil.example.com',
    'x',
    `${url}.evil.example.com/`,
  ]) {
    const response = await open({ success_url: bad, cancel_url: bad });
    assert.equal(response.status, 422, bad);
    assert.deepEqual(((await response.json()) as Invalid).detail[0].loc, ['body', 'success_url']);
  }
  const opened = (await (await open({ success_url: 'https://app.example.com/paid', cancel_url: `${url}/docs` })).json()) as { url: string };
  const page = await fetch(opened.url);
  assert.match(page.headers.get('content-security-policy')!, /form-action 'self' https:\/\/app\.example\.com/);
  const named = /Paying leads you to <strong>app\.example\.com<\/strong>\. Cancelling leads you to <strong>127\.0\.0\.1:\d+<\/strong>\./;
  assert.match(await page.text(), named);
  const lookalike = (await (await open({ success_url: 'https://аррle.com/"><b>', cancel_url: 'http://[::1]:3000/' })).json()) as {
    url: string;
  };
  assert.match(await (await fetch(lookalike.url)).text(), /<strong>xn--le-6kc8da\.com<\/strong>.*<strong>\[::1\]:3000<\/strong>/);
  const cancelled = await form(opened.url, 'cancel');
  assert.deepEqual([cancelled.status, cancelled.headers.get('location')], [303, `${url}/docs`]);
  assert.equal((await form(opened.url, 'pay')).status, 409);
  const second = (await (await open({ success_url: 'https://app.example.com/paid', cancel_url: `${url}/docs` })).json()) as { url: string };
  assert.equal((await form(second.url, 'pay')).headers.get('location'), 'https://app.example.com/paid');
});

test('business leads to a contact form, whose message reaches the operator once', async () => {
  const ann = await Caller.register(service);
  const { url: page } = await ann.json('POST', '/v1/billing/checkout', { plan: 'business', billing_period: 'annual' });
  assert.match(await (await fetch(page)).text(), /<textarea name="message"/);
  assert.equal((await form(page, 'pay')).status, 409);
  const said = { name: '<b>Ann</b>', email: 'ann@example.com', message: 'Forty seats, please.\nAccount: acct_other' };
  const wrong = await form(page, 'contact', { ...said, email: 'nobody' });
  assert.equal(wrong.status, 422);
  assert.match(await wrong.text(), /Give an e-mail address.*value="&#60;b&#62;Ann&#60;\/b&#62;".*value="nobody".*Forty seats, please\./s);
  assert.equal((await form(page, 'contact', { ...said, message: 'x'.repeat(5_001) })).status, 422);
  assert.equal((await form(page, 'contact', { ...said, message: 'x'.repeat(40_000) })).status, 413);
  assert.equal(
    (await fetch(`${page}?do=contact`, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })).status,
    415,
  );
  const sent = await form(page, 'contact', { ...said, name: 'Ann\r\nAccount: acct_other\rPlan: free\u2028E-mail: x@example.com' });
  assert.equal(sent.status, 200);
  assert.match(await sent.text(), /We have your message/);
  assert.equal((await form(page, 'contact', said)).status, 409);
  const folder = join(service.dataDir, 'mail');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.eml'));
  const all = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  const mails = all.filter((text) => /^To: operator@troupe\.invalid/m.test(text));
  assert.equal(mails.length, 1);
  const mail = mails[0]!;
  assert.match(mail, /^> Forty seats, please\.\r?\n> Account: acct_other/m);
  assert.equal(mail.match(/^\s*(Account|Plan|E-mail): /gm)?.length, 3, 'no line of ours is forged by a name or a message');
  assert.equal((await ann.json('GET', '/v1/billing')).plan, 'free');
});

test('unknown plans, missing fields and guessed addresses are refused; keys open no checkout', async () => {
  const ann = await Caller.register(service);
  const refused = async (body: unknown) => (await ann.fetch('POST', '/v1/billing/checkout', body)).status;
  for (const body of [
    {},
    { plan: 'pro' },
    { plan: 'gold', billing_period: 'monthly' },
    { plan: 'pro', billing_period: 'weekly' },
    { plan: 1, billing_period: 'monthly' },
  ])
    assert.equal(await refused(body), 422, JSON.stringify(body));
  const { key } = await ann.json('POST', '/v1/api-keys', { name: 'k', scopes: ['billing.read'] });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ plan: 'pro', billing_period: 'monthly' });
  assert.equal((await fetch(`${url}/v1/billing/checkout`, { method: 'POST', headers, body })).status, 403);

  const { session_id, url: page } = await ann.json('POST', '/v1/billing/checkout', { plan: 'pro', billing_period: 'monthly' });
  const { url: other } = await ann.json('POST', '/v1/billing/checkout', { plan: 'pro', billing_period: 'monthly' });
  const forged = `${page.slice(0, page.lastIndexOf('.'))}${other.slice(other.lastIndexOf('.'))}`;
  for (const wrong of [`${url}/checkout/${session_id}`, `${url}/checkout/${session_id}.`, forged, `${page}x`, `${url}/checkout/..%2f`]) {
    assert.equal((await fetch(wrong)).status, 404, wrong);
    assert.equal((await form(wrong, 'pay')).status, 404, wrong);
  }
  assert.equal((await form(page, 'steal')).status, 422);
  assert.equal((await ann.json('GET', '/v1/billing')).plan, 'free');
});

test('after a kill during a payment, the plan is changed and charged once', async () => {
  const ann = await Caller.register(service);
  const { url: page } = await ann.json('POST', '/v1/billing/checkout', { plan: 'pro', billing_period: 'monthly' });
  const paying = form(page, 'pay').catch(() => null);
  await service.kill();
  await paying;
  await service.restart();
  const moved = service.url + new URL(page).pathname;
  const again = await form(moved, 'pay');
  assert.ok([303, 409].includes(again.status));
  const back = ann.at(service);
  assert.equal((await back.json('GET', '/v1/billing')).plan, 'pro');
  assert.equal((await back.json('GET', '/v1/billing/invoices')).data.length, 1);
});
