/** Hostile and careless requests, generated from the description: every endpoint, as every kind of caller, with any value in any place. */
import fc from 'fast-check';
import type { JsonSchema, Operation } from '../support/described-api.ts';
import { form, formOf, json, parametersIn } from '../support/described-service.ts';
import { bentIds, bentQueryValues, brokenBodies, latin1 } from '../support/hostile-values.ts';
import { fitting, hostileValue, objectOf } from './values.ts';

/** `session` and `key` have all rights in their own account, `weak` nearly none; `bent` sends an invalid token, `nobody` none. */
export type CallerKind = 'session' | 'key' | 'weak' | 'bent' | 'nobody';
/** The value of a parameter of the path: an id of the attacker, an id of the other account, an id that does not exist, or a text that is no id. */
export type PathPart = { kind: 'own' | 'foreign' | 'unknown' } | { kind: 'bent'; text: string };

export type Attack = {
  operation: string;
  prefix: '/v1' | '';
  caller: CallerKind;
  /** Which of the tokens that are none, or of the own ids. */
  pick: number;
  ids: Record<string, PathPart>;
  query: string;
  headers: Record<string, string>;
  body: string | Uint8Array | null;
};

/** Stand in a body where a field names another thing: `workspace_id`. */
export const ownId = 'AN-ID-OF-ITS-OWN';
export const foreignId = 'AN-ID-OF-SOMEBODY-ELSE';
/** Ids that callers choose or that another service gave: any text is theirs. */
const ownWords = ['client_order_id', 'phone_number_id'];
const namesResource = (name: string): boolean => name.endsWith('_id') && !ownWords.includes(name);

/** @param receiverUrl the one address that webhooks may be sent to */
export function attacksOn(operations: readonly Operation[], callers: fc.Arbitrary<CallerKind>, receiverUrl: string): fc.Arbitrary<Attack> {
  return fc.constantFrom(...operations).chain((operation) =>
    fc
      .record({
        prefix: fc.constantFrom('/v1' as const, '' as const),
        caller: callers,
        pick: fc.nat(1_000),
        ids: fc.record(Object.fromEntries(parametersIn(operation.path).map((name) => [name, pathPart]))),
        query: queryFor(operation),
        headers: oddHeaders,
        sent: bodyFor(operation, receiverUrl),
      })
      .map(({ sent, headers, ...rest }) => ({
        operation: operation.name,
        ...rest,
        headers: { ...sent.headers, ...headers },
        body: sent.body,
      })),
  );
}

const pathPart: fc.Arbitrary<PathPart> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ kind: 'own' as const }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'foreign' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'unknown' as const }) },
  {
    weight: 2,
    arbitrary: fc
      .oneof(fc.constantFrom(...bentIds), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).map(encodeURIComponent))
      .map((text) => ({ kind: 'bent' as const, text })),
  },
);

function queryFor({ parameters }: Operation): fc.Arbitrary<string> {
  const known = parameters.filter((parameter) => parameter.in === 'query');
  const value = ({ schema }: { schema: JsonSchema }) =>
    fc.oneof(
      fc.constantFrom(...bentQueryValues),
      fitting(schema).map((found) => encodeURIComponent(String(found))),
    );
  const pairs = known.map((parameter) => value(parameter).map((text) => `${parameter.name}=${text}`));
  const odd = fc.constantFrom('', 'unknown=1', '%', '=&&=', '__proto__=1', 'token=v4.public.e30.e30', `a=${'b'.repeat(3_000)}`);
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: odd },
    ...(pairs.length === 0 ? [] : [{ weight: 3, arbitrary: fc.array(fc.oneof(...pairs), { maxLength: 4 }).map((all) => all.join('&')) }]),
  );
}

const headerText = fc.oneof(
  fc.constantFrom('', '*', 'null', '-1', 'x'.repeat(2_000), latin1('é😀'), "' or 1=1 --", 'a, b, c', '"', 'W/"', '127.0.0.1'),
  fc.string({ unit: 'grapheme-ascii', maxLength: 60 }).map((text) => text.trim()),
);

const oddHeaders: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.dictionary(
      fc.constantFrom(
        'idempotency-key',
        'if-none-match',
        'range',
        'if-range',
        'x-request-id',
        'traceparent',
        'x-forwarded-for',
        'cookie',
        'x-csrf-token',
        'origin',
        'accept',
        'content-type',
        'x-http-method-override',
      ),
      headerText,
      { minKeys: 1, maxKeys: 3, noNullPrototype: true },
    ),
  },
);

