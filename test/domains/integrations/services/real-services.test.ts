/**
 * The true services, where the environment has a token of an account for tests: tools answer in the shapes that the stand-ins gave, an unknown token is
 * refused, and so is what does not exist. What is written there is marked as of this test; nothing is sent to people but the address or number given.
 */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { serviceRows } from '../../../support/services/rows.ts';
import { failureOf, runTool } from '../../../support/services/run-tool.ts';
import { goodToken, type ServiceRow } from '../../../support/services/service-row.ts';

type Given = Readonly<Record<string, string>>;
type Results = Readonly<Record<string, any>>;
type Plan = {
  /** Variables of the environment, by what they are here; `token` is the access token. */
  variables: Readonly<Record<string, string>>;
  attributes?(given: Given): Record<string, string>;
  /** Calls in this order; later ones may use what earlier ones answered. */
  calls: Readonly<Record<string, (given: Given, results: Results) => Record<string, unknown>>>;
  /** A call about something that does not exist. */
  unknown: { tool: string; args(given: Given): Record<string, unknown> };
};

const mark = `Troupe conformance ${Date.now().toString(36)}`;

const plans: Readonly<Record<string, Plan>> = {
  gmail: {
    variables: { token: 'GMAIL_TEST_TOKEN', address: 'GMAIL_TEST_ADDRESS' },
    calls: {
      send_email: ({ address }) => ({ to: address, subject: mark, body: 'Sent by a test.' }),
      read_emails: () => ({ max_results: 2 }),
      search_inbox: () => ({ query: 'in:anywhere', max_results: 1 }),
      draft_email: ({ address }) => ({ to: address, subject: mark, body: 'Drafted by a test.' }),
    },
    unknown: { tool: 'manage_labels', args: () => ({ message_id: '0000000000000000', add: ['starred'] }) },
  },
  slack: {
    variables: { token: 'SLACK_TEST_TOKEN', channel: 'SLACK_TEST_CHANNEL' },
    calls: {
      post_message: ({ channel }) => ({ channel, text: mark }),
      read_channel: ({ channel }) => ({ channel, limit: 2 }),
    },
    unknown: { tool: 'read_channel', args: () => ({ channel: 'C00000000' }) },
  },
  github: {
    variables: { token: 'GITHUB_TEST_TOKEN', repository: 'GITHUB_TEST_REPOSITORY' },
    calls: {
      create_issue: ({ repository }) => ({ repository, title: mark, body: 'Opened by a test.' }),
      read_issue: ({ repository }, { create_issue: issue }) => ({ repository, number: issue.number }),
      read_repository: ({ repository }) => ({ repository }),
      commit_files: ({ repository }) => ({
        ...{ repository, branch: mark.toLowerCase().replaceAll(' ', '-'), message: mark },
        files: [{ path: 'troupe-conformance/file.txt', content: mark }],
      }),
    },
    unknown: { tool: 'read_issue', args: ({ repository }) => ({ repository, number: 999_999_999 }) },
  },
  stripe: {
    variables: { token: 'STRIPE_TEST_KEY' },
    calls: {
      list_payments: () => ({ limit: 5 }),
      create_payment_link: () => ({ name: mark, amount: 19.99, currency: 'USD' }),
    },
    unknown: { tool: 'refund_payment', args: () => ({ payment_id: 'pi_0000000000000000' }) },
  },
  notion: {
    variables: { token: 'NOTION_TEST_TOKEN', parent: 'NOTION_TEST_PAGE' },
    calls: {
      create_page: ({ parent }) => ({ parent_id: parent, title: mark, content: '- one' }),
      update_page: (_given, { create_page: page }) => ({ page_id: page.id, content: '- two' }),
      read_page: (_given, { create_page: page }) => ({ page_id: page.id }),
      search_pages: () => ({ query: '' }),
    },
    unknown: { tool: 'read_page', args: () => ({ page_id: '00000000-0000-0000-0000-000000000000' }) },
  },
  google_ads: {
    variables: { token: 'GOOGLE_ADS_TEST_TOKEN', customer: 'GOOGLE_ADS_TEST_CUSTOMER' },
    calls: {
      list_campaigns: ({ customer }) => ({ customer_id: customer }),
      read_report: ({ customer }) => ({ customer_id: customer, query: 'SELECT campaign.name FROM campaign LIMIT 2' }),
    },
    unknown: { tool: 'update_campaign', args: ({ customer }) => ({ customer_id: customer, campaign_id: '1', status: 'paused' }) },
  },
  whatsapp: {
    variables: { token: 'WHATSAPP_TEST_TOKEN', number: 'WHATSAPP_TEST_NUMBER_ID', to: 'WHATSAPP_TEST_TO' },
    attributes: ({ number }) => ({ phone_number_id: number! }),
    calls: { send_message: ({ to }) => ({ to, text: mark, template: 'hello_world:en_US' }) },
    unknown: { tool: 'send_message', args: ({ to }) => ({ to, text: mark, template: 'no_such_template:en_US' }) },
  },
};

test('every service has a plan for its true place', () => {
  assert.deepEqual(Object.keys(plans).sort(), serviceRows.map(({ service }) => service.name).sort());
});

for (const row of serviceRows) {
  const { service } = row;
  const plan = plans[service.name];
  if (plan === undefined) continue;
  const missing = Object.values(plan.variables).filter((variable) => !process.env[variable]);
  const skip = missing.length > 0 && `no credentials: set ${missing.join(' and ')}`;

  test(`${service.name}: the true service answers in the shapes of the stand-in, and refuses in its kinds`, {
    skip,
    timeout: 600_000,
  }, async (t) => {
    const given = Object.fromEntries(Object.entries(plan.variables).map(([name, variable]) => [name, process.env[variable]!]));
    const attributes = plan.attributes?.(given) ?? {};
    const reference = await answersOfStandIn(t, row);
    const real = (name: string, args: object, token = given.token!) =>
      runTool(row.service, name, args, { apiUrl: service.apiUrl, token, attributes, callId: `conformance-${mark}-${name}` });
    const results: Record<string, any> = {};
    for (const [name, args] of Object.entries(plan.calls)) {
      results[name] = await real(name, args(given, results));
      assert.deepEqual(misfits(results[name], reference[name], name), []);
      assert.ok(!JSON.stringify(results[name]).includes(given.token!));
    }
    const [name] = Object.keys(plan.calls) as [string];
    assert.equal((await failureOf(real(name, plan.calls[name]!(given, results), 'no-token-of-this-service'))).type, 'forbidden');
    const { tool, args } = plan.unknown;
    assert.match((await failureOf(real(tool, args(given)))).type, /^(not_found|invalid)$/);
  });
}

async function answersOfStandIn(t: TestContext, row: ServiceRow): Promise<Record<string, unknown>> {
  const standIn = await row.start(t);
  const answers: Record<string, unknown> = {};
  for (const [name, { args }] of Object.entries(row.tools)) {
    const options = { apiUrl: standIn.apiUrl, token: goodToken, attributes: row.attributes?.(standIn) ?? {}, callId: `call-of-${name}` };
    answers[name] = await runTool(row.service, name, args(standIn), { ...options, received: row.received ?? [] });
  }
  return answers;
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
