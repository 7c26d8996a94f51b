/** Plans paid with Stripe, with a stand-in of Stripe's API: the real service, real requests, signed events. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Caller, startService } from '../support/service.ts';
import {
  deliver,
  killDuringQuery,
  StripeServer,
  type StripeSession,
  type StripeSubscription,
  signatureOf,
  stripeWebhookSecret,
} from '../support/stripe-server.ts';
import { stripeSecretKey } from '../support/stripe-stand-in.ts';
import { until } from '../support/until.ts';

const stripe = await StripeServer.start({ after });
const service = await startService({ after }, { ...stripe.env, LOG_LEVEL: 'info' });

function open(caller: Caller, plan = 'pro', billing_period = 'monthly', headers?: Record<string, string>): Promise<any> {
  return caller.json('POST', '/v1/billing/checkout', { plan, billing_period }, headers);
}

async function planOf(caller: Caller): Promise<string> {
  return (await caller.json('GET', '/v1/billing')).plan;
}

async function invoicesOf(caller: Caller): Promise<any[]> {
  return (await caller.json('GET', '/v1/billing/invoices')).data;
}

const completed = (session: StripeSession) =>
  stripe.event('checkout.session.completed', { ...session, payment_intent: session.payment_intent!.id });

test("a customer who pays on Stripe's page has the plan after Stripe's notification; repeats change nothing", async () => {
  const ann = await Caller.register(service);
  const opened = await open(ann);
  assert.equal(opened.url, opened.checkout_url);
  assert.match(opened.checkout_url, /^https:\/\/checkout\.stripe\.test\//);
  const lifeMs = Date.parse(opened.expires_at) - Date.now();
  assert.ok(lifeMs > 25 * 60_000 && lifeMs < 31 * 60_000);
  const { params, idempotencyKey, version } = stripe.requests.find(({ path }) => path === '/v1/checkout/sessions')!;
  assert.match(idempotencyKey!, /^eff_/);
  assert.equal(version, '2026-10-28.endive');
  assert.equal(params.client_reference_id, opened.session_id);
  assert.deepEqual([params.line_items[0].price_data.unit_amount, params.line_items[0].price_data.currency], ['4900', 'usd']);
  assert.equal(await planOf(ann), 'free');

  const event = completed(stripe.pay(opened.url));
  const answers = await Promise.all([1, 2, 3, 4].map(() => deliver(service.url, event)));
  for (const { status } of answers) assert.equal(status, 200);
  await until(async () => (await planOf(ann)) === 'pro');
  assert.equal((await deliver(service.url, event)).status, 200);
  assert.equal((await deliver(service.url, { ...event, id: 'evt_another' })).status, 200);
  const invoices = await invoicesOf(ann);
  assert.deepEqual(
    invoices.map(({ amount, status }) => [amount, status]),
    [[49, 'paid']],
  );
  await until(async () => stripe.subscriptions.size > 0);
  assert.equal(stripe.subscriptions.size, 1);
  const subscription = [...stripe.subscriptions.values()][0]!;
  assert.equal(subscription.items.data[0]!.price.unit_amount, 4900);
  assert.equal(subscription.trial_end! * 1_000, Date.parse(invoices[0].period_end), 'nothing is charged before the first term has ended');
  assert.equal(stripe.refunds.length, 0);
});

test('a notification without a valid signature of Stripe has no effect: another secret, a `t` that is old, in the future or no number, a changed byte', async () => {
  const ann = await Caller.register(service);
  const opened = await open(ann);
  const session = stripe.pay(opened.url);
  const event = completed(session);
  const body = JSON.stringify(event, null, 2);
  const nowS = Math.floor(Date.now() / 1_000);
  // Without requests that follow from earlier tests.
  const asked = () => stripe.requests.filter(({ path }) => path.includes(session.id)).length;
  const askedBefore = asked();
  for (const wrong of [
    { secret: 'whsec_AnotherSecret0123456789' },
    { atS: nowS - 301 },
    { body: `${body} ` },
    { body: body.slice(1) },
    { body: body.replace('completed', 'complete_') },
    { body: '' },
    { header: '' },
    { header: 't=,v1=' },
    { header: `t=${nowS},v0=${signatureOf(body, stripeWebhookSecret, nowS).split('v1=')[1]}` },
    { header: signatureOf(body, stripeWebhookSecret, nowS).replace(/^t=\d+/, `t=${nowS + 1}`) },
    // Signed with the secret, and at no time that has come.
    { header: signatureOf(body, stripeWebhookSecret, nowS + 3_600) },
    { header: signatureOf(body, stripeWebhookSecret, Number.NaN) },
    { header: signatureOf(body, stripeWebhookSecret, Number.POSITIVE_INFINITY) },
    { header: signatureOf(body, stripeWebhookSecret, nowS).replace('t=', 't=0x1,t=') },
    { header: signatureOf(body, stripeWebhookSecret, nowS).replace(/^t=(\d+)/, 't=$1.5') },
    { header: `t=${'9'.repeat(8_000)},v1=00` },
  ]) {
    const answer = await deliver(service.url, event, wrong);
    assert.equal(answer.status, 400, JSON.stringify(wrong));
    assert.deepEqual(Object.keys((await answer.json()) as object), ['detail']);
  }
  assert.equal((await deliver(service.url, event, { body: 'x'.repeat(600_000) })).status, 413);
  assert.equal(asked(), askedBefore, 'nobody is asked about what is not signed');
  assert.equal(await planOf(ann), 'free');
  const rolled = `${signatureOf(body, 'whsec_TheNewSecret0123456789', nowS)},${signatureOf(body, stripeWebhookSecret, nowS).split(',')[1]}`;
  assert.equal((await deliver(service.url, event, { header: rolled })).status, 200, 'while the secret is changed, either signature counts');
  await until(async () => (await planOf(ann)) === 'pro');
  for (const type of ['payment_intent.succeeded', 'checkout.session.completed', 'invoice.paid', 'customer.subscription.deleted'])
    assert.equal((await deliver(service.url, stripe.event(type, { id: 'x', object: 'y', metadata: {} }))).status, 200, type);
  const foreignEvent = {
    ...event,
    id: 'evt_x',
    data: { object: { ...(event.data.object as StripeSession), metadata: { troupe_checkout: 'cs_0' } } },
  };
  assert.equal((await deliver(service.url, foreignEvent)).status, 200, 'a checkout of another service');
});

test('a signed notification of another form is refused with 400, or is none of this service', async () => {
  const about = (object: unknown, type = 'checkout.session.completed') => ({ id: 'evt_form', type, data: { object } });
  const types = ['checkout.session.expired', 'invoice.paid', 'customer.subscription.updated'];
  const wrong: unknown[] = [
    null,
    5,
    'text',
    [],
    { type: 'invoice.paid' },
    { id: 5, type: types[0], data: { object: {} } },
    { id: 'x', type: types[1], data: null },
  ];
  for (const type of types) wrong.push(about(null, type), about('text', type), about(undefined, type));
  wrong.push(about({ metadata: { troupe_checkout: 5 } }), about({ metadata: { troupe_checkout: '' } }));
  wrong.push(about({ parent: { subscription_details: { metadata: { troupe_renewal: ['x'] } } } }, 'invoice.paid'));
  for (const event of wrong) {
    const answer = await deliver(service.url, event as never);
    assert.equal(answer.status, 400, JSON.stringify(event));
    assert.match(((await answer.json()) as { detail: string }).detail, /The (body is not an )?event/);
  }
  const foreign: object[] = [about(null, 'constructor'), about(null, '__proto__'), { id: 'x', type: 5 }, {}];
  for (const type of types)
    foreign.push(about({}, type), about({ metadata: null, parent: null }, type), about({ metadata: 5, parent: 5 }, type));
  for (const event of foreign) assert.equal((await deliver(service.url, event)).status, 200, JSON.stringify(event));
});

test('a payment without a notification is found when the customer returns; it cannot be paid on a page of this service', async () => {
  const ann = await Caller.register(service);
  const opened = await open(ann, 'power', 'annual');
  const session = stripe.sessionOf(opened.url);
  const ownPage = session.success_url;
  assert.match(
    await (await fetch(ownPage)).text(),
    /Nothing has been paid yet\. <a href="https:&#47;|Nothing has been paid yet\. <a href="https:\/\//,
  );
  for (const what of ['pay', 'cancel']) assert.equal((await fetch(`${ownPage}?do=${what}`, { method: 'POST' })).status, 409);
  stripe.pay(opened.url);
  // The page asks Stripe when it is opened, and says that the plan is about to change until the account has it.
  await until(async () => /You have chosen the plan Power/.test(await (await fetch(ownPage)).text()));
  assert.equal(await planOf(ann), 'power');
  assert.deepEqual(
    (await invoicesOf(ann)).map(({ amount }) => amount),
    [1_788],
  );
});

test('a payment of another amount changes no plan, and is reported to the operator without a secret', async () => {
  const ann = await Caller.register(service);
  const opened = await open(ann);
  const event = completed(stripe.pay(opened.url, { paidMinor: 4_899 }));
  assert.equal((await deliver(service.url, event)).status, 200);
  await until(() => service.output().includes('the payment does not match the request'));
  assert.equal((await deliver(service.url, { ...event, id: 'evt_mismatch' })).status, 200);
  assert.equal(await planOf(ann), 'free');
  assert.deepEqual(await invoicesOf(ann), []);
  assert.ok(!service.output().includes(stripeSecretKey) && !service.output().includes(stripeWebhookSecret));
});

test('a delayed payment is waited for, and a failed one ends the checkout', async () => {
  const ann = await Caller.register(service);
  const [slow, never] = [await open(ann), await open(ann)];
  const [late, lost] = [stripe.pay(slow.url, { late: true }), stripe.pay(never.url, { late: true })];
  for (const session of [late, lost]) assert.equal((await deliver(service.url, completed(session))).status, 200);
  assert.equal(await planOf(ann), 'free');
  assert.match(await (await fetch(late.success_url)).text(), /Your payment is on its way/);
  stripe.arrive(lost, false);
  assert.equal((await deliver(service.url, stripe.event('checkout.session.async_payment_failed', lost))).status, 200);
  assert.equal((await fetch(lost.success_url)).status, 410);
  assert.equal(await planOf(ann), 'free');
  stripe.arrive(late, true);
  assert.equal((await deliver(service.url, stripe.event('checkout.session.async_payment_succeeded', late))).status, 200);
  await until(async () => (await planOf(ann)) === 'pro');
});

test('of two pages for one plan that are paid concurrently one is charged, and the other is refunded', async () => {
  const ann = await Caller.register(service);
  const pages = [await open(ann), await open(ann)];
  const sessions = pages.map(({ url }) => stripe.pay(url));
  await Promise.all(sessions.map((session) => deliver(service.url, completed(session))));
  await until(async () => stripe.refunds.length === 1);
  assert.equal(await planOf(ann), 'pro');
  assert.equal((await invoicesOf(ann)).length, 1);
  const payments = sessions.map(({ payment_intent }) => payment_intent!.id);
  assert.ok(payments.includes(stripe.refunds[0]!.payment_intent));
});

test('a renewal is charged by Stripe and has an invoice here; an upgrade ends it, and a charge that Stripe gives up ends the plan', async () => {
  const ann = await Caller.register(service);
  const before = new Set(stripe.subscriptions.keys());
  const renewals = () => [...stripe.subscriptions.values()].filter(({ id }) => !before.has(id));
  await deliver(service.url, completed(stripe.pay((await open(ann)).url)));
  await until(async () => renewals().length === 1);
  const first = renewals()[0]!;
  const notify = (type: string, object: object) => deliver(service.url, stripe.event(type, object));
  const invoice = stripe.renew(first);
  await until(async () => {
    assert.equal((await notify('invoice.paid', invoice)).status, 200);
    return (await invoicesOf(ann)).length === 2;
  });
  for (const _ of [1, 2]) await notify('invoice.paid', invoice);
  const invoices = await invoicesOf(ann);
  assert.equal(invoices.length, 2);
  assert.equal(Date.parse(invoices[0].period_start), first.trial_end! * 1_000);

  await deliver(service.url, completed(stripe.pay((await open(ann, 'power')).url)));
  await until(async () => first.status === 'canceled' && renewals().length === 2);
  assert.equal(await planOf(ann), 'power');
  assert.equal((await notify('customer.subscription.deleted', first)).status, 200);
  assert.equal(await planOf(ann), 'power', 'the end of what was replaced ends nothing');

  const second = renewals()[1]!;
  second.status = 'canceled';
  await until(async () => {
    assert.equal((await notify('customer.subscription.deleted', second)).status, 200);
    return (await planOf(ann)) === 'free';
  });
});

test('a lower plan is paid from the next term on, the free one not at all; such a choice is made on a page of this service, without a payment', async () => {
  const ann = await Caller.register(service);
  const before = new Set(stripe.subscriptions.keys());
  const renewals = () => [...stripe.subscriptions.values()].filter(({ id }) => !before.has(id));
  await deliver(service.url, completed(stripe.pay((await open(ann, 'power')).url)));
  await until(async () => renewals().length === 1);
  const choose = async (plan: string, period = 'monthly') => {
    const { url } = await open(ann, plan, period);
    assert.ok(url.startsWith(service.url), 'a page of this service');
    const words = plan === 'free' ? />Nothing is charged\.</ : />Nothing is charged now\. When it begins, its price is charged/;
    assert.match(await (await fetch(url)).text(), words);
    assert.equal((await fetch(`${url}?do=pay`, { method: 'POST', redirect: 'manual' })).status, 303);
  };
  await choose('pro', 'annual');
  await until(async () => renewals().length === 2 && renewals()[0]!.status === 'canceled');
  const [old, lesser] = renewals() as [StripeSubscription, StripeSubscription];
  assert.deepEqual([lesser.status, lesser.trial_end, lesser.items.data[0]!.price.unit_amount], ['trialing', old.trial_end, 58_800]);
  assert.equal(lesser.items.data[0]!.price.recurring.interval, 'year');
  await choose('free');
  await until(async () => lesser.status === 'canceled');
  await choose('power');
  await until(async () => renewals().length === 3);
  assert.deepEqual([renewals()[2]!.status, renewals()[2]!.trial_end], ['trialing', old.trial_end]);
  assert.equal(await planOf(ann), 'power');
  assert.equal((await invoicesOf(ann)).length, 1);
});

test('while Stripe is unavailable, busy or slow no page is created and nothing is stored; a lost answer creates no second page', async () => {
  const ann = await Caller.register(service);
  const asked = (key: string) =>
    ann.fetch('POST', '/v1/billing/checkout', { plan: 'pro', billing_period: 'monthly' }, { 'idempotency-key': key });
  const made = stripe.sessions.size;
  stripe.always = { status: 503, body: { error: { type: 'api_error', message: stripeSecretKey } } };
  const refused = await asked('away');
  assert.equal(refused.status, 503);
  assert.match(await refused.text(), /The payment processor does not answer now/);
  assert.ok(refused.headers.get('retry-after'));
  stripe.always = 'reset';
  assert.equal((await asked('away')).status, 503);
  stripe.always = { status: 401, body: { error: { type: 'invalid_request_error', code: 'api_key_expired', message: stripeSecretKey } } };
  assert.equal((await asked('away')).status, 503);
  assert.equal(stripe.sessions.size, made);
  assert.equal(await planOf(ann), 'free');
  stripe.always = null;
  const late = (await (await asked('away')).json()) as { url: string };
  assert.match(late.url, /checkout\.stripe\.test/, 'the same request gets its page when Stripe is back');
  assert.equal(stripe.sessions.size, made + 1);

  stripe.failures = ['answer is lost', { status: 429, body: { error: { type: 'invalid_request_error', code: 'lock_timeout' } } }];
  const once = (await (await asked('lost')).json()) as { url: string };
  assert.equal(stripe.sessions.size, made + 2);
  assert.ok(stripe.sessionOf(once.url));

  const event = completed(stripe.pay(once.url));
  stripe.always = { status: 500, body: { error: { type: 'api_error' } } };
  assert.equal((await deliver(service.url, event)).status, 503, 'Stripe sends it again');
  stripe.always = null;
  assert.equal((await deliver(service.url, event)).status, 200);
  await until(async () => (await planOf(ann)) === 'pro');
  assert.ok(!service.output().includes(stripeSecretKey));
});

test('after kills between payment and notification, and between notification and plan, the plan is paid once', async () => {
  const ann = await Caller.register(service);
  const opened = await open(ann);
  const session = stripe.pay(opened.url);
  await service.kill();
  await service.restart();
  const event = completed(session);
  await killDuringQuery(stripe, service, event, session);
  const again = await deliver(service.url, event);
  assert.equal(again.status, 200);
  await service.kill();
  await service.restart();
  const back = ann.at(service);
  await until(async () => (await planOf(back)) === 'pro');
  assert.equal((await invoicesOf(back)).length, 1);
  assert.equal((await deliver(service.url, event)).status, 200);
  await until(async () => [...stripe.subscriptions.values()].some(({ customer }) => customer === session.customer));
  assert.equal([...stripe.subscriptions.values()].filter(({ customer }) => customer === session.customer).length, 1);
  assert.ok(!stripe.refunds.some(({ payment_intent }) => payment_intent === session.payment_intent!.id));
});