type SentBody = { body: string | Uint8Array | null; headers: Record<string, string> };

function bodyFor(operation: Operation, receiverUrl: string): fc.Arbitrary<SentBody> {
  const { body } = operation;
  const asJson = (value: unknown): SentBody => ({ body: JSON.stringify(value) ?? '', headers: json });
  const broken = fc.constantFrom(...brokenBodies).map((text): SentBody => ({ body: text, headers: json }));
  if (body === null)
    return fc.oneof({ weight: 8, arbitrary: fc.constant<SentBody>({ body: null, headers: {} }) }, { weight: 1, arbitrary: broken });
  if (body === 'multipart') return upload;
  const schema = body as JsonSchema;
  const field = (inner: JsonSchema, name: string): fc.Arbitrary<unknown> => {
    if (name === 'url') return urlFor(receiverUrl);
    const good = namesResource(name) ? fc.constantFrom(ownId, ownId, foreignId) : fitting(inner);
    return fc.oneof({ weight: 8, arbitrary: good }, { weight: 1, arbitrary: hostileValue });
  };
  const inner = schema.properties ?? {};
  const near = fc.constantFrom(...Object.keys(inner), 'unknown').chain((name) => {
    const value = name in inner ? field(inner[name]!, name) : hostileValue;
    return value.map((found) => ({ ...exampleFor(operation, receiverUrl), [name]: found }));
  });
  return fc.oneof(
    { weight: 4, arbitrary: objectOf(schema, field).map((value) => asJson(value)) },
    { weight: 4, arbitrary: near.map((value) => asJson(value)) },
    { weight: 1, arbitrary: hostileValue.map((value) => asJson(value)) },
    { weight: 1, arbitrary: broken },
  );
}

/** The documented one, about things that are there. */
function exampleFor({ example }: Operation, receiverUrl: string): object {
  const body: Record<string, unknown> = { ...(example as object) };
  for (const name of Object.keys(body)) if (namesResource(name)) body[name] = ownId;
  return 'url' in body ? { ...body, url: receiverUrl } : body;
}

/** Nothing that leads out of this machine: the one receiver, and addresses that must be refused. */
function urlFor(receiverUrl: string): fc.Arbitrary<unknown> {
  const refused = [
    'http://169.254.169.254/',
    'http://[::ffff:10.0.0.1]/',
    'http://0x0a000001/',
    'http://10.1/',
    'http://[fe80::1]/',
    'ftp://127.0.0.1/',
  ];
  const odd = [
    'file:///etc/passwd',
    'http://',
    'http://user:pass@127.0.0.1/',
    'javascript:alert(1)',
    '//127.0.0.1',
    'http://127.0.0.1:99999/',
    ' ',
  ];
  return fc.constantFrom<unknown>(receiverUrl, receiverUrl, ...refused, ...odd, 7, null);
}

const upload: fc.Arbitrary<SentBody> = fc.oneof(
  fc.constantFrom('good.txt', 'other.md', 'a name.txt').map((name): SentBody => ({ body: formOf(name, 'some text'), headers: form })),
  fc
    .tuple(
      fc.oneof(
        fc.constantFrom(
          'a.txt',
          'b.csv',
          'c.json',
          'd.png',
          'e.pdf',
          '../../x.txt',
          'a/b.txt',
          '.txt',
          'CON.txt',
          '',
          'x.exe',
          `${'n'.repeat(400)}.txt`,
        ),
        fc.string({ unit: 'grapheme', maxLength: 30 }).map((name) => `${name.replace(/["\r\n\\]/g, '')}.txt`),
      ),
      fc.oneof(
        fc.constantFrom('', 'text', '{', '%PDF-1.7', '\u0000\u0001', 'a,b\n1,2\n', '<svg onload=alert(1)>'),
        fc.string({ unit: 'binary' }),
      ),
    )
    .map(([name, content]): SentBody => ({ body: formOf(name, content), headers: form })),
  fc
    .constantFrom(
      '',
      '--a-boundary',
      '--a-boundary--\r\n',
      'text',
      formOf('a.txt', 'x').slice(0, -6),
      formOf('a.txt', 'x').replace('name="file"', 'name="no"'),
    )
    .map((body): SentBody => ({ body, headers: form })),
  fc
    .constantFrom(
      'multipart/form-data',
      'multipart/form-data; boundary=',
      'multipart/mixed; boundary=a',
      `multipart/form-data; boundary=${'b'.repeat(300)}`,
    )
    .map((type): SentBody => ({ body: formOf('a.txt', 'x'), headers: { 'content-type': type } })),
);
