/**
 * Rules for every service: its description, each of its tools with a stand-in, and its refusals. What can be tried anywhere is tried at the stand-in
 * and, where the environment has a token of a test account, at the real service.
 */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { services } from '../../../../src/domains/integrations/services/catalogue.ts';
import { ServiceFailed } from '../../../../src/domains/integrations/services/service-failure.ts';
import { distorted } from '../../../support/distorted.ts';
import type { Json } from '../../../support/json.ts';
import { randomFrom } from '../../../support/random.ts';
import { serviceRows } from '../../../support/services/rows.ts';
import { failureOf, runTool } from '../../../support/services/run-tool.ts';
import { type Given, goodToken, mark, type ServiceRow, tokenWithoutScopes } from '../../../support/services/service-row.ts';
import type { ServiceStandIn } from '../../../support/services/service-stand-in.ts';

/** Names of the arguments, with `?` for optional ones, and what a person approves. Clients and models rely on both. */
const decided: Record<string, Record<string, string>> = {
  gmail: {
    read_emails: 'max_results? query?',
    search_inbox: 'query max_results?',
    draft_email: 'to subject body thread_id?',
    send_email: 'to subject body thread_id? approved',
    manage_labels: 'message_id add? remove?',
  },
  slack: {
    post_message: 'channel text thread_ts? approved',
    read_channel: 'channel limit?',
    create_channel: 'name approved',
    search_messages: 'query',
  },
  github: {
    create_issue: 'repository title body? approved',
    read_issue: 'repository number',
    open_pull_request: 'repository title head base body? approved',
    commit_files: 'repository branch message files approved',
    read_repository: 'repository path? ref?',
  },
  stripe: {
    list_payments: 'limit?',
    create_payment_link: 'name amount currency quantity? approved',
    refund_payment: 'payment_id amount? approved',
  },
  notion: {
    search_pages: 'query',
    read_page: 'page_id',
    create_page: 'parent_id title content approved',
    update_page: 'page_id content approved',
  },
  google_ads: {
    list_campaigns: 'customer_id',
    read_report: 'customer_id query',
    update_campaign: 'customer_id campaign_id status? approved',
  },
  whatsapp: { send_message: 'to text template? approved', read_messages: 'from? limit?' },
};

test('tools have the listed names, arguments and approvals', () => {
  for (const { name, tools } of services) {
    const described = tools.map(({ name: tool, parameters, highConsequence }) => {
      const required = new Set<string>(parameters.required ?? []);
      const names = Object.keys(parameters.properties).map((argument) => (required.has(argument) ? argument : `${argument}?`));
      return [tool, [...names, ...(highConsequence ? ['approved'] : [])].join(' ')];
    });
    assert.deepEqual(Object.fromEntries(described), decided[name], name);
  }
});

test('every service of the catalogue is in this suite with all its tools', () => {
  const suite = serviceRows.map(({ service, tools }) => [service.name, Object.keys(tools)]);
  const catalogue = services.map(({ name, tools }) => [name, tools.map((tool) => tool.name)]);
  assert.deepEqual(Object.fromEntries(suite), Object.fromEntries(catalogue));
});

test('a read tool needs no approval, and its results from other people are marked untrusted', () => {
  for (const { name, tools } of services)
    for (const tool of tools) {
      assert.ok(tool.writes || !tool.highConsequence, `${name} ${tool.name} needs approval and writes nothing`);
      assert.ok(!tool.writes || !tool.untrusted, `${name} ${tool.name} both writes and brings text of others`);
    }
});

test('descriptions name the date when their shapes were read; those older than 180 days are printed', (t) => {
  for (const { name, shapeSeen, shapeSource } of services) {
    assert.match(shapeSeen, /^20\d\d-[01]\d-[0-3]\d$/, name);
    assert.ok(shapeSource.length > 5, name);
    const days = Math.floor((Date.now() - Date.parse(shapeSeen)) / 86_400_000);
    if (days > 180) t.diagnostic(`${name}: its shapes were read ${days} days ago, from ${shapeSource}`);
  }
});

