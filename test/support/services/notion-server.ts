/**
 * Speaks like Notion's API, version 2026-03-11: search, pages and their Markdown. Shapes are those of `@notionhq/client` 5.26.0, seen 2026-11-23; answers are
 * typed by them, in the fields that are served. Content is kept as it was sent.
 */
import { randomUUID } from 'node:crypto';
import type { Client, PageObjectResponse, SearchResponse } from '@notionhq/client';
import type { Json } from '../json.ts';
import { goodToken } from './service-row.ts';
import { type ServiceRequest, ServiceStandIn, type StandInAnswer } from './service-stand-in.ts';

type Page = Pick<PageObjectResponse, 'object' | 'id' | 'url' | 'last_edited_time' | 'created_time' | 'in_trash'> & {
  parent: { type: 'page_id'; page_id: string } | { type: 'workspace'; workspace: true };
  properties: Json;
};
type Markdown = Awaited<ReturnType<Client['pages']['retrieveMarkdown']>>;
type NewMarkdown = Omit<Parameters<Client['pages']['updateMarkdown']>[0], 'page_id'>;
type Stored = { page: Page; markdown: string; children: string[] };

const version = '2026-03-11';

export class NotionServer extends ServiceStandIn {
  readonly pages = new Map<string, Stored>();

  addPage(title: string, markdown: string, parent: string | null = null): Page {
    const id = randomUUID();
    const page: Page = {
      object: 'page',
      id,
      url: `https://www.notion.so/${title.replace(/\W+/g, '-')}-${id.replaceAll('-', '')}`,
      created_time: '2026-11-01T10:00:00.000Z',
      last_edited_time: '2026-11-01T10:00:00.000Z',
      in_trash: false,
      parent: parent === null ? { type: 'workspace', workspace: true } : { type: 'page_id', page_id: parent },
      properties: {
        Name: { id: 'title', type: 'title', title: [{ type: 'text', text: { content: title, link: null }, plain_text: title }] },
      },
    };
    this.pages.set(id, { page, markdown, children: [] });
    if (parent !== null) this.pages.get(parent)?.children.push(id);
    return page;
  }

  protected answer({ method, path, headers, body, scopes }: ServiceRequest): StandInAnswer {
    if (method === 'POST' && path.startsWith('/v1/oauth/')) return this.answerOAuth(path, headers.authorization, body);
    if (scopes === null) return failure(401, 'unauthorized', 'API token is invalid.');
    if (headers['notion-version'] !== version) return failure(400, 'missing_version', `Notion-Version header should be ${version}.`);
    if (method === 'GET' && path === '/v1/users/me') return ok({ object: 'user', id: randomUUID(), type: 'bot', bot: {}, name: 'Troupe' });
    if (method === 'POST' && path === '/v1/search') return this.search(body);
    if (method === 'POST' && path === '/v1/pages') return this.create(body);
    const [, id = '', part = ''] = /^\/v1\/pages\/([^/]+)(\/markdown)?$/.exec(path) ?? [];
    const stored = this.pages.get(dashed(id));
    if (stored === undefined) return notFoundPage(id);
    if (method === 'GET' && part === '') return ok(stored.page);
    if (method === 'GET') return ok(markdownOf(stored));
    return method === 'PATCH' && part !== '' ? this.rewrite(stored, body) : failure(400, 'invalid_request_url', 'Invalid request URL.');
  }

  private answerOAuth(path: string, authorization: string | undefined, body: Json): StandInAnswer {
    if (!authorization?.startsWith('Basic ')) return { status: 401, json: { error: 'invalid_client' } };
    if (path === '/v1/oauth/revoke') {
      this.tokens.delete(body.token);
      return ok({ request_id: randomUUID() });
    }
    if (body.code !== 'good-code') return { status: 400, json: { error: 'invalid_grant' } };
    return ok({ access_token: goodToken, token_type: 'bearer', refresh_token: null, bot_id: randomUUID() });
  }

  private search({ query = '', filter, page_size: size = 100 }: Json): StandInAnswer {
    if (filter !== undefined && (filter.property !== 'object' || !['page', 'data_source'].includes(filter.value)))
      return failure(400, 'validation_error', 'body failed validation: body.filter.value should be `"page"` or `"data_source"`.');
    const found = [...this.pages.values()]
      .map(({ page }) => page)
      .filter((page) => titleOf(page).toLowerCase().includes(query.toLowerCase()));
    return ok({
      object: 'list',
      type: 'page_or_data_source',
      page_or_data_source: {},
      results: found.slice(0, size) as unknown as SearchResponse['results'],
      has_more: found.length > size,
      next_cursor: found.length > size ? found[size]!.id : null,
    } satisfies SearchResponse);
  }

  private create({ parent, properties, markdown, children }: Json): StandInAnswer {
    const above = this.pages.get(dashed(parent?.page_id ?? ''));
    if (typeof parent?.page_id !== 'string')
      return failure(400, 'validation_error', 'body failed validation: body.parent.page_id should be defined.');
    if (above === undefined) return notFoundPage(parent.page_id);
    if (markdown !== undefined && children !== undefined)
      return failure(400, 'validation_error', 'body failed validation: body.markdown and children.');
    const title = (properties?.title?.title ?? []).map((part: Json) => part.text.content).join('');
    if (title.length > 2_000)
      return failure(
        400,
        'validation_error',
        'body failed validation: body.properties.title.title[0].text.content.length should be ≤ `2000`.',
      );
    return ok(this.addPage(title, markdown ?? '', above.page.id));
  }

  private rewrite(stored: Stored, json: NewMarkdown & Json): StandInAnswer {
    if (json?.type !== 'replace_content')
      return failure(400, 'validation_error', 'body failed validation: body.type is served here as replace_content only.');
    const { new_str: markdown, allow_deleting_content: mayDelete = false } = json.replace_content ?? {};
    if (typeof markdown !== 'string')
      return failure(400, 'validation_error', 'body failed validation: body.replace_content.new_str should be a string.');
    if (stored.children.length > 0 && !mayDelete)
      return failure(400, 'validation_error', 'This operation would delete child pages. Set allow_deleting_content to true to go on.');
    stored.markdown = markdown;
    return ok(markdownOf(stored));
  }
}

function markdownOf({ page, markdown }: Stored): Markdown {
  return { object: 'page_markdown', id: page.id, markdown, truncated: false, unknown_block_ids: [] };
}

function titleOf({ properties }: Page): string {
  return properties.Name.title[0].plain_text;
}

function dashed(id: string): string {
  return id.replaceAll('-', '').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function ok(json: unknown): StandInAnswer {
  return { status: 200, json };
}

function failure(status: number, code: string, message: string): StandInAnswer {
  return { status, json: { object: 'error', status, code, message, request_id: randomUUID() } };
}

function notFoundPage(id: string): StandInAnswer {
  return failure(404, 'object_not_found', `Could not find page with ID: ${id}. Make sure it is shared with the connection "Troupe".`);
}
