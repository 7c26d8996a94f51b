/** The checkout as a page: plain HTML that works without JavaScript, in any browser and by curl. It loads nothing, and no other page may show it. */
import { type BillingPeriod, type Plan, planPriceMinor } from '../../plans.ts';
import type { CheckoutRow } from '../../storage/entities/checkout.ts';
import type { HttpResponse } from '../http/message.ts';

export type CheckoutPage = {
  checkout: CheckoutRow;
  nowMs: number;
  /** What people are told about paying here; null: nothing. */
  notice: string | null;
  /** What was wrong with what they sent; null: nothing. */
  problem?: string | null;
};

const prices: Record<BillingPeriod, string> = { monthly: 'a month', annual: 'a year' };

/** The page as the checkout stands. */
export function checkoutPage({ checkout, nowMs, notice, problem = null }: CheckoutPage, status = 200): HttpResponse {
  const { title, body } = contents(checkout, nowMs, notice);
  const said = problem === null ? '' : `<p role="alert"><strong>${escaped(problem)}</strong></p>`;
  return page(title, said + body, status, [checkout.successUrl, checkout.cancelUrl]);
}

/** Where there is no checkout of this address. */
export function noCheckoutPage(): HttpResponse {
  return page('No such checkout', '<p>This address leads to no checkout. Ask for a new one.</p>', 404, []);
}

function contents(checkout: CheckoutRow, nowMs: number, notice: string | null): { title: string; body: string } {
  const { plan, status } = checkout;
  const name = named(plan);
  if (status === 'paid') return { title: 'Thank you', body: `<p>You have chosen the plan ${name}.</p>` };
  if (status === 'paying') return { title: 'One moment', body: '<p>Your plan is about to change. Look again in a moment.</p>' };
  if (status === 'cancelled') return { title: 'Cancelled', body: '<p>Nothing was changed and nothing was charged.</p>' };
  if (status === 'contacted') return { title: 'Thank you', body: '<p>We have your message and will write to you.</p>' };
  if (isExpired(checkout, nowMs))
    return { title: 'Expired', body: '<p>This page was good for 30 minutes. Nothing was charged. Ask for a new one.</p>' };
  const cancel = '<form method="post" action="?do=cancel"><button>Cancel</button></form>';
  if (planPriceMinor(plan, checkout.billingPeriod) === null) return { title: `Plan ${name}`, body: contactForm(name) + cancel };
  const hint = notice === null ? '' : `<p><small>${escaped(notice)}</small></p>`;
  const pay = `<form method="post" action="?do=pay"><button autofocus>${checkout.amountMinor > 0 ? `Pay ${dollars(checkout.amountMinor)}` : 'Confirm'}</button></form>`;
  return { title: `Plan ${name}`, body: `<p>${offer(checkout, name)}</p>${hint}${pay}${cancel}` };
}

function offer({ plan, billingPeriod, amountMinor }: CheckoutRow, name: string): string {
  const price = `${dollars(planPriceMinor(plan, billingPeriod)!)} ${prices[billingPeriod]}`;
  if (amountMinor > 0) return `${name}: ${price}. It holds at once.`;
  return `${name}: ${price}. Nothing is due now: a lesser plan holds from the end of the billing period on, and the plan you have stays.`;
}

function contactForm(name: string): string {
  return `<p>The price of ${name} is agreed with each customer. Tell us what you need:</p>
<form method="post" action="?do=contact">
<p><label>Name<br><input name="name" maxlength="200" autocomplete="name"></label></p>
<p><label>E-mail<br><input name="email" type="email" required maxlength="254" autocomplete="email"></label></p>
<p><label>Message<br><textarea name="message" required maxlength="5000" rows="6" cols="60"></textarea></label></p>
<p><button>Send</button></p>
</form>`;
}

export function isExpired({ expiresAt }: CheckoutRow, nowMs: number): boolean {
  return nowMs >= expiresAt;
}

function page(title: string, body: string, status: number, leadsTo: (string | null)[]): HttpResponse {
  // Browsers hold the redirect after a form to the same list.
  const targets = new Set(leadsTo.filter((url) => url !== null).map((url) => new URL(url).origin));
  return {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Content-Security-Policy': `default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'; form-action ${["'self'", ...targets].join(' ')}`,
    },
    body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(title)}</title>
<style>body{font:1.1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:3rem auto;padding:0 1rem}form{margin:1rem 0}button{font:inherit;padding:.5rem 1.5rem}input,textarea{font:inherit;width:100%}</style>
<h1>${escaped(title)}</h1>
${body}
</html>
`,
  };
}

function named(plan: Plan): string {
  return plan[0]!.toUpperCase() + plan.slice(1);
}

function dollars(minor: number): string {
  return `$${(minor / 100).toFixed(2)}`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
