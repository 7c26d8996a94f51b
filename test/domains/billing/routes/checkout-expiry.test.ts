/** The checkout page over time: what is shown, accepted and booked before and after its half hour. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { ActorSystem } from '../../../../src/actors/actor-system.ts';
import type { AnyActor } from '../../../../src/actors/define-actor.ts';
import { accountActor } from '../../../../src/domains/accounts/account/account.ts';
import { account } from '../../../../src/domains/accounts/account/messages.ts';
import { accountSettingsActor } from '../../../../src/domains/accounts/account-settings/account-settings.ts';
import { checkoutActor, checkoutLifeMs } from '../../../../src/domains/billing/checkout/checkout.ts';
import { checkoutEffects } from '../../../../src/domains/billing/checkout/effects.ts';
import { createEmbeddedPayments } from '../../../../src/domains/billing/payments/embedded.ts';
import { checkoutRoutes } from '../../../../src/domains/billing/routes/checkout.ts';
import { noLog } from '../../../../src/log.ts';
import { startEdge } from '../../../support/http-edge.ts';
import { identityDatabase, KeptMail, secretKey } from '../../../support/identity-node.ts';

const pro = { plan: 'pro', billingPeriod: 'monthly', amountMinor: 4_900, processorId: null } as const;

test('an expired page says so, accepts neither payment nor message, and books nothing; a millisecond earlier it is valid', {
  timeout: 240_000,
}, async (t) => {
  const { database, clock, startRuntime } = await identityDatabase(t);
  const mail = new KeptMail();
  let actors!: ActorSystem;
  const later = {
    ask: (...of: Parameters<ActorSystem['ask']>) => actors.ask(...of),
    query: (...of: Parameters<ActorSystem['query']>) => actors.query(...of),
  } as ActorSystem;
  const effects = checkoutEffects({
    actors: later,
    mail,
    salesAddress: 'sales@example.com',
    processor: null,
    onMismatch: assert.fail,
    log: noLog,
  });
  const defined = [accountActor({ startedTasks: null as never }), accountSettingsActor, checkoutActor(effects, { takesPayments: false })];
  ({ actors } = await startRuntime(defined as unknown as AnyActor[]));
  await actors.ask(account, 'acct_1', 'changePlan', { ...pro, paymentId: 'cs_first' });
  const pages = createEmbeddedPayments(secretKey);
  const edge = await startEdge(checkoutRoutes({ actors, pages, takesPayments: false, publicUrl: () => 'http://service.test', clock }));
  t.after(() => edge.server.close(1_000));

  const open = async (plan: string): Promise<string> => {
    const headers = { authorization: 'Bearer all', 'content-type': 'application/json' };
    const body = JSON.stringify({ plan, billing_period: 'monthly' });
    const answer: any = await (await fetch(`${edge.url}/v1/billing/checkout`, { method: 'POST', headers, body })).json();
    assert.equal(Date.parse(answer.expires_at), clock.nowMs() + checkoutLifeMs);
    return edge.url + new URL(answer.url).pathname;
  };
  const message = { name: 'Ann', email: 'ann@example.com', message: 'Forty seats' };
  const post = (page: string, what: string) =>
    fetch(`${page}?do=${what}`, {
      method: 'POST',
      redirect: 'manual',
      body: what === 'contact' ? new URLSearchParams(message) : undefined,
    });
  const bought = async () => {
    const [{ invoices }] = (await database.read({ name: 'invoices', text: 'select count(*)::int as invoices from invoice', values: [] }))
      .rows as any;
    return [(await actors.query(account, 'acct_1', 'get', null))!.plan, invoices];
  };

  const [late, inTime, asked] = [await open('power'), await open('power'), await open('business')];
  clock.advance(checkoutLifeMs - 1);
  assert.match(await (await fetch(late)).text(), /<button class="main" autofocus>Pay \$/);
  clock.advance(1);
  for (const answer of [await fetch(late), await post(late, 'pay'), await post(late, 'cancel'), await post(asked, 'contact')]) {
    assert.deepEqual([answer.status, answer.headers.get('cache-control')], [410, 'no-store']);
    const html = await answer.text();
    assert.match(html, /<h1>Expired<\/h1>.*Nothing was charged/s);
    assert.doesNotMatch(html, /<form/);
  }
  assert.deepEqual([await bought(), mail.sent], [['pro', 1], []]);

  clock.advance(-1);
  const [first, second] = await Promise.all([post(inTime, 'pay'), post(inTime, 'pay')]);
  assert.ok([first.status, second.status].includes(303) && [303, 409].includes(Math.max(first.status, second.status)));
  assert.deepEqual(await bought(), ['power', 2]);
  clock.advance(checkoutLifeMs);
  const replayed = await post(inTime, 'pay');
  assert.equal(replayed.status, 409, 'what was paid is paid, and does not expire');
  const html = await replayed.text();
  assert.match(html, /You have chosen the plan Power/);
  assert.doesNotMatch(html, /role="alert"/, 'who presses twice has what they wanted');
  assert.equal((await fetch(inTime)).status, 200);
  assert.deepEqual(await bought(), ['power', 2]);
});
