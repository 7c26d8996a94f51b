/** Values of hostile or careless callers in place of valid ones. */

/** For fields of a JSON body. */
export const wrongValues: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  -0.001,
  1e308,
  2 ** 53,
  '',
  ' ',
  'text',
  '1',
  'NaN',
  [],
  {},
  [[]],
  [null],
  { a: { b: 1 } },
  'x'.repeat(100_000),
  '\n',
  JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`),
  Array(1_000).fill('x'),
  { __proto__: null, constructor: 1, toString: 2 },
  'a@b',
  '😀'.repeat(50_000),
  "'; drop table task; --",
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '\u202e\u0000\ufeff',
  '{{7*7}} %s%n',
  'http://169.254.169.254/latest/meta-data',
  '-'.repeat(5_000),
];

/** For ids in a path, as they are sent. */
export const bentIds = [
  '%2e%2e',
  '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  '%00',
  'a%00b',
  '%ff',
  '%c0%ae',
  '%',
  '%zz',
  '..%5c..',
  '*',
  '%27%20or%201=1--',
  '%F0%9F%98%80',
  'null',
  '0',
  '-1',
  '__proto__',
  'constructor',
  '%0d%0aX-Injected:%201',
  'x'.repeat(3_000),
  '%e2%80%ae',
  '%25252e',
  "'",
  'a;b',
  '~',
  '%ed%a0%80',
  '.hidden',
  'CON',
];

/** For a query value, as it is sent. */
export const bentQueryValues = [
  'abc',
  '',
  '%20',
  '1.5',
  '1e3',
  '-1',
  '0x10',
  'NaN',
  'Infinity',
  '9'.repeat(30),
  '%00',
  '%ff',
  '%EF%BC%91',
  '1%2C2',
  'null',
  '9007199254740993',
  '%27%20or%20%271%27=%271',
  'x'.repeat(5_000),
];

/** Bodies that are no JSON, or too deep. */
export const brokenBodies: (string | Uint8Array)[] = [
  '',
  '{',
  '{"a":}',
  "{'a': 1}",
  '{"a": NaN}',
  '{"a": 1,}',
  ' ',
  '{}{}',
  '\u0000',
  '"',
  '[]',
  'null',
  '1',
  '{"a":"\\ud800","b":"\\u0000"}',
  '{"__proto__":{"a":1},"constructor":{"prototype":{}}}',
  `${'['.repeat(100)}${']'.repeat(100)}`,
  '['.repeat(200_000),
  '{"a":'.repeat(50_000),
  JSON.stringify({ filler: 'x'.repeat(2 ** 20) }),
  Buffer.from([0xff, 0xfe, 0x7b, 0x00]),
  Buffer.from('{"a":"\xff"}', 'latin1'),
  Buffer.from('{"a":"\xed\xa0\x80"}', 'latin1'),
];

/** Of the header Authorization, near to a token that is good. */
export function bentTokens(token: string): string[] {
  const bent = `${token.slice(0, -3)}${token.endsWith('AAA') ? 'BBB' : 'AAA'}`;
  return [
    'Bearer',
    'Bearer ',
    'Basic YTpi',
    token,
    'Bearer null',
    `Bearer ${bent}`,
    `Bearer ${token} x`,
    `Bearer mk_live_${'a'.repeat(49)}`,
    `Bearer mk_live_${'é'.repeat(20)}`,
    `Bearer ${'x'.repeat(5000)}`,
    'Bearer v4.public.e30.e30',
  ];
}

/** Header values go out one byte a character: this sends UTF-8. */
export function latin1(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
