/** Slack: messages are posted, read and searched, channels created. */
import Type from 'typebox';
import { pagesUpTo } from './pages.ts';
import { type Fields, fieldsOf, instantOf, listOf, numberOf, requiredFields, textOf } from './read-answer.ts';
import { defineService, type ServiceCall, type ServiceRequest } from './service.ts';
import { ServiceFailed, type ServiceFailure } from './service-failure.ts';
import { slackFailure, slackOAuthError, slackRefusesToken, slackTokens } from './slack-answers.ts';

const title = 'Slack';

/** The maximum that one request returns for apps outside of Slack's marketplace; those may send one such request a minute. */
const defaultMessages = 15;
const maxMessages = 200;
const maxMatches = 20;

const channel = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'Id of a channel, such as C024BE91L, or its name, such as #general',
});

export const slack = defineService({
  name: 'slack',
  title,
  shapeSeen: '2026-11-23',
  shapeSource: '@slack/web-api 8.2.0 and docs.slack.dev/reference/methods',
  apiUrl: 'https://slack.com/api',
  headers: {},
  oauth: {
    authorizeUrl: 'https://slack.com/oauth/v2/authorize',
    tokenUrl: 'https://slack.com/api/oauth.v2.access',
    revoke: {
      request: ({ access }) => ({ method: 'POST', path: '/auth.revoke', headers: { authorization: `Bearer ${access}` } }),
    },
    authorizeParameters: {},
    clientAuthentication: 'body',
    scopeSeparator: ',',
    scopeParameter: 'scope',
    // Bots cannot search.
    userScopes: ['search:read'],
    tokensIn: slackTokens,
    errorIn: slackOAuthError,
  },
  takesApiKey: false,
  identity: { method: 'POST', path: '/auth.test' },
  failureIn: slackFailure,
  refusesToken: slackRefusesToken,
  tools: [
    {
      name: 'post_message',
      description:
        'Posts a message to a channel of the connected Slack workspace, or to a thread in it. People read it: post only what the task asks for, once. The user may have to approve it first. Returns {channel, ts}; ts identifies the message.',
      parameters: Type.Object({
        channel,
        text: Type.String({
          minLength: 1,
          maxLength: 40_000,
          description: 'The message; *bold*, _italic_, `code`, <https://example.com|link>',
        }),
        thread_ts: Type.Optional(
          Type.String({ minLength: 1, maxLength: 40, description: 'To reply in a thread: the ts of its first message' }),
        ),
      }),
      scopes: ['chat:write'],
      writes: true,
      highConsequence: true,
      untrusted: false,
      repeatable: false,
      async run(message: { channel: string; text: string; thread_ts?: string }, call) {
        const { body } = await ask('chat.postMessage', message, call, { repeatable: false });
        const { channel: id, ts } = fieldsOf(body);
        return { channel: textOf(id) ?? message.channel, ts: textOf(ts) ?? null };
      },
    },
    {
      name: 'read_channel',
      description:
        'Reads the newest messages of a channel of the connected Slack workspace. Returns {channel, messages: [{ts, at, user, text, thread_ts, replies, files}], has_more}, newest first. More than 15 messages may take minutes: Slack limits how fast many apps may read.',
      parameters: Type.Object({
        channel,
        limit: Type.Optional(
          Type.Integer({ minimum: 1, maximum: maxMessages, description: `How many messages; default ${defaultMessages}` }),
        ),
      }),
      scopes: ['channels:history'],
      writes: false,
      highConsequence: false,
      untrusted: true,
      repeatable: true,
      async run({ channel: named, limit = defaultMessages }: { channel: string; limit?: number }, call) {
        const id = await channelId(named, call);
        const { items, hasMore } = await pagesUpTo(limit, async (cursor, missing) => {
          const { body } = await ask('conversations.history', { channel: id, limit: missing, cursor }, call);
          return { items: listOf(requiredFields(body, title).messages, title), next: nextCursor(body) };
        });
        return { channel: id, messages: items.map(shownMessage), has_more: hasMore };
      },
    },
    {
      name: 'create_channel',
      description:
        'Creates a public channel in the connected Slack workspace. The user may have to approve it first. Returns {channel, name}; channel is its id.',
      parameters: Type.Object({
        name: Type.String({ minLength: 1, maxLength: 80, description: 'Lower-case letters, digits, hyphens and underscores' }),
      }),
      scopes: ['channels:manage'],
      writes: true,
      highConsequence: true,
      untrusted: false,
      repeatable: false,
      async run({ name }: { name: string }, call) {
        const { body } = await ask('conversations.create', { name: withoutHash(name) }, call, { repeatable: false });
        const made = fieldsOf(fieldsOf(body).channel);
        return { channel: textOf(made.id) ?? null, name: textOf(made.name) ?? name };
      },
    },
    {
      name: 'search_messages',
      description: `Searches messages of the connected Slack workspace, in all channels that the person who connected it can read. Returns {total, messages: [{channel, channel_name, ts, at, user, text, permalink}]}, the best ${maxMatches}.`,
      parameters: Type.Object({
        query: Type.String({
          minLength: 1,
          maxLength: 500,
          description: 'Words, and modifiers of Slack such as in:#general from:@ann after:2026-01-31',
        }),
      }),
      scopes: ['search:read'],
      writes: false,
      highConsequence: false,
      untrusted: true,
      repeatable: true,
      async run({ query }: { query: string }, call) {
        const { body } = await ask('search.messages', { query, count: maxMatches }, call, { as: 'user' });
        const found = fieldsOf(requiredFields(body, title).messages);
        const matches = listOf(found.matches, title);
        return { total: numberOf(found.total) ?? matches.length, messages: matches.map(shownMatch) };
      },
    },
  ],
});

