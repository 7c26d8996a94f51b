/** The cardholder at Stripe: the company that runs this service, because all cards are paid from its balance there. */
import { createHash } from 'node:crypto';
import { ConfigError } from '../../../config.ts';
import type { StripeClient } from '../../../providers/stripe/client.ts';

type Company = { name: string; email?: string; phone_number?: string; address: Address };
type Address = { line1: string; line2?: string; city: string; state?: string; postal_code: string; country: string };

const needed = ['name', 'line1', 'city', 'postal_code', 'country'] as const;
const known = [...needed, 'line2', 'state', 'email', 'phone_number'] as const;
type Field = (typeof known)[number];

/** Metadata that identifies the cardholder that this service has made. */
const mark = 'troupe_cardholder';

/**
 * Finds the cardholder, or makes it, once.
 *
 * @param setting the id of a cardholder, `ich_…`, or the company's data: `name=…;line1=…;city=…;postal_code=…;country=…`. Throws
 *   `ConfigError` if a field that Stripe needs is missing.
 */
export function cardholderOf(setting: string, client: StripeClient): (signal: AbortSignal) => Promise<string> {
  if (setting.startsWith('ich_')) return async () => setting;
  const company = companyOf(setting);
  const digest = createHash('sha256').update(JSON.stringify(company)).digest('hex').slice(0, 32);
  let found: string | null = null;
  return async (signal) => {
    found ??= (await find(client, digest, signal)) ?? (await make(client, company, digest, signal));
    return found;
  };
}

async function find(client: StripeClient, digest: string, signal: AbortSignal): Promise<string | null> {
  const { data } = await client.call((stripe, options) => stripe.issuing.cardholders.list({ type: 'company', limit: 100 }, options), {
    signal,
  });
  return data.find(({ metadata }) => metadata[mark] === digest)?.id ?? null;
}

async function make(client: StripeClient, { address, ...about }: Company, digest: string, signal: AbortSignal): Promise<string> {
  const parameters = { ...about, type: 'company' as const, billing: { address }, metadata: { [mark]: digest } };
  const options = { idempotencyKey: `${mark}-${digest}`, signal };
  return (await client.call((stripe, perCall) => stripe.issuing.cardholders.create(parameters, perCall), options)).id;
}

function companyOf(setting: string): Company {
  const fields: Partial<Record<Field, string>> = {};
  for (const part of setting.split(';').filter((text) => text.trim() !== '')) {
    const at = part.indexOf('=');
    const name = part.slice(0, at).trim() as Field;
    if (at === -1 || !known.includes(name)) throw wrong(`has ${JSON.stringify(part.trim())}, which is none of ${known.join(', ')}`);
    fields[name] = part.slice(at + 1).trim();
  }
  const missing = needed.filter((name) => !fields[name]);
  if (missing.length > 0) throw wrong(`lacks ${missing.join(', ')}`);
  if (!/^[A-Z]{2}$/.test(fields.country!)) throw wrong('must give the country as two capital letters, e.g. country=US');
  const { name, email, phone_number, ...address } = fields;
  return { name: name!, ...(email && { email }), ...(phone_number && { phone_number }), address: address as Address };
}

function wrong(what: string): ConfigError {
  return new ConfigError(
    `STRIPE_ISSUING_CARDHOLDER ${what}: give the id of a cardholder at Stripe (ich_...), or name=...;line1=...;city=...;postal_code=...;country=...`,
  );
}
