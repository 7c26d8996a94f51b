/** The descriptions of answers in the OpenAPI document: each status of an endpoint, its headers, its body and an example. */
import { exampleOf, type KnownExamples } from './examples.ts';
import { type AnyRoute, errorStatuses, isIdempotent, isTagged } from './route.ts';
import { statusLine } from './status.ts';

type Json = Record<string, unknown>;
type Schema = { type?: string; anyOf?: Schema[]; required?: string[]; properties?: Json };

/** By status: when it is answered, and an example text. */
const failures: Record<number, { when: string; detail: string }> = {
  400: { when: 'The request cannot be read, e.g. it is no JSON', detail: 'The body is not valid JSON' },
  401: { when: 'No token, or one that is wrong, expired or revoked', detail: 'Not authenticated' },
  402: { when: 'The plan does not include it', detail: 'This needs the business plan' },
  403: { when: 'The token does not allow it', detail: 'This needs a user session' },
  404: { when: "There is none, or it is another account's", detail: 'Not Found' },
  409: {
    when: 'The state it is in does not allow it, or the same request is under way',
    detail: 'A workspace with this name exists already',
  },
  412: { when: 'The file has another version than `If-Match` names', detail: 'Precondition Failed' },
  413: { when: 'The body is too long', detail: 'The body is too long' },
  415: { when: 'The content type is not the one expected', detail: 'Send JSON as application/json' },
  416: { when: 'The range is beyond the end', detail: 'Range Not Satisfiable' },
  429: { when: 'Too many requests: ask again after `Retry-After` seconds', detail: 'More than 60 requests a minute' },
  500: { when: 'A defect of the service; it is logged under the request id', detail: 'Internal Server Error' },
  502: {
    when: 'Another service, which this needs, gave no answer that can be used; nothing was stored',
    detail: 'The token endpoint answered 503',
  },
  503: {
    when: 'Not now, and nothing was done: ask again after `Retry-After` seconds',
    detail: 'The service has too much to do; try again shortly',
  },
  504: {
    when: 'No answer in time, and it may have been done: ask again with the same `Idempotency-Key`',
    detail: 'No answer in time; it may have taken effect',
  },
};

const errorSchema = {
  title: 'Error',
  type: 'object',
  required: ['detail'],
  properties: { detail: { type: 'string', description: 'For people' } },
};

const validationErrorSchema = {
  title: 'ValidationError',
  type: 'object',
  required: ['detail'],
  properties: {
    detail: {
      type: 'array',
      items: {
        type: 'object',
        required: ['loc', 'msg', 'type', 'input', 'ctx'],
        properties: {
          loc: {
            type: 'array',
            items: { type: 'string' },
            minItems: 1,
            description: '`body`, `query`, `path` or `header`, then the way to the field; a position in a list is a text too: `"1"`',
          },
          msg: { type: 'string', description: 'For people' },
          type: { type: 'string', description: 'For programs, e.g. `missing`, `string_too_short`, `int_parsing`, `enum`' },
          input: { description: 'What was sent there; null where it may be a secret' },
          ctx: { type: 'object', description: 'What would be allowed, e.g. `{"ge": 1}`' },
        },
      },
    },
  },
};

const text = (description: string, required = false, example?: string): Json => ({
  description,
  required,
  schema: { type: 'string', ...(example === undefined ? {} : { examples: [example] }) },
});
const count = (description: string, required = false): Json => ({ description, required, schema: { type: 'integer', minimum: 0 } });

const headers = {
  'X-Request-Id': text("Names this request in logs; the caller's own where it sent one", true, 'req_01jny8e2zjv6x0r3k9m4t7w5ab'),
  'X-RateLimit-Limit': count('Requests a minute', true),
  'X-RateLimit-Remaining': count('Requests that may be sent at once now', true),
  'X-RateLimit-Reset': count('Seconds until all of them may be sent again', true),
  'Retry-After': count('Seconds after which it makes sense to ask again', true),
  'WWW-Authenticate': text('Bearer', true, 'Bearer'),
  ETag: text('Changes with the answer; send it as If-None-Match', true, 'W/"9Yx3vK0bq1Zc7"'),
  'Idempotency-Replayed': text('`true`: this is the answer of an earlier request with the same key', false, 'true'),
  'X-Total-Count': count('Entries of the whole list', true),
  'Content-Disposition': text('Names the file'),
  'Content-Range': text('Which bytes of how many', true, 'bytes 0-99/1234'),
  Location: text('Where the content is', true),
};
type Header = keyof typeof headers;
const always: Header[] = ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'];

