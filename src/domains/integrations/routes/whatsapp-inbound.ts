/**
 * The webhook for WhatsApp: the check of this address, and messages to connected numbers. Only messages with Meta's signature are stored.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import Type from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import type { Clock } from '../../../clock.ts';
import type { HttpResponse } from '../../../edge/http/message.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { signedWebhook } from '../../../edge/routes/signed-webhook.ts';
import { AppError } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';
import { integration } from '../integration/messages.ts';
import { connectionsOf, isSigned, messagesIn } from '../whatsapp/received.ts';

export type WhatsappInboundParts = {
  actors: Pick<ActorSystem, 'ask'>;
  database: Pick<Database, 'read'>;
  clock: Clock;
  config: { whatsappVerifyToken: string | null; whatsappAppSecret: string | null };
};

const path = '/integrations/whatsapp/inbound';
/** Meta sends up to 3 MB. */
const maxBytes = 3 * 2 ** 20;
const Text = Type.Optional(Type.String({ maxLength: 4_096, pattern: '^[^\\u0000]*$' }));

export function whatsappInboundRoutes({ actors, database, clock, config }: WhatsappInboundParts): AnyRoute[] {
  const verify = route({
    method: 'GET',
    path,
    summary: 'Verify the address for WhatsApp',
    description: 'For Meta only: answers `hub.challenge` if `hub.verify_token` equals the setting.',
    extension: true,
    scope: null,
    errors: [403],
    query: Type.Object({ 'hub.mode': Text, 'hub.verify_token': Text, 'hub.challenge': Text }),
    responses: { 200: null },
    contentTypes: { 200: 'text/plain' },
    async handler({ query }): Promise<HttpResponse> {
      const { 'hub.mode': mode, 'hub.verify_token': given = '', 'hub.challenge': challenge = '' } = query;
      const { whatsappVerifyToken: wanted } = config;
      if (mode !== 'subscribe' || wanted === null || !isSame(given, wanted)) throw new AppError('forbidden', 'Not the verify token');
      return {
        status: 200,
        headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
        body: challenge,
      };
    },
  });

  const receive = route({
    ...signedWebhook,
    path,
    summary: 'Receive messages from WhatsApp',
    description: 'For Meta only, signed with `X-Hub-Signature-256`. Messages to a number that no account has connected are dropped.',
    errors: [400, 401, 413],
    responses: { 200: null },
    contentTypes: { 200: 'application/json' },
    async handler({ request, readBytes }): Promise<HttpResponse> {
      const body = await readBytes(maxBytes);
      const { whatsappAppSecret: secret } = config;
      if (secret === null || !isSigned(body, request.header('x-hub-signature-256'), secret))
        throw new AppError('unauthenticated', 'The signature is wrong');
      for (const [number, messages] of messagesIn(parsed(body), clock.nowMs()))
        for (const id of await connectionsOf(database, number)) await actors.ask(integration, id, 'receive', { messages });
      return { status: 200, headers: { 'Content-Type': 'application/json' }, body: '{"received":true}' };
    },
  });

  return [verify, receive];
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (cause) {
    throw new AppError('bad_request', 'The body is no JSON', { cause });
  }
}

function isSame(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
