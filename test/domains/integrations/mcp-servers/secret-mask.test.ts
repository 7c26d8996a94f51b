/** Which texts are removed from what an MCP server answers. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { namesSecret, secretsSent, withoutSecrets } from '../../../../src/domains/integrations/mcp-servers/protocol/secrets-sent.ts';
import { SecretMask } from '../../../../src/secret-mask.ts';

const address = 'https://mcp.example/mcp';
const maskFor = (headers: Record<string, string>, url = address) => new SecretMask(secretsSent(url, headers));

test('a header is secret if a whole word of its name says so, and does not only describe a secret', () => {
  const secret = [
    ...['Authorization', 'X-PAT', 'X-Api-Key', 'x-apikey', 'X-ApiKey', 'PRIVATE-TOKEN', 'Cookie', 'X_Session_Id', 'X-JWT', 'X-Key-2'],
    ...['Proxy-Authorization', 'accessToken', 'X-Client-Secret', 'xi-api-key', 'X-Passphrase', 'X-Api'],
  ];
  const plain = [
    ...['X-Author', 'X-Keyspace', 'X-Monkey', 'X-Path', 'X-Tokenizer', 'X-Compatible', 'X-Tenant', 'X-Passenger', 'X-Signatures-Of'],
    ...['X-Auth-Provider', 'X-Token-Type', 'X-Key-Version', 'User-Agent', 'Accept-Language'],
  ];
  assert.deepEqual(
    secret.filter((name) => !namesSecret(name)),
    [],
  );
  assert.deepEqual(plain.filter(namesSecret), []);
});

test('text that is no secret stays as it is', () => {
  const mask = maskFor({ 'X-Author': 'calendar', 'X-Tenant': 'production', 'X-Key': 'short' });
  const answer = { calendar: ['the calendar of production', 12_345_678, null, true], short: 'short' };
  assert.deepEqual(mask.json(answer), answer);
});

test('credentials are found whole, without their scheme, decoded, in their fields, and as URLs and JSON write them', () => {
  const password = 'p"ss:w/rd+1';
  const basic = Buffer.from(`person:${password}`).toString('base64');
  for (const [headers, repeated] of [
    [{ Authorization: 'Bearer abcdef123' }, ['Bearer abcdef123', 'abcdef123']],
    [{ Authorization: `Basic ${basic}` }, [basic, `person:${password}`, password, encodeURIComponent(password), 'p\\"ss:w/rd+1']],
    [{ Cookie: 'theme=dark; sid=abcdef123; other="quoted 1"' }, ['abcdef123', 'sid=abcdef123', 'quoted 1']],
    [{ Authorization: 'Token token="abcdef123", id=5' }, ['abcdef123']],
    [{ 'X-Key': 'YWJjZGVmZw==' }, ['YWJjZGVmZw==', 'YWJjZGVmZw%3D%3D']],
  ] as [Record<string, string>, string[]][])
    for (const text of repeated)
      assert.equal(maskFor(headers).text(`<${text}>`).includes(text), false, `${JSON.stringify(headers)} ${text}`);
});

test('a secret in the query of the address is removed from answers and from the address that is shown', () => {
  const url = `${address}?page=important&api_key=query%2Fkey1`;
  const mask = maskFor({}, url);
  assert.equal(mask.text('query/key1 query%2Fkey1 important'), '[masked] [masked] important');
  assert.equal(withoutSecrets(url), `${address}?page=important&api_key=***`);
  assert.equal(withoutSecrets(`${address}?page=important`), `${address}?page=important`);
  assert.equal(withoutSecrets('https://person:password@mcp.example/'), 'https://mcp.example/');
});

test('of a secret that begins with another nothing is left', () => {
  const mask = maskFor({ 'X-Key': 'abcdef', 'X-Token': 'abcdef-and-more' });
  assert.equal(mask.text('abcdef-and-more, abcdef'), '[masked], [masked]');
});

test('names of fields, numbers and text in any depth are masked, and the rest of a value stays', () => {
  const mask = maskFor({ 'X-Key': '20261124' });
  const answer = { a20261124: [{ n: 20_261_124, __proto__: null }], text: 'a\\20261124"', other: 1.5 };
  assert.deepEqual(mask.json(answer), { 'a[masked]': [{ n: '[masked]' }], text: 'a\\[masked]"', other: 1.5 });
  assert.deepEqual([mask.isIn(answer), mask.isIn({ other: 1.5 }), mask.isIn(undefined)], [true, false, false]);
});
