/** A plan paid with Stripe: both nodes of a cluster get the webhook at once, and the node that owns the checkout is killed. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { shardOf } from '../../src/cluster/address.ts';
import { ClusterProcesses } from '../support/cluster-processes.ts';
import { withoutRedis } from '../support/redis.ts';
import { Caller } from '../support/service.ts';
import { deliver, StripeServer } from '../support/stripe-server.ts';

const options = { skip: withoutRedis, timeout: 300_000 };

test(
  'a payment whose webhook reaches both nodes counts once, although the owner is killed after its query to Stripe',
  options,
  async (t) => {
    const stripe = await StripeServer.start(t);
    const cluster = await ClusterProcesses.start({ nodes: 2, redis: true, env: stripe.env });
    t.after(() => cluster.close());
    const ann = await Caller.register(cluster.nodes[0]!);
    const opened = await ann.json('POST', '/v1/billing/checkout', { plan: 'pro', billing_period: 'monthly' });
    const owner = (await cluster.ownerOfShards())[shardOf('checkout', opened.session_id)];
    const victim = cluster.nodes.find(({ name }) => name === owner)!;
    const survivor = cluster.nodes.find((node) => node !== victim)!;

    const session = stripe.pay(opened.url);
    const event = stripe.event('checkout.session.completed', session);
    const queried = stripe.next(new RegExp(session.id));
    const deliveries = cluster.nodes.map(({ url }) => deliver(url, event).catch(() => null));
    await queried;
    await victim.kill();
    await Promise.all(deliveries);
    // Stripe repeats a notification until it is accepted.
    while ((await deliver(survivor.url, event)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
    const back = ann.at(survivor);
    while ((await back.json('GET', '/v1/billing')).plan !== 'pro') await new Promise((resolve) => setTimeout(resolve, 20));
    while (stripe.subscriptions.size === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal((await deliver(survivor.url, { ...event, id: 'evt_again' })).status, 200);
    assert.equal((await back.json('GET', '/v1/billing/invoices')).data.length, 1);
    assert.deepEqual([stripe.subscriptions.size, stripe.refunds.length], [1, 0]);
  },
);
