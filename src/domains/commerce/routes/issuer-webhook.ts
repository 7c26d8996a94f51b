/** The card issuer's webhook: it asks whether to approve a payment, and notifies its outcome. Only a valid signature over the exact bytes is trusted. */

import { monotonicMs } from '../../../clock.ts';
import type { HttpResponse } from '../../../edge/http/message.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { readSigned, signedWebhook } from '../../../edge/routes/signed-webhook.ts';
import type { IssuerAnswer } from '../issuer-authorization/answer.ts';

/** `E`: the parsed event of the issuer's adapter. */
export type IssuerWebhookParts<E extends { kind: string }> = {
  /** Throws `bad_request` if the issuer has not signed it. */
  read(body: Uint8Array, signature: string): Promise<E>;
  /** The decision; declined if there is none by `deadlineMs` (`monotonicMs`). */
  decide(request: Extract<E, { kind: 'request' }>, deadlineMs: number): Promise<IssuerAnswer>;
  take(event: E): Promise<void>;
  answer(approved: boolean, about: Record<string, string>): { headers: Record<string, string>; body: string };
};

/** The issuer waits for 2 s, network time included. */
const decideWithinMs = 1_500;

export function issuerWebhookRoutes<E extends { kind: string }>({ read, decide, take, answer }: IssuerWebhookParts<E>): AnyRoute[] {
  return [
    route({
      ...signedWebhook,
      path: '/stripe/issuing',
      summary: "Receive Stripe's issuing webhook",
      description:
        'For Stripe only: the address of a webhook endpoint at Stripe, for `issuing_authorization.*` and `issuing_transaction.*`. A request for authorization is answered within 1.5 s with `approved`, decided by card and wallet; without a decision in that time the payment is declined. All other events cause a query at Stripe.',
      responses: { 200: null },
      contentTypes: { 200: 'application/json' },
      async handler(context): Promise<HttpResponse> {
        const deadlineMs = monotonicMs() + decideWithinMs;
        const event = await readSigned(context, read);
        if (!isRequest(event)) {
          await take(event);
          return { status: 200, headers: { 'Content-Type': 'application/json' }, body: '{"received":true}' };
        }
        const decided = await decide(event, deadlineMs);
        return { status: 200, ...answer(decided.approved, aboutOf(decided)) };
      },
    }),
  ];
}

function isRequest<E extends { kind: string }>(event: E): event is Extract<E, { kind: 'request' }> {
  return event.kind === 'request';
}

/** Shown with the payment at the issuer. */
function aboutOf(decided: IssuerAnswer): Record<string, string> {
  return {
    ...(decided.authorizationId !== null && { authorization_id: decided.authorizationId }),
    ...(!decided.approved && { decline_reason: decided.reason }),
  };
}