function shownMessage({ ts, user, username, bot_id: bot, text, thread_ts: thread, reply_count: count, files }: Fields) {
  const names = Array.isArray(files) ? files.map((file) => textOf(fieldsOf(file).name)).filter((name) => name !== undefined) : [];
  const [threadTs, replies] = [textOf(thread), numberOf(count)];
  return {
    ts: textOf(ts) ?? null,
    at: instantOf(Number(ts) * 1_000),
    user: textOf(user) ?? textOf(username) ?? textOf(bot) ?? null,
    text: textOf(text) ?? '',
    ...(threadTs !== undefined && { thread_ts: threadTs }),
    ...(replies !== undefined && { replies }),
    ...(names.length > 0 && { files: names }),
  };
}

function shownMatch(match: Fields) {
  const { id, name } = fieldsOf(match.channel);
  const { user, ...message } = shownMessage(match);
  return {
    ...{ channel: textOf(id) ?? null, channel_name: textOf(name) ?? null },
    ...{ ...message, user: textOf(match.username) || user, permalink: textOf(match.permalink) ?? null },
  };
}

type Arguments = Readonly<Record<string, string | number | boolean | undefined>>;

/** As Slack's own clients do: each method is a POST of a form, also those that read, and has a limit of its own. */
function ask(method: string, args: Arguments, call: ServiceCall, more: Pick<ServiceRequest, 'repeatable' | 'as'> = {}) {
  const given = Object.entries(args).filter(([, value]) => value !== undefined);
  const form = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
  return call.request({ method: 'POST', path: `/${method}`, form, limit: method, repeatable: true, ...more });
}

/** The reading methods accept only ids. A connection that may not list channels gets Slack's answer about the name. */
async function channelId(named: string, call: ServiceCall): Promise<string> {
  if (/^[CGD][A-Z0-9]+$/.test(named)) return named;
  const name = withoutHash(named);
  const list = (cursor: string | undefined) => ask('conversations.list', { exclude_archived: true, limit: 1_000, cursor }, call);
  try {
    // The page with the channel is the last one read.
    const { items } = await pagesUpTo(1, async (cursor) => {
      const { body } = await list(cursor);
      const channels = listOf(requiredFields(body, title).channels, title);
      return { items: channels.filter((one) => one.name === name).map(({ id }) => textOf(id)), next: nextCursor(body) };
    });
    if (items[0] !== undefined) return items[0];
  } catch (error) {
    if (error instanceof ServiceFailed && cannotList(error.failure)) return name;
    throw error;
  }
  throw new ServiceFailed({ type: 'not_found', message: `There is no channel "${named}" that this connection can see` });
}

function cannotList(failure: ServiceFailure): boolean {
  return failure.type === 'forbidden' ? failure.scope !== null : failure.type === 'not_found' || failure.type === 'invalid';
}

function nextCursor(body: unknown): string | undefined {
  return textOf(fieldsOf(fieldsOf(body).response_metadata).next_cursor) || undefined;
}

function withoutHash(name: string): string {
  return name.trim().replace(/^#/, '');
}