for (const row of serviceRows) {
  const { service } = row;
  const { variables } = row.truePlan;
  const missing = Object.values(variables).filter((variable) => !process.env[variable]);
  const skip = missing.length > 0 && `no credentials: set ${missing.join(' and ')}`;

  test(`${service.name}: tools answer and refuse at the stand-in as the plan for the real service expects`, async (t) => {
    const standIn = await row.start(t);
    await tryPlace(t, row, standIn.apiUrl, row.truePlan.ofStandIn(standIn));
  });

  test(`${service.name}: the real service answers and refuses like its stand-in`, { skip, timeout: 600_000 }, async (t) => {
    const given = Object.fromEntries(Object.entries(variables).map(([name, variable]) => [name, process.env[variable]!]));
    await tryPlace(t, row, service.apiUrl, given as Given);
  });

  const named = (what: string) => `${service.name}: ${what}`;

  test(named('each tool does its work and answers in its own shape'), async (t) => {
    const standIn = await row.start(t);
    for (const tool of service.tools) {
      const { args, result, effect, path } = row.tools[tool.name]!;
      const before = standIn.requests.length;
      const answered = await run(row, standIn, tool.name, args(standIn));
      assert.deepEqual(answered, result(standIn), tool.name);
      assert.deepEqual(JSON.parse(JSON.stringify(answered)), answered, `${tool.name} answers JSON`);
      effect?.(standIn);
      const made = standIn.requests.slice(before);
      assert.equal(path === null ? made.length === 0 : made.some((request) => path.test(request.path)), true, tool.name);
      for (const { headers, path: sentTo } of made) {
        assert.match(headers.authorization ?? '', new RegExp(`^(Bearer|token) ${goodToken}$`), sentTo);
        for (const [header, value] of Object.entries(service.headers)) assert.equal(headers[header.toLowerCase()], value, sentTo);
      }
      assert.ok(!JSON.stringify(answered).includes(goodToken));
    }
  });

  test(named('refusals are failures of the five kinds, without the token'), async (t) => {
    const standIn = await row.start(t);
    for (const [tool, { args, path }] of toolsWithRequests(row))
      for (const [kind, { answer, failure }] of Object.entries(row.refusals)) {
        if (kind === 'unavailable' && service.tools.find(({ name }) => name === tool)!.repeatable) continue;
        standIn.meet(path, answer);
        const met = await failureOf(run(row, standIn, tool, args(standIn)));
        const { message = '', ...rest } = failure;
        assert.deepEqual({ ...met, message: '' }, { ...rest, message: '' }, `${tool} ${kind}`);
        assert.ok(met.message.includes(message) && met.message.length > 5, `${tool} ${kind}: ${met.message}`);
        assert.ok(!met.message.includes(goodToken));
        standIn.faults = [];
      }
  });

  if (row.hasScopes)
    test(named('a token that lacks the scope is refused as forbidden'), async (t) => {
      const standIn = await row.start(t);
      for (const [tool, { args }] of toolsWithRequests(row)) {
        const failure = await failureOf(run(row, standIn, tool, args(standIn), tokenWithoutScopes));
        assert.equal(failure.type, 'forbidden', tool);
      }
    });

  test(named('a rate limit is reported as such, in each form that the service has'), async (t) => {
    const standIn = await row.start(t);
    for (const [tool, { args, path }] of toolsWithRequests(row))
      for (const answer of [row.limited.plain, row.limited.withRetryAfter('600')]) {
        standIn.meet(path, answer);
        const failure = await failureOf(run(row, standIn, tool, args(standIn)));
        assert.equal(failure.type, 'rate_limited', tool);
      }
  });

  test(named('an answer of an unknown form is a failure or an empty result, never a defect'), async (t) => {
    const standIn = await row.start(t);
    for (const [tool, { args }] of toolsWithRequests(row))
      for (let seed = 0; seed < 30; seed += 1) {
        standIn.distort = (json) => distorted(json, randomFrom(seed));
        await run(row, standIn, tool, args(standIn)).catch((error: unknown) => {
          assert.ok(error instanceof ServiceFailed, `${tool} with seed ${seed}: ${(error as Error).stack}`);
        });
      }
  });

  test(named('lists that never end are read to a bound'), async (t) => {
    const standIn = await row.start(t);
    standIn.distort = (json) => (Array.isArray(json) ? [] : { ...emptied(json), ...endless });
    for (const [tool, { args }] of toolsWithRequests(row)) {
      standIn.requests.length = 0;
      await run(row, standIn, tool, args(standIn)).catch((error: unknown) =>
        assert.ok(error instanceof ServiceFailed, `${tool}: ${error}`),
      );
      assert.ok(standIn.requests.length <= 50, `${tool} made ${standIn.requests.length} requests`);
    }
  });

  const { pages } = row;
  if (pages !== undefined)
    test(named('a list goes over as many pages as were asked for'), async (t) => {
      const standIn = await row.start(t);
      pages.make(standIn);
      standIn.requests.length = 0;
      pages.check((await run(row, standIn, pages.tool, pages.args)) as Json, standIn);
    });
}