/** Parts of answers that all endpoints share. */
export const sharedAnswers = {
  headers,
  responses: Object.fromEntries(Object.keys(failures).map((status) => [nameOf(Number(status)), failure(Number(status))])),
};

/** The `responses` of an operation. */
export function answersOf(route: AnyRoute, known: KnownExamples): Json {
  const all: Record<string, Json> = {};
  for (const [key, schema] of Object.entries(route.responses)) {
    const status = Number(key);
    const types = route.contentTypes?.[status];
    const content =
      types === undefined
        ? schema && json(schema, exampleOf(schema, known))
        : { ...Object.fromEntries([types].flat().map((type) => [type, {}])), ...errorContent(route, status) };
    const description = failures[status]?.when ?? reasonOf(status);
    all[key] = { description, headers: refs(headersOf(route, status)), ...(content === null ? {} : { content }) };
  }
  if (isTagged(route)) all[304] = { description: 'Not changed since', headers: refs([...always, 'ETag']) };
  for (const status of errorStatuses(route)) all[status] ??= errorOf(route, status);
  return all;
}

function headersOf(route: AnyRoute, status: number): Header[] {
  const found = [...always];
  if (status >= 400) return found;
  if (status === 302 || status === 303) return [...found, 'Location'];
  if (isTagged(route) || 304 in route.responses) found.push('ETag');
  if (status === 206) found.push('Content-Range');
  if (isIdempotent(route)) found.push('Idempotency-Replayed');
  if (isList(route.responses[status] as Schema | null)) found.push('X-Total-Count');
  return found;
}

function isList(schema: Schema | null): boolean {
  return schema !== null && (schema.type === 'array' || (schema.anyOf ?? []).some(isList));
}

/** A request that is refused before its handler gets a JSON error, independent of the handler's media type. */
function errorContent(route: AnyRoute, status: number): Json {
  if (!errorStatuses(route).includes(status)) return {};
  return (status === 422 ? unprocessable(route) : failure(status)).content as Json;
}

function errorOf(route: AnyRoute, status: number): Json {
  if (status === 422) return unprocessable(route);
  const scope = status === 403 && route.scope?.includes('.') ? route.scope : null;
  if (scope !== null) return failure(403, `This needs the scope ${scope}`);
  return { $ref: `#/components/responses/${nameOf(status)}` };
}

function failure(status: number, detail = failures[status]?.detail ?? reasonOf(status)): Json {
  const carried: Header[] = status === 401 ? ['WWW-Authenticate'] : status === 429 || status === 503 ? ['Retry-After'] : [];
  return {
    description: failures[status]?.when ?? reasonOf(status),
    headers: refs([...always, ...carried]),
    content: json(errorSchema, { detail }),
  };
}

function unprocessable(route: AnyRoute): Json {
  const issue = {
    loc: ['header', 'Idempotency-Key'],
    msg: 'The key was used for another request',
    type: 'value_error',
    input: null,
    ctx: {},
  };
  const field = route.body === 'multipart' ? 'file' : (route.body as Schema | undefined)?.required?.[0];
  const firstParameter = Object.keys((route.query?.properties as Json | undefined) ?? {})[0];
  if (field !== undefined) Object.assign(issue, { loc: ['body', field], msg: 'Field required', type: 'missing' });
  else if (firstParameter !== undefined && !isIdempotent(route)) {
    const msg = 'Input should be a valid integer, unable to parse string as an integer';
    Object.assign(issue, { loc: ['query', firstParameter], msg, type: 'int_parsing', input: 'many' });
  }
  return {
    description: 'What was sent is not allowed; each entry names a field',
    headers: refs(always),
    content: json(validationErrorSchema, { detail: [issue] }),
  };
}

export function json(schema: unknown, example: unknown): Json {
  return { 'application/json': { schema, example } };
}

function refs(names: readonly Header[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function nameOf(status: number): string {
  return reasonOf(status).replace(/\W/g, '');
}

function reasonOf(status: number): string {
  return statusLine(status).slice(4);
}
