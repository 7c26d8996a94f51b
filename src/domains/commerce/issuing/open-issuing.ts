/** The card issuer of this node: embedded, or Stripe if configured. Cards of test mode are always embedded. */

import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { AnyActor } from '../../../actors/define-actor.ts';
import type { Config } from '../../../config.ts';
import { configured } from '../../../configured.ts';
import type { AnyRoute } from '../../../edge/http/route.ts';
import type { Log } from '../../../log.ts';
import { createStripeClient } from '../../../providers/stripe/client.ts';
import type { Database } from '../../../storage/database.ts';
import { type CardRequest, type IssuedNow, issueCard } from '../card/issue.ts';
import { issueAtIssuer } from '../issued-card/issue.ts';
import { issuedCardActor } from '../issued-card/issued-card.ts';
import { answerRequest, chargeCard, type IssuerParts, takeNotification } from '../issuer-authorization/answer.ts';
import { issuerAuthorizationActor } from '../issuer-authorization/issuer-authorization.ts';
import { issuerWebhookRoutes } from '../routes/issuer-webhook.ts';
import { createEmbeddedIssuer } from './embedded.ts';
import type { OutsideIssuer } from './port.ts';
import { createStripeIssuer } from './stripe.ts';

type IssuerConfig = Pick<Config, 'stripeSecretKey' | 'stripeApiUrl' | 'stripeIssuingWebhookSecrets' | 'stripeIssuingCardholder'>;
export type IssuingOptions = { config: IssuerConfig; secretKey: string; actors: ActorSystem; database: Database; log: Log };
export type Issuing = {
  /** Makes a card; the same ids make the same one again. */
  issue(id: string, request: CardRequest, commandId: string | undefined): Promise<IssuedNow>;
  actors: AnyActor[];
  routes: AnyRoute[];
};

/** Actors of external cards also exist if no external issuer is configured now: their requests wait. */
export function openIssuing({ config, secretKey, actors, database, log }: IssuingOptions): Issuing {
  const parts: IssuerParts = { actors, database, log };
  const issuer = outsideIssuer(config, secretKey);
  const definitions = [
    issuedCardActor(issuer, log),
    issuerAuthorizationActor({
      charge: (input) => chargeCard(parts, input),
      readAuthorization: async (id, signal) => configured(issuer, 'issuer of cards').readAuthorization(id, signal),
    }),
  ] as AnyActor[];
  const embedded = createEmbeddedIssuer(secretKey);
  const issueHere: Issuing['issue'] = (...of) => issueCard({ actors, database, issuer: embedded }, ...of);
  if (issuer === null) return { issue: issueHere, actors: definitions, routes: [] };
  return {
    issue: (id, request, commandId) =>
      request.mode === 'test' ? issueHere(id, request, commandId) : issueAtIssuer({ actors, issuer }, id, request, commandId),
    actors: definitions,
    routes: issuerWebhookRoutes({
      read: (body, signature) => issuer.event(body, signature),
      decide: (request, deadlineMs) => answerRequest(parts, request, deadlineMs),
      take: (event) => takeNotification(parts, event),
      answer: (approved, about) => issuer.answer(approved, about),
    }),
  };
}

function outsideIssuer(config: IssuerConfig, secretKey: string): OutsideIssuer | null {
  const {
    stripeSecretKey,
    stripeApiUrl: apiUrl,
    stripeIssuingWebhookSecrets: webhookSecrets,
    stripeIssuingCardholder: cardholder,
  } = config;
  if (stripeSecretKey === null || cardholder === null) return null;
  const client = createStripeClient({ secretKey: stripeSecretKey, webhookSecrets, apiUrl });
  return createStripeIssuer({ client, cardholder, secretKey });
}
