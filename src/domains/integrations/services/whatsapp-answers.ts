/** Failures of the Graph API by their code; the status is 400 for most. */
import { fieldsOf, textOf } from './read-answer.ts';
import type { ServiceAnswer } from './service.ts';
import type { ServiceFailure } from './service-failure.ts';

const limits = new Set([4, 17, 613, 80007, 130429, 131048, 131056]);
const passing = new Set([1, 2, 131000, 131016, 133004]);
const wrongFields: Readonly<Record<number, string>> = {
  131026: 'to',
  131030: 'to',
  131047: 'template',
  131051: 'text',
  132000: 'text',
  132001: 'template',
  132007: 'template',
  132012: 'text',
  132015: 'template',
  132016: 'template',
};

export function whatsappFailure({ status, body }: ServiceAnswer): ServiceFailure | undefined {
  const error = fieldsOf(fieldsOf(body).error);
  if (status < 400) return undefined;
  const code = Number(error.code);
  const details = textOf(fieldsOf(error.error_data).details);
  const message = `WhatsApp: ${textOf(error.message) ?? `status ${status}`}${details === undefined ? '' : `. ${details}`}`;
  if (limits.has(code)) return { type: 'rate_limited', message, retryAt: null };
  if (passing.has(code)) return { type: 'unavailable', message };
  if (code === 100 && error.error_subcode === 33) return { type: 'not_found', message };
  if (code === 10 || (code >= 200 && code < 300) || code === 131005 || code === 131031) return { type: 'forbidden', message, scope: null };
  if (code === 100 || (code >= 131_000 && code < 134_000)) return { type: 'invalid', message, field: wrongFields[code] ?? null };
  return undefined;
}

/** Code 190 comes with a 400 too. */
export function whatsappRefusesToken({ body }: ServiceAnswer): boolean {
  return fieldsOf(fieldsOf(body).error).code === 190;
}
