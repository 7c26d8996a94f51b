/** Pages for people: plain HTML that works without JavaScript, loads nothing, and cannot be shown inside another page. */
import { type Html, html, trustedHtml } from './html.ts';
import type { HttpResponse } from './message.ts';

/** @param leadsTo further targets of its forms besides this service */
export function page(title: string, body: Html, status: number, leadsTo: (string | null)[] = []): HttpResponse {
  // Browsers apply this list also to the redirect after a form.
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
    body: html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${style}</style>
<main>
<h1>${title}</h1>
${body}
</main>
</html>
`.toString(),
  };
}

/** Browsers name `text/html` first; programs name JSON or accept anything. */
export function wantsPage(accept: string): boolean {
  const htmlAt = accept.indexOf('text/html');
  const jsonAt = accept.indexOf('application/json');
  return htmlAt !== -1 && (jsonAt === -1 || htmlAt < jsonAt);
}

const style = trustedHtml(`
:root{color-scheme:light dark}
body{font:1rem/1.5 system-ui,sans-serif;margin:0;overflow-wrap:anywhere;background:light-dark(#f4f4f2,#1b1b1d);color:light-dark(#1d1d1f,#eeeeec)}
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
`);