/** Tools answer in the shapes of the stand-in, an unknown token is refused, and so is what does not exist. */
async function tryPlace(t: TestContext, row: ServiceRow, apiUrl: string, given: Given): Promise<void> {
  const { calls, unknown, attributes } = row.truePlan;
  const standIn = await row.start(t);
  const at = (name: string, args: object, token = given.token) =>
    runTool(row.service, name, args, { apiUrl, token, attributes: attributes?.(given) ?? {}, callId: `${mark}-${name}` });
  const reference: Record<string, unknown> = {};
  for (const [name, { args }] of Object.entries(row.tools)) reference[name] = await run(row, standIn, name, args(standIn));
  const results: Record<string, Json> = {};
  for (const [name, args] of Object.entries(calls)) {
    results[name] = (await at(name, args(given, results))) as Json;
    assert.deepEqual(misfits(results[name], reference[name], name), []);
    assert.ok(!JSON.stringify(results[name]).includes(given.token));
  }
  const [first] = Object.keys(calls) as [string];
  assert.equal((await failureOf(at(first, calls[first]!(given, results), 'no-token-of-this-service'))).type, 'forbidden');
  assert.match((await failureOf(at(unknown.tool, unknown.args(given)))).type, /^(not_found|invalid)$/);
}

/** Where the two differ in their kinds of values. A field that may be absent, or null, is compared only where both have it. */
function misfits(real: unknown, reference: unknown, at: string): string[] {
  if (real === null || reference === null || real === undefined || reference === undefined) return [];
  if (kindOf(real) !== kindOf(reference)) return [`${at} is ${kindOf(real)}, not ${kindOf(reference)}`];
  if (Array.isArray(real) && Array.isArray(reference)) return misfits(real[0], reference[0], `${at}[0]`);
  if (typeof real !== 'object') return [];
  const both = Object.entries(real).filter(([name]) => Object.hasOwn(reference as object, name));
  if (both.length === 0 && Object.keys(reference as object).length > 0) return [`${at} has none of the fields`];
  return both.flatMap(([name, value]) => misfits(value, (reference as Record<string, unknown>)[name], `${at}.${name}`));
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? 'a list' : typeof value;
}

/** Fields by which services name a further page. */
const endless = { ok: true, nextPageToken: 'x', has_more: true, next_cursor: 'x', response_metadata: { next_cursor: 'x' } };

function emptied(json: Json): object {
  return Object.fromEntries(Object.entries(json ?? {}).map(([name, value]) => [name, Array.isArray(value) ? [] : value]));
}

function toolsWithRequests({ tools }: ServiceRow) {
  return Object.entries(tools).flatMap(([name, tool]) => (tool.path === null ? [] : [[name, { ...tool, path: tool.path }] as const]));
}

function run(row: ServiceRow, standIn: ServiceStandIn, name: string, args: object, token = goodToken): Promise<unknown> {
  const { apiUrl } = standIn;
  return runTool(row.service, name, args, {
    ...{ apiUrl, token, callId: `call-of-${name}` },
    ...{ attributes: row.attributes?.(standIn), received: row.received },
  });
}
