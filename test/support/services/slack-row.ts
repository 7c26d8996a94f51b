import assert from 'node:assert/strict';
import { slack } from '../../../src/domains/integrations/services/slack.ts';
import { defineRow, goodToken, mark, tokenWithoutScopes } from './service-row.ts';
import { SlackServer } from './slack-server.ts';

const refused = (error: string, more: object = {}) => ({ status: 200, json: { ok: false, error, ...more } });

export const slackRow = defineRow<SlackServer>({
  service: slack,
  hasScopes: true,
  async start(t) {
    const standIn = await SlackServer.start(t);
    standIn.tokens
      .set(goodToken, ['chat:write', 'channels:history', 'channels:manage', 'channels:read', 'search:read'])
      .set(tokenWithoutScopes, []);
    standIn.addMessage('C024BE91L', 'U1', 'Deploy at noon');
    standIn.addMessage('C024BE91L', 'U2', 'Fine');
    return standIn;
  },
  truePlan: {
    variables: { token: 'SLACK_TEST_TOKEN', channel: 'SLACK_TEST_CHANNEL' },
    ofStandIn: () => ({ token: goodToken, channel: 'C024BE91L' }),
    calls: {
      post_message: ({ channel }) => ({ channel, text: mark }),
      read_channel: ({ channel }) => ({ channel, limit: 2 }),
    },
    unknown: { tool: 'read_channel', args: () => ({ channel: 'C00000000' }) },
  },
  tools: {
    post_message: {
      args: ({ messages }) => ({ channel: '#general', text: 'Done.', thread_ts: messages[0]!.ts }),
      path: /\/chat\.postMessage$/,
      result: ({ messages }) => ({ channel: 'C024BE91L', ts: messages.at(-1)!.ts }),
      effect: ({ messages }) => assert.equal(messages.at(-1)!.thread_ts, messages[0]!.ts),
    },
    read_channel: {
      args: () => ({ channel: 'general', limit: 2 }),
      path: /\/conversations\.history$/,
      result: ({ messages }) => ({
        channel: 'C024BE91L',
        messages: [
          { ts: messages[2]!.ts, at: '2026-09-21T14:13:23.000Z', user: 'U0001', text: 'Done.', thread_ts: messages[0]!.ts },
          { ts: messages[1]!.ts, at: '2026-09-21T14:13:22.000Z', user: 'U2', text: 'Fine' },
        ],
        has_more: true,
      }),
    },
    create_channel: {
      args: () => ({ name: '#launch' }),
      path: /\/conversations\.create$/,
      result: ({ channels }) => ({ channel: channels.find(({ name }) => name === 'launch')!.id, name: 'launch' }),
    },
    search_messages: {
      args: () => ({ query: 'Deploy' }),
      path: /\/search\.messages$/,
      result: ({ messages: [{ ts } = { ts: '' }] }) => ({
        total: 1,
        messages: [
          {
            ...{ channel: 'C024BE91L', channel_name: 'general', ts, at: '2026-09-21T14:13:21.000Z', user: 'u1', text: 'Deploy at noon' },
            permalink: `https://example.slack.com/archives/C024BE91L/p${ts.replace('.', '')}`,
          },
        ],
      }),
    },
  },
  refusals: {
    notFound: { answer: refused('channel_not_found'), failure: { type: 'not_found' } },
    forbidden: {
      answer: refused('missing_scope', { needed: 'groups:history', provided: 'chat:write' }),
      failure: { type: 'forbidden', scope: 'groups:history' },
    },
    invalid: { answer: refused('invalid_arguments'), failure: { type: 'invalid', field: null } },
    unavailable: { answer: refused('internal_error'), failure: { type: 'unavailable' } },
  },
  limited: {
    plain: refused('ratelimited'),
    withRetryAfter: (value) => ({ status: 429, json: { ok: false, error: 'ratelimited' }, headers: { 'retry-after': value } }),
  },
  pages: {
    tool: 'read_channel',
    args: { channel: 'C0G9QF9GZ', limit: 40 },
    make(standIn) {
      standIn.pageSize = 15;
      for (let n = 1; n <= 50; n += 1) standIn.addMessage('C0G9QF9GZ', 'U1', `number ${n}`);
    },
    check({ messages, has_more }, standIn) {
      assert.deepEqual([messages.length, messages[0].text, messages[39].text, has_more], [40, 'number 50', 'number 11', true]);
      assert.deepEqual(
        standIn.requestsOf(/history$/).map(({ body }) => body.limit),
        ['40', '25', '10'],
      );
    },
  },
});
