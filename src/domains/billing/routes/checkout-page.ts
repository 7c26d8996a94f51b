/**
 * The checkout as a page: plain HTML that works without JavaScript, in any browser and with curl. It loads nothing, and cannot be shown
 * inside another page.
 */

import { type Html, html } from '../../../edge/http/html.ts';
import { page } from '../../../edge/http/html-page.ts';
import type { HttpResponse } from '../../../edge/http/message.ts';
import { type BillingPeriod, planName, planPriceMinor } from '../../../plans.ts';
import type { CheckoutRow, PlanCheckoutRow } from '../checkout/entity.ts';
import type { ContactRequest } from '../checkout/messages.ts';

export type CheckoutPage = {
  checkout: CheckoutRow;
  nowMs: number;
  /** Whether there is a payment processor. This page asks for payments only where there is none. */
  takesPayments: boolean;
  /** The error in the submitted form; null: none. */
  problem?: string | null;
  /** The submitted values, to fill the form again. */
  sent?: ContactRequest;
};

const nothingSent: ContactRequest = { name: '', email: '', message: '' };

const prices: Record<BillingPeriod, string> = { monthly: 'a month', annual: 'a year' };

/** The page for the checkout's present state. */
export function checkoutPage(
  { checkout, nowMs, takesPayments, problem = null, sent = nothingSent }: CheckoutPage,
  status = 200,
): HttpResponse {
  const { title, body } = contents(checkout, nowMs, takesPayments, sent);
  const alert = problem === null ? null : html`<p role="alert"><strong>${problem}</strong></p>`;
  return page(title, html`${alert}${body}`, status, [checkout.successUrl, checkout.cancelUrl]);
}

/** The page for an address without a checkout. */
export function noCheckoutPage(): HttpResponse {
  return page('No such checkout', html`<p>This address leads to no checkout. Ask for a new one.</p>`, 404, []);
}

type Contents = { title: string; body: Html };

function contents(checkout: CheckoutRow, nowMs: number, takesPayments: boolean, sent: ContactRequest): Contents {
  const { plan, status, lines } = checkout;
  if (plan === null) return deposit(checkout, nowMs);
  const name = planName(plan);
  if (status === 'paid') {
    const from = lines.length > 0 ? 'It holds from now on, and the invoice is in your list of invoices.' : waits;
    return { title: 'Thank you', body: html`<p>You have chosen the plan ${name}. ${from}</p>` };
  }
  if (status === 'paying') return { title: 'One moment', body: html`<p>Your plan is about to change. Look again in a moment.</p>` };
  if (status === 'cancelled') return { title: 'Cancelled', body: html`<p>Nothing was changed and nothing was charged.</p>` };
  if (status === 'contacted') return { title: 'Thank you', body: html`<p>We have your message and will write to you.</p>` };
  if (status === 'opening') return { title: 'One moment', body: html`<p>The page is being opened. Look again in a moment.</p>` };
  if (status === 'failed')
    return { title: 'Not now', body: html`<p>The payment could not be begun. Nothing was charged. Ask for a new page.</p>` };
  if (status === 'waiting')
    return { title: 'One moment', body: html`<p>Your payment is on its way. Your plan changes as soon as it has arrived.</p>` };
  if (status === 'returning' || status === 'returned')
    return { title: 'Given back', body: html`<p>Your plan was as good by then: what you have paid is given back.</p>` };
  if (status === 'mismatched')
    return {
      title: 'Something is wrong',
      body: html`<p>What was paid is not what was asked for. Your plan has not changed. We look into it.</p>`,
    };
  if (status === 'expired' || isExpired(checkout, nowMs))
    return { title: 'Expired', body: html`<p>This page was good for 30 minutes. Nothing was charged. Ask for a new one.</p>` };
  if (checkout.pageUrl !== null)
    return {
      title: `Plan ${name}`,
      body: html`<p>Nothing has been paid yet. <a href="${checkout.pageUrl}">Go on to the payment</a></p>${destinations(checkout)}`,
    };
  const priceMinor = planPriceMinor(plan, checkout.billingPeriod);
  if (priceMinor === null) return { title: `Plan ${name}`, body: contactForm(name, sent, destinations({ ...checkout, successUrl: null })) };
  const cancel = html`<form method="post" action="?do=cancel"><button>Cancel</button></form>`;
  const hint = html`<p class="quiet">${takesPayments ? (priceMinor === 0 ? 'Nothing is charged.' : laterCharge) : noProcessor}</p>`;
  const pay = html`<form method="post" action="?do=pay"><button class="main" autofocus>${checkout.amountMinor > 0 ? `Pay ${dollars(checkout.amountMinor)}` : 'Confirm'}</button></form>`;
  return {
    title: `Plan ${name}`,
    body: html`${offer(checkout, name)}${hint}${destinations(checkout)}<div class="choice">${pay}${cancel}</div>`,
  };
}

