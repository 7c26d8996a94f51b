/** A refusal as a page: for a person whose browser has opened a link that does not work. Programs get the refusal unchanged. */
import { html } from './html.ts';
import { page, wantsPage } from './html-page.ts';
import type { HttpRequest, HttpResponse } from './message.ts';

const reasons: Readonly<Record<number, string>> = {
  401: 'You are not signed in here, or the link has expired.',
  404: 'There is nothing at this address: it is not complete, was changed, or what it led to was deleted.',
  405: 'This address is for programs: a browser cannot open it.',
  422: 'The link is not complete, or was changed.',
};

/** Where the service has nothing at an address, or nothing for a browser. */
export const adviceAtNoRoute = 'Open the link as it was sent, from its first to its last character, or follow the text beside it.';

/** @param advice a sentence: what the person can do next */
export function asPage(request: HttpRequest, refused: HttpResponse, advice: string): HttpResponse {
  if (refused.status < 400 || !wantsPage(request.header('accept'))) return refused;
  const shown = page(
    'This did not work',
    html`<p role="alert">${reasons[refused.status] ?? detailOf(refused)}</p>
<p>${advice}</p>`,
    refused.status,
  );
  return { ...shown, headers: { ...refused.headers, ...shown.headers, Vary: 'Accept' } };
}

/** The text of a refusal made by the edge. */
function detailOf({ body }: HttpResponse): string {
  const { detail } = typeof body === 'string' ? (JSON.parse(body) as { detail: unknown }) : { detail: null };
  return typeof detail === 'string' ? `${detail}.` : 'The request was refused.';
}
