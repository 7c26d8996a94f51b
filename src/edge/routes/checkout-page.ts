/** The checkout as a page: plain HTML that works without JavaScript, in any browser and by curl. It loads nothing, and no other page may show it. */
import type { ContactRequest } from '../../actors/checkout/messages.ts';
import { type BillingPeriod, type Plan, planPriceMinor } from '../../plans.ts';
import type { CheckoutRow, PlanCheckoutRow } from '../../storage/entities/checkout.ts';
import type { HttpResponse } from '../http/message.ts';

export type CheckoutPage = {
  checkout: CheckoutRow;
  nowMs: number;
  /** What people are told about paying here; null: nothing. */
  notice: string | null;
  /** What was wrong with what they sent; null: nothing. */
  problem?: string | null;
  /** What they had written, so that nobody writes it twice. */
  sent?: ContactRequest;
};

const nothingSent: ContactRequest = { name: '', email: '', message: '' };

const prices: Record<BillingPeriod, string> = { monthly: 'a month', annual: 'a year' };

/** The page as the checkout stands. */
export function checkoutPage({ checkout, nowMs, notice, problem = null, sent = nothingSent }: CheckoutPage, status = 200): HttpResponse {
  const { title, body } = contents(checkout, nowMs, notice, sent);
  const said = problem === null ? '' : `<p role="alert"><strong>${escaped(problem)}</strong></p>`;
  return page(title, said + body, status, [checkout.successUrl, checkout.cancelUrl]);
}

/** Where there is no checkout of this address. */
export function noCheckoutPage(): HttpResponse {
  return page('No such checkout', '<p>This address leads to no checkout. Ask for a new one.</p>', 404, []);
}

type Contents = { title: string; body: string };

function contents(checkout: CheckoutRow, nowMs: number, notice: string | null, sent: ContactRequest): Contents {
  const { plan, status, lines } = checkout;
  if (plan === null) return deposit(checkout, nowMs);
  const name = named(plan);
  if (status === 'paid') {
    const from = lines.length > 0 ? 'It holds from now on, and the invoice is in your list of invoices.' : waits;
    return { title: 'Thank you', body: `<p>You have chosen the plan ${name}. ${from}</p>` };
  }
  if (status === 'paying') return { title: 'One moment', body: '<p>Your plan is about to change. Look again in a moment.</p>' };
  if (status === 'cancelled') return { title: 'Cancelled', body: '<p>Nothing was changed and nothing was charged.</p>' };
  if (status === 'contacted') return { title: 'Thank you', body: '<p>We have your message and will write to you.</p>' };
  if (status === 'opening') return { title: 'One moment', body: '<p>The page is being opened. Look again in a moment.</p>' };
  if (status === 'failed')
    return { title: 'Not now', body: '<p>The payment could not be begun. Nothing was charged. Ask for a new page.</p>' };
  if (status === 'waiting')
    return { title: 'One moment', body: '<p>Your payment is on its way. Your plan changes as soon as it has arrived.</p>' };
  if (status === 'returning' || status === 'returned')
    return { title: 'Given back', body: '<p>Your plan was as good by then: what you have paid is given back.</p>' };
  if (status === 'mismatched')
    return {
      title: 'Something is wrong',
      body: '<p>What was paid is not what was asked for. Your plan has not changed. We look into it.</p>',
    };
  if (status === 'expired' || isExpired(checkout, nowMs))
    return { title: 'Expired', body: '<p>This page was good for 30 minutes. Nothing was charged. Ask for a new one.</p>' };
  if (checkout.pageUrl !== null)
    return {
      title: `Plan ${name}`,
      body: `<p>Nothing has been paid yet. <a href="${escaped(checkout.pageUrl)}">Go on to the payment</a></p>`,
    };
  if (planPriceMinor(plan, checkout.billingPeriod) === null) return { title: `Plan ${name}`, body: contactForm(name, sent) };
  const cancel = '<form method="post" action="?do=cancel"><button>Cancel</button></form>';
  const hint = notice === null ? '' : `<p class="quiet">${escaped(notice)}</p>`;
  const pay = `<form method="post" action="?do=pay"><button class="main" autofocus>${checkout.amountMinor > 0 ? `Pay ${dollars(checkout.amountMinor)}` : 'Confirm'}</button></form>`;
  return { title: `Plan ${name}`, body: `${offer(checkout, name)}${hint}<div class="choice">${pay}${cancel}</div>` };
}

const waits = 'It begins when what you have paid for ends.';

