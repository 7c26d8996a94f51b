/** Changing the plan: a user of the account opens a checkout, which is decided on a page whose address is the only credential. */

import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { type Clock, isoTimestamp } from '../../../clock.ts';
import { readForm } from '../../../edge/http/form-body.ts';
import type { HttpResponse } from '../../../edge/http/message.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { isWebAddress, webAddressRule } from '../../../edge/routes/web-address.ts';
import { AppError, invalidField } from '../../../errors.ts';
import { billingPeriods, plans } from '../../../plans.ts';
import { account, quoteFor } from '../../accounts/contract.ts';
import type { CheckoutRow } from '../checkout/entity.ts';
import { type ContactRequest, checkout } from '../checkout/messages.ts';
import { billingIds } from '../ids.ts';
import { checkoutPage, isExpired, noCheckoutPage } from './checkout-page.ts';

/** The address where users pay. */
export type CheckoutPages = {
  pageOf(checkoutId: string, publicUrl: string): string;
  checkoutOf(key: string): string | null;
};

export type CheckoutRouteParts = {
  actors: ActorSystem;
  pages: CheckoutPages;
  /** Whether there is a payment processor. */
  takesPayments: boolean;
  /** Base address of this service. */
  publicUrl(): string;
  clock: Clock;
};

const Url = Type.String({
  minLength: 1,
  maxLength: 2_000,
  description:
    'An https address, or an http one of this very machine (127.0.0.1, [::1], localhost). The page names its host before it leads there',
});
const html = 'text/html';
const shared = {
  scope: null,
  extension: true,
  idempotent: false,
  advice: 'Go back to where you came from, and begin to pay again.',
} as const;

