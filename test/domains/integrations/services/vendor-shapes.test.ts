/**
 * Requests of tools, and answers of the stand-ins, compared with machine-readable descriptions of the vendors: excerpts in
 * `test/support/services/vendor`, each with its source and version. The shapes of Google Ads and WhatsApp were read in documentation.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import Schema from 'typebox/schema';
import type { Json } from '../../../support/json.ts';
import { serviceRows } from '../../../support/services/rows.ts';
import { runTool } from '../../../support/services/run-tool.ts';
import { goodToken } from '../../../support/services/service-row.ts';
import type { ServiceRequest } from '../../../support/services/service-stand-in.ts';

const excerpt = (name: string): Json => JSON.parse(readFileSync(`test/support/services/vendor/${name}.json`, 'utf8'));

test("Slack: tools send the parameters that Slack's description has, of its types, and those that it requires", async (t) => {
  const { methods } = excerpt('slack');
  const seen = new Set<string>();
  for (const { request } of await exchanges(t, 'slack')) {
    const method = request.path.split('/').at(-1)!;
    const parameters = methods[method];
    assert.ok(parameters !== undefined, `${method} is in no excerpt`);
    seen.add(method);
    for (const [name, value] of Object.entries(request.body as Record<string, string>)) {
      assert.ok(name in parameters, `${method} has no ${name}`);
      const form = { string: /./s, integer: /^\d+$/, number: /^[\d.]+$/, boolean: /^(true|false)$/ }[parameters[name].type as string]!;
      assert.match(value, form, `${method} ${name}`);
    }
    for (const [name, { required }] of Object.entries<Json>(parameters))
      assert.ok(!required || name in request.body, `${method} needs ${name}`);
  }
  assert.deepEqual([...seen].sort(), Object.keys(methods).sort());
});

test("Notion: requests and answers fit Notion's description", async (t) => {
  const operations: Record<string, Json> = excerpt('notion').operations;
  const seen = new Set<string>();
  for (const { request, answer } of await exchanges(t, 'notion')) {
    const name = `${request.method} ${request.path.replace(/^\/v1\/pages\/[^/]+/, '/v1/pages/{page_id}')}`;
    const operation = operations[name];
    assert.ok(operation !== undefined, `${name} is in no excerpt`);
    seen.add(name);
    if (operation.request !== undefined) fits(operation.request, request.body, `request of ${name}`);
    fits(operation.response, answer, `answer to ${name}`);
  }
  assert.deepEqual([...seen].sort(), Object.keys(operations).sort());
});

for (const [name, title] of [
  ['github', 'GitHub'],
  ['gmail', 'Gmail'],
] as const)
  test(`${title}: requests and answers have the fields, kinds and values of ${title}'s description, and all that it requires of requests`, async (t) => {
    const operations = Object.entries<Json>(excerpt(name).operations);
    const seen = new Set<string>();
    for (const { request, answer } of await exchanges(t, name)) {
      const [at, operation] =
        operations.find(([known]) => isOf(known, request)) ?? assert.fail(`${request.method} ${request.path} is in no excerpt`);
      seen.add(at);
      for (const [parameter, value] of request.query) {
        const schema = operation.query[parameter] ?? assert.fail(`${at} has no parameter ${parameter}`);
        fits(
          schema,
          schema.type === 'integer' ? Number(value) : schema.type === 'boolean' ? value === 'true' : value,
          `${parameter} of ${at}`,
        );
      }
      if (request.body !== null) fits(operation.request, request.body, `request of ${at}`);
      fits(operation.response, answer, `answer to ${at}`);
    }
    assert.deepEqual(
      [...seen].sort(),
      operations.map(([known]) => known),
    );
  });

test("Stripe: answers of the stand-in have the fields and types of Stripe's own samples", async (t) => {
  const { resources } = excerpt('stripe');
  const seen = new Set<string>();
  for (const { answer } of await exchanges(t, 'stripe'))
    for (const one of answer.object === 'list' ? answer.data : [answer]) {
      const sample = resources[one.object];
      if (sample === undefined) continue;
      seen.add(one.object);
      assert.deepEqual(unknownFields(one, sample, one.object), []);
    }
  assert.deepEqual([...seen].sort(), Object.keys(resources).sort());
});

/** The requests of each tool of a service, with the answers of the stand-in. */
async function exchanges(t: TestContext, name: string): Promise<{ request: ServiceRequest; answer: Json }[]> {
  const row = serviceRows.find(({ service }) => service.name === name)!;
  const standIn = await row.start(t);
  const answers: Json[] = [];
  standIn.distort = (json) => {
    answers.push(json);
    return json;
  };
  const { apiUrl } = standIn;
  for (const [toolName, { args }] of Object.entries(row.tools))
    await runTool(row.service, toolName, args(standIn), { apiUrl, token: goodToken, callId: `call-of-${toolName}` });
  assert.equal(answers.length, standIn.requests.length);
  return standIn.requests.map((request, i) => ({ request, answer: answers[i] }));
}

/** Whether a request is of an operation such as `GET /repos/{owner}/{repo}`; a name with a plus sign may hold slashes. */
function isOf(operation: string, { method, path }: ServiceRequest): boolean {
  const form = operation.replace(/[.:]/g, '\\$&').replace(/\{(\+?)\w+\}/g, (_name, slashes) => (slashes === '' ? '[^/:]+' : '.*'));
  return new RegExp(`^${form}$`).test(`${method} ${path}`);
}

function fits(schema: object, value: unknown, what: string): void {
  const [isFitting, errors] = Schema.Errors(schema, value);
  assert.ok(isFitting, `${what}: ${JSON.stringify(errors)}`);
}

/** Fields that the sample lacks, or has in another kind. Lists and objects of customers (`metadata`) are not compared. */
function unknownFields(value: Record<string, unknown>, sample: Record<string, unknown>, at: string): string[] {
  return Object.entries(value).flatMap(([name, field]) => {
    if (!Object.hasOwn(sample, name)) return [`${at}.${name} is unknown`];
    const expected = sample[name];
    if (field === null || expected === null || typeof field === typeof expected) return [];
    return [`${at}.${name} is ${typeof field}, not ${typeof expected}`];
  });
}