const noProcessor = 'This service has no payment processor: no card is asked for and nothing is charged.';
const laterCharge = 'Nothing is charged now. When it begins, its price is charged to the payment method that you paid with.';
const waits = 'It begins when what you have paid for ends.';

/** For money for the wallet, paid only on the processor's page. */
function deposit(checkout: CheckoutRow, nowMs: number): Contents {
  const { status, amountMinor, pageUrl } = checkout;
  if (status === 'paid') return { title: 'Thank you', body: html`<p>Your ${dollars(amountMinor)} are in the wallet in a moment.</p>` };
  if (status === 'waiting')
    return { title: 'One moment', body: html`<p>Your payment is on its way. The wallet has it as soon as it has arrived.</p>` };
  if (status === 'mismatched')
    return {
      title: 'Something is wrong',
      body: html`<p>What was paid is not what was asked for. The wallet does not have it yet. We look into it.</p>`,
    };
  if (status === 'expired' || isExpired(checkout, nowMs))
    return { title: 'Expired', body: html`<p>This page was good for 30 minutes. Nothing was paid in. Begin anew.</p>` };
  const body =
    pageUrl === null
      ? html`<p>The payment has not begun.</p>`
      : html`<p>Nothing has been paid yet. <a href="${pageUrl}">Go on to the payment</a></p>`;
  return { title: `Deposit of ${dollars(amountMinor)}`, body };
}

function offer({ plan, billingPeriod, amountMinor, lines }: PlanCheckoutRow, name: string): Html {
  const price = `${dollars(planPriceMinor(plan, billingPeriod)!)} ${prices[billingPeriod]}`;
  if (lines.length === 0)
    return html`<p>${name}: ${price}. Nothing is due now. It begins when what you have paid for ends; until then you keep the plan you have.</p>`;
  const row = (text: string, minor: number, tag = 'td') =>
    html`<tr><${tag}>${text}</${tag}><${tag} class="sum">${dollars(minor)}</${tag}></tr>\n`;
  return html`<p>${name}: ${price}. It holds at once, and goes on at this price until you choose another plan.</p>
<table>
${lines.map(({ description, amountMinor: minor }) => row(description, minor))}${row('Due now', amountMinor, 'th')}</table>
`;
}

/** Where the buttons lead: the API caller chose the host, so the page names it first. */
function destinations({ successUrl, cancelUrl }: Pick<CheckoutRow, 'successUrl' | 'cancelUrl'>): Html | null {
  const to = (when: string, url: string | null) =>
    url === null ? null : html`${when} leads you to <strong>${new URL(url).host}</strong>.`;
  const [paying, cancelling] = [to('Paying', successUrl), to('Cancelling', cancelUrl)];
  if (paying === null && cancelling === null) return null;
  return html`<p class="quiet">${paying}${paying !== null && cancelling !== null ? ' ' : null}${cancelling}</p>`;
}

function contactForm(plan: string, { name, email, message }: ContactRequest, leadsTo: Html | null): Html {
  return html`<p>The price of ${plan} is agreed with each customer. Tell us what you need:</p>
<form method="post" action="?do=contact">
<p><label>Name<br><input name="name" maxlength="200" autocomplete="name" value="${name}"></label></p>
<p><label>E-mail<br><input name="email" type="email" required maxlength="254" autocomplete="email" value="${email}"></label></p>
<p><label>Message<br><textarea name="message" required maxlength="5000" rows="6">
${message}</textarea></label></p>
${leadsTo}
<div class="choice"><button class="main">Send</button><button formaction="?do=cancel" formnovalidate>Cancel</button></div>
</form>`;
}

export function isExpired({ expiresAt }: CheckoutRow, nowMs: number): boolean {
  return nowMs >= expiresAt;
}

const majorFormat = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

function dollars(minor: number): string {
  return `${minor < 0 ? '−' : ''}$${majorFormat.format(Math.abs(minor) / 100)}`;
}