/** Of money for the wallet, which is paid on the processor's page alone. */
function deposit(checkout: CheckoutRow, nowMs: number): Contents {
  const { status, amountMinor, pageUrl } = checkout;
  if (status === 'paid') return { title: 'Thank you', body: `<p>Your ${dollars(amountMinor)} are in the wallet in a moment.</p>` };
  if (status === 'waiting')
    return { title: 'One moment', body: '<p>Your payment is on its way. The wallet has it as soon as it has arrived.</p>' };
  if (status === 'mismatched')
    return {
      title: 'Something is wrong',
      body: '<p>What was paid is not what was asked for. The wallet does not have it yet. We look into it.</p>',
    };
  if (status === 'expired' || isExpired(checkout, nowMs))
    return { title: 'Expired', body: '<p>This page was good for 30 minutes. Nothing was paid in. Begin anew.</p>' };
  const body =
    pageUrl === null
      ? '<p>The payment has not begun.</p>'
      : `<p>Nothing has been paid yet. <a href="${escaped(pageUrl)}">Go on to the payment</a></p>`;
  return { title: `Deposit of ${dollars(amountMinor)}`, body };
}

function offer({ plan, billingPeriod, amountMinor, lines }: PlanCheckoutRow, name: string): string {
  const price = `${dollars(planPriceMinor(plan, billingPeriod)!)} ${prices[billingPeriod]}`;
  if (lines.length === 0)
    return `<p>${name}: ${price}. Nothing is due now. It begins when what you have paid for ends; until then you keep the plan you have.</p>`;
  const row = (text: string, minor: number, tag = 'td') =>
    `<tr><${tag}>${escaped(text)}</${tag}><${tag} class="sum">${dollars(minor)}</${tag}></tr>`;
  const rows = lines.map(({ description, amountMinor: minor }) => row(description, minor)).join('\n');
  return `<p>${name}: ${price}. It holds at once, and goes on at this price until you choose another plan.</p>
<table>
${rows}
${row('Due now', amountMinor, 'th')}
</table>
`;
}

function contactForm(plan: string, { name, email, message }: ContactRequest): string {
  return `<p>The price of ${plan} is agreed with each customer. Tell us what you need:</p>
<form method="post" action="?do=contact">
<p><label>Name<br><input name="name" maxlength="200" autocomplete="name" value="${escaped(name)}"></label></p>
<p><label>E-mail<br><input name="email" type="email" required maxlength="254" autocomplete="email" value="${escaped(email)}"></label></p>
<p><label>Message<br><textarea name="message" required maxlength="5000" rows="6">
${escaped(message)}</textarea></label></p>
<div class="choice"><button class="main">Send</button><button formaction="?do=cancel" formnovalidate>Cancel</button></div>
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
<style>${style}</style>
<main>
<h1>${escaped(title)}</h1>
${body}
</main>
</html>
`,
  };
}

const style = `
:root{color-scheme:light dark}
body{font:1rem/1.5 system-ui,sans-serif;margin:0;background:light-dark(#f4f4f2,#1b1b1d);color:light-dark(#1d1d1f,#eeeeec)}
main{box-sizing:border-box;max-width:34rem;margin:8vh auto;padding:1.5rem 2rem 2rem;border-radius:.75rem;background:light-dark(#fff,#28282b)}
h1{font-size:1.5rem;margin:.25rem 0 1rem}
table{width:100%;border-collapse:collapse;margin:1rem 0}
td,th{padding:.5rem 0;text-align:left;vertical-align:top;border-top:1px solid light-dark(#e3e3df,#3c3c40)}
.sum{text-align:right;white-space:nowrap;padding-left:1rem;font-variant-numeric:tabular-nums}
.quiet{font-size:.875rem;color:light-dark(#63635f,#a9a9a5)}
.choice{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1.5rem}
button{font:inherit;padding:.6rem 1.5rem;border:1px solid light-dark(#c4c4bf,#55555a);border-radius:.5rem;background:none;color:inherit;cursor:pointer}
.main{border-color:transparent;background:#2450c4;color:#fff}
input,textarea{box-sizing:border-box;width:100%;font:inherit;padding:.5rem;border:1px solid light-dark(#c4c4bf,#55555a);border-radius:.5rem;background:none;color:inherit}
[role=alert]{color:light-dark(#a3160e,#ff9a90)}
@media(max-width:36rem){main{margin:0;min-height:100vh;border-radius:0;padding:1.5rem 1.25rem}}
`;

function named(plan: Plan): string {
  return plan[0]!.toUpperCase() + plan.slice(1);
}

const majorFormat = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

function dollars(minor: number): string {
  return `${minor < 0 ? '−' : ''}$${majorFormat.format(Math.abs(minor) / 100)}`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
