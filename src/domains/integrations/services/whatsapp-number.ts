/** The business number from which a WhatsApp connection sends: the one that the caller names, or the only one of the token. */
import type { Connecting } from './service.ts';
import { ServiceFailed } from './service-failure.ts';

const field = 'phone_number_id';
const form = /^\d{1,32}$/;

/** @param version the path's first part, such as `/v26.0` */
export async function whatsappNumber(connecting: Connecting, version: string): Promise<string> {
  const given = connecting.given[field];
  return given === undefined ? lookUp(connecting, version) : verified(given, connecting, version);
}

/** Another account's number would bring its messages here. */
async function verified(given: string, { request }: Connecting, version: string): Promise<string> {
  if (!form.test(given)) throw wrong('A phone_number_id is a number of digits');
  try {
    // A server without this request says nothing about the number; the real one refuses with a 400.
    await request({ method: 'GET', path: `${version}/${given}`, query: { fields: 'id' }, accept: [404, 405] });
  } catch (error) {
    if (!(error instanceof ServiceFailed) || error.failure.type === 'unavailable' || error.failure.type === 'rate_limited') throw error;
    throw wrong('WhatsApp does not give this number to the connection');
  }
  return given;
}

async function lookUp({ request, tokens, client }: Connecting, version: string): Promise<string> {
  const app = client === null ? {} : { headers: { authorization: `Bearer ${client.id}|${client.secret}` } };
  const { body } = await request({ method: 'GET', path: `${version}/debug_token`, query: { input_token: tokens.access }, ...app });
  const scopes: { scope?: unknown; target_ids?: unknown }[] = Array.isArray(body?.data?.granular_scopes) ? body.data.granular_scopes : [];
  const accounts = new Set(
    scopes.filter(({ scope }) => /^whatsapp_business_/.test(String(scope))).flatMap(({ target_ids: ids }) => ids ?? []),
  );
  const numbers: string[] = [];
  for (const account of [...accounts]
    .map(String)
    .filter((id) => form.test(id))
    .slice(0, 5)) {
    const answer = await request({ method: 'GET', path: `${version}/${account}/phone_numbers` });
    const found: { id?: unknown }[] = Array.isArray(answer.body?.data) ? answer.body.data : [];
    numbers.push(...found.map(({ id }) => String(id)).filter((id) => form.test(id)));
  }
  if (numbers.length !== 1) throw wrong(`The connection has ${numbers.length} numbers: name one as phone_number_id`);
  return numbers[0]!;
}

function wrong(message: string): ServiceFailed {
  return new ServiceFailed({ type: 'invalid', message, field });
}
