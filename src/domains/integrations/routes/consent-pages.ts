/** What a person's browser shows at the end of a consent. */
import { html } from '../../../edge/http/html.ts';
import { page } from '../../../edge/http/html-page.ts';
import type { HttpResponse } from '../../../edge/http/message.ts';

export function connectedPage(what: string): HttpResponse {
  return page('Connected', html`<p>${what} is connected. You can close this page.</p>`, 200);
}

export function noConsentPage(): HttpResponse {
  return page('Not connected', html`<p>There was no consent. You can close this page.</p>`, 200);
}

export type Confirmation = {
  /** What is connected, and the account of this service. */
  what: string;
  whose: string;
  /** What the button posts, and where. */
  action: string;
  fields: Readonly<Record<string, string>>;
  /** Where the browser goes then; null: it stays. */
  leadsTo: string | null;
};

/** Asks a browser that did not begin the consent whose account it is. */
export function confirmationPage({ what, whose, action, fields, leadsTo }: Confirmation): HttpResponse {
  const hidden = Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
  const body = html`<p>Do you want to connect ${what} with the account <strong>${whose}</strong> of this service? Its tasks can use then what you have just allowed.</p>
<p>Go on only if this is your account. If somebody sent you here, close this page.</p>
<form method="post" action="${action}">
${hidden}
<p class="choice"><button class="main">Connect</button></p>
</form>`;
  return page('Is this your account?', body, 200, [leadsTo]);
}
