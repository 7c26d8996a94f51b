/** WhatsApp Business through Meta's Cloud API. The API has no history: received messages are those that the inbound endpoint stored. */
import Type from 'typebox';
import { fieldsOf, textOf } from './read-answer.ts';
import { defineService, type ServiceCall } from './service.ts';
import { ServiceFailed } from './service-failure.ts';
import { whatsappFailure, whatsappRefusesToken } from './whatsapp-answers.ts';
import { whatsappNumber } from './whatsapp-number.ts';

const version = '/v26.0';
/** Free text reaches a person for this long after the person's last message; then a template is needed. */
const openMs = 24 * 60 * 60_000;
const defaultMessages = 20;
const maxMessages = 100;

const sendScope = 'whatsapp_business_messaging';
const number = Type.String({
  pattern: '^[+\\d\\s().-]{3,30}$',
  description: 'Telephone number with country code, such as +49 151 23456789',
});

export const whatsapp = defineService({
  name: 'whatsapp',
  title: 'WhatsApp',
  shapeSeen: '2026-11-23',
  shapeSource: 'Reference of the WhatsApp Business Platform, Cloud API v26.0 (read from docs: there is no official client for Node.js)',
  apiUrl: 'https://graph.facebook.com',
  headers: {},
  oauth: {
    authorizeUrl: `https://www.facebook.com${version}/dialog/oauth`,
    tokenUrl: `https://graph.facebook.com${version}/oauth/access_token`,
    revoke: {
      request: ({ access }) => ({ method: 'DELETE', path: `${version}/me/permissions`, headers: { authorization: `Bearer ${access}` } }),
      replaceable: true,
    },
    authorizeParameters: {},
    clientAuthentication: 'body',
    scopeSeparator: ',',
    scopeParameter: 'scope',
  },
  takesApiKey: false,
  identity: { method: 'GET', path: `${version}/me` },
  failureIn: whatsappFailure,
  refusesToken: whatsappRefusesToken,
  async discover(connecting) {
    const id = await whatsappNumber(connecting, version);
    return { attributes: { phone_number_id: id }, inboundId: id };
  },
  tools: [
    {
      name: 'send_message',
      description:
        'Sends a WhatsApp message from the connected business number. It reaches a real person: send only what the task asks for, once. The user may have to approve it first. Free text reaches a person only within 24 hours of their last message; otherwise name an approved template, whose first placeholder becomes the text. Returns {id, to}.',
      parameters: Type.Object({
        to: number,
        text: Type.String({
          minLength: 1,
          maxLength: 4_096,
          description: 'The message, or what fills the first placeholder of the template',
        }),
        template: Type.Optional(
          Type.String({
            pattern: '^[A-Za-z0-9_-]{1,512}(:[a-z]{2,3}(_[A-Z]{2})?)?$',
            description: 'Name of an approved template, with its language where that is not en_US, such as order_ready:de',
          }),
        ),
      }),
      scopes: [sendScope],
      writes: true,
      highConsequence: true,
      untrusted: false,
      repeatable: false,
      async run({ to, text, template }: { to: string; text: string; template?: string }, call) {
        const recipient = to.replace(/\D/g, '');
        if (template === undefined) await requireOpen(recipient, call);
        const content =
          template === undefined ? { type: 'text', text: { body: text } } : { type: 'template', template: filled(template, text) };
        const { body } = await call.request({
          method: 'POST',
          path: `${version}/${encodeURIComponent(ownNumber(call))}/messages`,
          json: { messaging_product: 'whatsapp', recipient_type: 'individual', to: recipient, ...content },
          limit: 'messages',
        });
        const { messages, contacts } = fieldsOf(body);
        const first = (list: unknown) => fieldsOf(Array.isArray(list) ? list[0] : undefined);
        return { id: textOf(first(messages).id) ?? null, to: textOf(first(contacts).wa_id) ?? recipient };
      },
    },
    {
      name: 'read_messages',
      description: `Reads WhatsApp messages that the connected business number has received since it was connected. Returns {messages: [{id, from, text, at}]}, newest first.`,
      parameters: Type.Object({
        from: Type.Optional(number),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxMessages, description: `How many; default ${defaultMessages}` })),
      }),
      scopes: [sendScope],
      writes: false,
      highConsequence: false,
      untrusted: true,
      repeatable: true,
      async run({ from, limit = defaultMessages }: { from?: string; limit?: number }, call) {
        return { messages: await call.received({ from: from?.replace(/\D/g, '') ?? null, limit }) };
      },
    },
  ],
});

/** The service itself takes such a text and drops it later. Without any stored message nothing is known, and the service decides. */
async function requireOpen(recipient: string, call: ServiceCall): Promise<void> {
  const [last] = await call.received({ from: recipient, limit: 1 });
  if (last === undefined || call.clock.nowMs() - Date.parse(last.at) < openMs) return;
  throw new ServiceFailed({
    type: 'invalid',
    message: `The last message of ${recipient} is from ${last.at}, more than 24 hours ago: free text would not reach them. Name an approved template. Nothing was sent`,
    field: 'template',
  });
}

function filled(template: string, text: string) {
  const [name, code = 'en_US'] = template.split(':');
  return { name, language: { code }, components: [{ type: 'body', parameters: [{ type: 'text', text }] }] };
}

function ownNumber({ attributes }: ServiceCall): string {
  const id = attributes.phone_number_id;
  if (id === undefined)
    throw new ServiceFailed({ type: 'invalid', message: 'The connection names no number to send from: connect again', field: null });
  return id;
}
