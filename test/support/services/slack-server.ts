/** Speaks like Slack's Web API: refusals are 200 `{ok: false}`. Shapes from @slack/web-api 8.2.0 and docs.slack.dev/reference/methods, seen 2026-11-23. */
import type { Json } from '../json.ts';
import { type ServiceRequest, ServiceStandIn, type StandInAnswer } from './service-stand-in.ts';

const scopeOf: Readonly<Record<string, string>> = {
  'chat.postMessage': 'chat:write',
  'conversations.history': 'channels:history',
  'conversations.create': 'channels:manage',
  'conversations.list': 'channels:read',
  'search.messages': 'search:read',
};

export class SlackServer extends ServiceStandIn {
  readonly channels = [
    { id: 'C024BE91L', name: 'general' },
    { id: 'C0G9QF9GZ', name: 'random' },
  ];
  /** By channel, oldest first. */
  readonly messages: { channel: string; ts: string; user: string; text: string; thread_ts?: string }[] = [];
  /** Most messages of one page: 15 for apps that are not in the marketplace. */
  pageSize = 999;
  private made = 0;

  override get apiUrl(): string {
    return `${this.url}/api`;
  }

  addMessage(channel: string, user: string, text: string): string {
    const ts = this.newTs();
    this.messages.push({ channel, ts, user, text });
    return ts;
  }

  protected answer({ path, query, body, headers, scopes }: ServiceRequest): StandInAnswer {
    const method = /^\/api\/([\w.]+)$/.exec(path)?.[1] ?? '';
    const args: Json = { ...Object.fromEntries(query), ...body };
    if (headers.authorization === undefined) return refused('not_authed');
    if (scopes === null) return refused('invalid_auth');
    const needed = scopeOf[method];
    if (needed !== undefined && !scopes.includes(needed)) return refused('missing_scope', { needed, provided: scopes.join(',') });
    if (method === 'auth.test')
      return ok({ url: 'https://example.slack.com/', team: 'Example', user: 'troupe', team_id: 'T0001', user_id: 'U0001' });
    if (method === 'auth.revoke') return ok({ revoked: true });
    if (method === 'chat.postMessage') return this.post(args);
    if (method === 'conversations.history') return this.history(args);
    if (method === 'conversations.create') return this.create(args);
    if (method === 'conversations.list') return ok({ channels: this.channels, response_metadata: { next_cursor: '' } });
    return method === 'search.messages' ? this.search(args) : refused('unknown_method');
  }

  private post({ channel: named, text, thread_ts }: Json): StandInAnswer {
    const channel = this.channels.find(({ id, name }) => id === named || `#${name}` === named || name === named);
    if (channel === undefined) return refused('channel_not_found');
    if (typeof text !== 'string' || text === '') return refused('no_text');
    const ts = this.newTs();
    const message = { channel: channel.id, ts, user: 'U0001', text, ...(thread_ts !== undefined && { thread_ts }) };
    this.messages.push(message);
    return ok({ channel: channel.id, ts, message: { type: 'message', ...message } });
  }

  private history({ channel, limit = 100, cursor = '' }: Json): StandInAnswer {
    if (!this.channels.some(({ id }) => id === channel)) return refused('channel_not_found');
    const all = this.messages.filter((message) => message.channel === channel).reverse();
    const from = cursor === '' ? 0 : Number(Buffer.from(cursor, 'base64url').toString());
    const to = from + Math.min(Number(limit), this.pageSize);
    const messages = all.slice(from, to).map(({ channel: _, ...message }) => ({ type: 'message', ...message }));
    const next = to < all.length ? Buffer.from(String(to)).toString('base64url') : '';
    return ok({ messages, has_more: next !== '', pin_count: 0, response_metadata: { next_cursor: next } });
  }

  private create({ name }: Json): StandInAnswer {
    if (!/^[a-z0-9_-]{1,80}$/.test(name)) return refused('invalid_name_specials');
    if (this.channels.some((channel) => channel.name === name)) return refused('name_taken');
    const channel = { id: `C0${this.channels.length}NEW`, name };
    this.channels.push(channel);
    return ok({
      channel: { ...channel, is_channel: true, is_private: false, is_archived: false, created: 1_700_000_000, creator: 'U0001' },
    });
  }

  private search({ query, count = 20 }: Json): StandInAnswer {
    if (!query) return refused('no_query');
    const found = this.messages.filter(({ text }) => text.includes(query));
    const matches = found.slice(0, Number(count)).map(({ channel, ts, user, text }) => ({
      type: 'message',
      channel: { id: channel, name: this.channels.find(({ id }) => id === channel)!.name },
      ts,
      user,
      username: user.toLowerCase(),
      text,
      permalink: `https://example.slack.com/archives/${channel}/p${ts.replace('.', '')}`,
    }));
    return ok({
      query,
      messages: { total: found.length, matches, paging: { count: Number(count), total: found.length, page: 1, pages: 1 } },
    });
  }

  private newTs(): string {
    this.made += 1;
    return `${1_790_000_000 + this.made}.000100`;
  }
}

function ok(json: object): StandInAnswer {
  return { status: 200, json: { ok: true, ...json } };
}

function refused(error: string, more: object = {}): StandInAnswer {
  return { status: 200, json: { ok: false, error, ...more } };
}
