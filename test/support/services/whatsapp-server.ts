/** Speaks like WhatsApp's Cloud API v26.0. Read from docs, seen 2026-11-23: there is no official client for Node.js. */
import type { Json } from '../json.ts';
import { type ServiceRequest, ServiceStandIn, type StandInAnswer } from './service-stand-in.ts';

export class WhatsappServer extends ServiceStandIn {
  readonly phoneNumberId = '106540352242922';
  /** The business account that has the number. */
  readonly account = '102290129340398';
  readonly templates = new Map([
    ['order_ready', ['en_US', 'de']],
    // Every account has it.
    ['hello_world', ['en_US']],
  ]);
  readonly sent: Json[] = [];

  protected answer({ method, path, query, headers, body, scopes }: ServiceRequest): StandInAnswer {
    // Asked for with the app's own token, `id|secret`.
    if (path === '/v26.0/debug_token' && headers.authorization?.includes('|')) return this.inspect(query.get('input_token') ?? '');
    if (scopes === null) return refused(401, 190, 'Invalid OAuth access token - Cannot parse access token');
    if (method === 'GET' && path === '/v26.0/me') return { status: 200, json: { id: '1', name: 'Example' } };
    if (method === 'DELETE' && path === '/v26.0/me/permissions') return { status: 200, json: { success: true } };
    if (method === 'GET' && path === `/v26.0/${this.phoneNumberId}`) return { status: 200, json: { id: this.phoneNumberId } };
    if (method === 'GET' && path === `/v26.0/${this.account}/phone_numbers`)
      return { status: 200, json: { data: [{ id: this.phoneNumberId, display_phone_number: '+1 555 0100' }] } };
    const number = /^\/v26\.0\/([^/]+)\/messages$/.exec(path)?.[1];
    if (method !== 'POST' || number !== this.phoneNumberId)
      return refused(400, 100, `Unsupported post request. Object with ID '${number}' does not exist`, { error_subcode: 33 });
    if (!scopes.includes('whatsapp_business_messaging')) return refused(403, 10, 'Application does not have permission for this action');
    return this.send(body);
  }

  private inspect(token: string): StandInAnswer {
    const scopes = this.tokens.get(token) ?? [];
    const granular = scopes.map((scope) => ({ scope, target_ids: [this.account] }));
    return { status: 200, json: { data: { is_valid: this.tokens.has(token), scopes, granular_scopes: granular } } };
  }

  private send(message: Json): StandInAnswer {
    if (message.messaging_product !== 'whatsapp') return refused(400, 100, 'The parameter messaging_product is required.');
    if (!/^\d{6,15}$/.test(message.to))
      return refused(400, 131009, 'Parameter value is not valid', { error_data: { details: 'Invalid phone number' } });
    const isText = message.type === 'text' && typeof message.text?.body === 'string';
    const isTemplate = message.type === 'template' && Array.isArray(message.template?.components);
    if (!isText && !isTemplate) return refused(400, 131008, 'Required parameter is missing');
    if (isTemplate && !this.templates.get(message.template.name)?.includes(message.template.language.code))
      return refused(404, 132001, 'Template name does not exist in the translation');
    this.sent.push(message);
    return {
      status: 200,
      json: {
        messaging_product: 'whatsapp',
        contacts: [{ input: message.to, wa_id: message.to }],
        messages: [{ id: `wamid.${this.sent.length}`, message_status: 'accepted' }],
      },
    };
  }
}

export function refused(status: number, code: number, message: string, more: object = {}): StandInAnswer {
  return { status, json: { error: { message: `(#${code}) ${message}`, type: 'OAuthException', code, fbtrace_id: 'A1', ...more } } };
}