export function checkoutRoutes({ actors, pages, takesPayments, publicUrl, clock }: CheckoutRouteParts): AnyRoute[] {
  const open = route({
    method: 'POST',
    path: '/billing/checkout',
    summary: 'Change the plan',
    description:
      'Returns the address of a page for paying the plan, valid for 30 minutes and one decision. Send `billing_period`, or `success_url` and `cancel_url` (then it is monthly). An upgrade applies at once, a downgrade from the end of the billing period. For the business plan the page shows a contact form.',
    scope: 'session',
    body: Type.Object({
      plan: Type.Enum([...plans]),
      billing_period: Type.Optional(Type.Enum([...billingPeriods])),
      success_url: Type.Optional(Url),
      cancel_url: Type.Optional(Url),
    }),
    responses: {
      201: Type.Object({
        checkout_url: Type.String(),
        session_id: Type.String(),
        expires_at: Type.String({ format: 'date-time' }),
        url: Type.String({ description: 'The same as `checkout_url`' }),
      }),
    },
    async handler(context) {
      const { accountId, userId } = context.principal;
      const { plan, billing_period, success_url, cancel_url } = context.body;
      if (billing_period === undefined && success_url === undefined)
        throw invalidField(['body', 'billing_period'], 'Field required', 'missing', context.body);
      const billingPeriod = billing_period ?? 'monthly';
      const successUrl = target(success_url, 'success_url');
      const cancelUrl = target(cancel_url, 'cancel_url');
      const row = await actors.query(account, accountId, 'get', null);
      if (row === null) throw new AppError('not_found', 'Account not found');
      const { amountMinor, lines } = quoteFor(row, { plan, billingPeriod }, clock.nowMs());
      const { id, commandId } = commandIds(context, billingIds.checkout, clock.nowMs());
      const ownPage = pages.pageOf(id, publicUrl());
      const input = { accountId, userId, plan, billingPeriod, amountMinor, lines, successUrl, cancelUrl, ownPage };
      const opened = await actors.ask(checkout, id, 'open', input, { commandId });
      const url = opened.pageUrl ?? ownPage;
      return answer(201, { checkout_url: url, session_id: id, expires_at: isoTimestamp(opened.expiresAt), url });
    },
  });

  const show = route({
    ...shared,
    method: 'GET',
    path: '/checkout/{key}',
    summary: 'Show the page of a checkout',
    responses: { 200: null, 404: null, 410: null },
    contentTypes: { 200: html, 404: html, 410: html },
    async handler({ params }) {
      const found = await of(params.key);
      return found === null ? noCheckoutPage() : shown(await asItIs(found));
    },
  });

  const decide = route({
    ...shared,
    method: 'POST',
    path: '/checkout/{key}',
    summary: 'Pay, cancel, or request an offer',
    description:
      'What the forms of the page post. Once paid or cancelled it leads to `success_url` or `cancel_url`, or back to the page. 409: it is decided already. 410: it has expired.',
    query: Type.Object({ do: Type.Enum(['pay', 'cancel', 'contact']) }),
    responses: { 200: null, 303: null, 404: null, 409: null, 410: null, 422: null },
    contentTypes: { 200: html, 404: html, 409: html, 410: html, 422: html },
    errors: [400, 413, 415],
    readsBody: true,
    async handler(context) {
      const { params, query } = context;
      const found = await of(params.key);
      if (found === null) return noCheckoutPage();
      const sent = query.do === 'contact' ? contactOf(await readForm(context)) : undefined;
      const problem = sent === undefined ? null : problemOf(sent);
      if (problem !== null) return shown(found, 422, problem, sent);
      try {
        if (query.do === 'pay') return leave((await actors.ask(checkout, found.id, 'pay', null)).successUrl, params.key);
        if (query.do === 'cancel') return leave((await actors.ask(checkout, found.id, 'cancel', null)).cancelUrl, params.key);
        return shown(await actors.ask(checkout, found.id, 'contact', sent!));
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
        const now = (await of(params.key)) ?? found;
        // A second submission finds it decided: the page says so.
        return shown(now, 409, now.status === wanted[query.do] ? null : error.message);
      }
    },
  });

  return [open, show, decide];

  async function of(key: string): Promise<CheckoutRow | null> {
    const id = pages.checkoutOf(key);
    return id === null ? null : actors.query(checkout, id, 'get', null);
  }

  /** Users who return from the processor's page see the result, even before its notification arrives. */
  async function asItIs(found: CheckoutRow): Promise<CheckoutRow> {
    if (found.sessionId === null || found.status !== 'open') return found;
    try {
      return await actors.ask(checkout, found.id, 'look', null);
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'internal') throw error;
      return found;
    }
  }

  function shown(found: CheckoutRow, status = 200, problem: string | null = null, sent?: ContactRequest): HttpResponse {
    const nowMs = clock.nowMs();
    const isOver = found.status === 'expired' || (found.status === 'open' && isExpired(found, nowMs));
    return checkoutPage({ checkout: found, nowMs, takesPayments, problem: isOver ? null : problem, sent }, isOver ? 410 : status);
  }

  /** null: none is given. Users may be sent to any host, so the page names it. */
  function target(url: string | undefined, field: string): string | null {
    if (url === undefined) return null;
    const isOurs = URL.canParse(url) && new URL(url).origin === new URL(publicUrl()).origin;
    if (!isOurs && !isWebAddress(url)) throw invalidField(['body', field], webAddressRule, 'value_error', url);
    return new URL(url).href;
  }
}

function leave(url: string | null, key: string): HttpResponse {
  return {
    status: 303,
    headers: { Location: url ?? `./${key}`, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' },
    body: null,
  };
}

const wanted = { pay: 'paid', contact: 'contacted', cancel: 'cancelled' } as const;

function contactOf(fields: URLSearchParams): ContactRequest {
  const text = (name: string) => (fields.get(name) ?? '').trim();
  return { name: text('name'), email: text('email'), message: text('message') };
}

const longest: Record<keyof ContactRequest, number> = { name: 200, email: 254, message: 5_000 };

function problemOf(sent: ContactRequest): string | null {
  if (!/^[^\s@<>]+@[^\s@<>]+$/.test(sent.email)) return 'Give an e-mail address that we can answer to.';
  if (sent.message === '') return 'Say what you need.';
  const long = (Object.keys(longest) as (keyof ContactRequest)[]).find((name) => sent[name].length > longest[name]);
  return long === undefined ? null : `The ${long} is too long.`;
}
