/** Verification of a user's e-mail address. */
import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Clock } from '../../../clock.ts';
import type { Tokens } from '../../../edge/auth/tokens.ts';
import { readForm } from '../../../edge/http/form-body.ts';
import { html } from '../../../edge/http/html.ts';
import { page as htmlPage } from '../../../edge/http/html-page.ts';
import type { HttpResponse } from '../../../edge/http/message.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { AppError } from '../../../errors.ts';
import { countUse, verificationMails } from '../auth/attempts.ts';
import { user } from '../user/messages.ts';
import { Message } from './auth-schemas.ts';
import { tooManyMails, unknownUser } from './profile.ts';

export type EmailVerificationRoutesOptions = { actors: ActorSystem; tokens: Tokens; clock: Clock };

export function emailVerificationRoutes({ actors, tokens, clock }: EmailVerificationRoutesOptions): AnyRoute[] {
  const verify = route({
    method: 'POST',
    path: '/auth/verify-email',
    summary: 'Confirm an e-mail address with the mailed token',
    description: 'The token is valid once, for a day. A pending new address becomes the address for signing in.',
    extension: true,
    scope: null,
    idempotent: false,
    errors: [400],
    body: Type.Object({ token: Type.String({ maxLength: 2_048 }) }),
    responses: { 200: Message },
    async handler({ body }) {
      if (!(await confirm(body.token))) throw invalidToken();
      return { status: 200, json: { message: 'The e-mail address is confirmed' } };
    },
  });

  const resend = route({
    method: 'POST',
    path: '/auth/verify-email/resend',
    summary: 'Send the verification e-mail again',
    description:
      'To the address that waits, else to the present one; 409 where nothing is left to confirm. ' +
      'At most ten e-mails an hour are sent to an address, and twenty for a user; beyond that the response is 429.',
    extension: true,
    scope: 'session',
    idempotent: false,
    errors: [409],
    responses: { 200: Message },
    async handler({ principal: { userId } }) {
      const profile = await actors.query(user, userId, 'profile', null);
      if (profile === null) throw unknownUser();
      const { email, emailVerified, pendingEmail } = profile;
      if (pendingEmail === null && emailVerified) throw verified();
      await countUse({ actors, clock }, verificationMails(userId, pendingEmail ?? email), tooManyMails);
      if (!(await actors.ask(user, userId, 'mailVerificationAgain', null))) throw verified();
      return { status: 200, json: { message: `A mail with a token is on its way to ${pendingEmail ?? email}` } };
    },
  });

  const show = route({
    ...page,
    method: 'GET',
    summary: 'Show the verification page',
    description:
      'The link in the verification e-mail opens this page. Opening it changes nothing, because mail programs open links automatically; its button confirms the address.',
    query: Type.Object({
      token: Type.String({ pattern: '^v4\\.public\\.[\\w.-]{1,2000}$', examples: ['v4.public.eyJ2ZXJpZmljYXRpb24iOiJyZXFf'] }),
    }),
    responses: { 200: null },
    contentTypes: { 200: 'text/html' },
    handler({ query: { token } }) {
      const field = html`<input type="hidden" name="token" value="${token}">`;
      return htmlPage(
        'Confirm your e-mail address',
        html`<form method="post">${field}<button class="main" autofocus>Confirm</button></form>`,
        200,
      );
    },
  });

  const press = route({
    ...page,
    method: 'POST',
    summary: 'Confirm the address from the verification page',
    errors: [413, 415],
    responses: { 200: null, 400: null },
    contentTypes: { 200: 'text/html', 400: 'text/html' },
    readsBody: true,
    async handler(context) {
      const form = await readForm(context).catch(noText);
      if (!(await confirm(form.get('token') ?? ''))) return badLinkPage();
      return htmlPage('Thank you', html`<p>Your e-mail address is confirmed. You can close this page.</p>`, 200);
    },
  });

  return [verify, resend, show, press];

  async function confirm(token: string): Promise<boolean> {
    const claims = await tokens.readVerificationToken(token);
    return claims !== null && actors.ask(user, claims.userId, 'verifyEmail', { verificationId: claims.verificationId });
  }
}

const page = {
  path: '/auth/verify-email/page',
  extension: true,
  scope: null,
  idempotent: false,
  advice: 'Open the link as it is in the e-mail, from its first to its last character; or sign in and ask for another mail.',
} as const;

/** A form with text that cannot be stored contains no valid token. */
function noText(error: unknown): URLSearchParams {
  if (error instanceof AppError && error.code === 'bad_request') return new URLSearchParams();
  throw error;
}

function badLinkPage(): HttpResponse {
  const advice = 'It was used already, or is older than a day. Sign in and ask for another mail.';
  return htmlPage('This link is not good', html`<p>${advice}</p>`, 400);
}

function verified(): AppError {
  return new AppError('conflict', 'The e-mail address is confirmed already');
}

function invalidToken(): AppError {
  return new AppError('bad_request', 'The token is not valid, was used, or has expired');
}
