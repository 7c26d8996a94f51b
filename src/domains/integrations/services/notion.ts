/** Notion: pages are found, read, created and rewritten, as Markdown. */
import Type from 'typebox';
import { pathSegment } from './path-segment.ts';
import { type Fields, fieldsOf, listOf, requiredFields, textOf } from './read-answer.ts';
import { defineService, type ServiceAnswer, type ServiceCall } from './service.ts';
import type { ServiceFailure } from './service-failure.ts';

const title = 'Notion';
const maxFound = 50;
/** Notion takes at most 500 KB a request. */
const maxContentCharacters = 100_000;
const maxTitleCharacters = 2_000;

const pageId = (description: string) => Type.String({ minLength: 1, maxLength: 500, description });
const content = Type.String({ maxLength: maxContentCharacters, description: 'Markdown' });

export const notion = defineService({
  name: 'notion',
  title,
  shapeSeen: '2026-11-23',
  shapeSource: '@notionhq/client 5.26.0 and developers.notion.com/reference, version 2026-03-11',
  apiUrl: 'https://api.notion.com',
  headers: { 'notion-version': '2026-03-11' },
  oauth: {
    authorizeUrl: 'https://api.notion.com/v1/oauth/authorize',
    tokenUrl: 'https://api.notion.com/v1/oauth/token',
    revoke: { url: 'https://api.notion.com/v1/oauth/revoke' },
    authorizeParameters: { owner: 'user' },
    clientAuthentication: 'basic',
    scopeSeparator: ' ',
    scopeParameter: 'scope',
  },
  takesApiKey: false,
  identity: { method: 'GET', path: '/v1/users/me' },
  failureIn: notionFailure,
  tools: [
    {
      name: 'search_pages',
      description: `Finds pages of the connected Notion workspace by words of their titles, the last edited first; at most ${maxFound}. Returns {pages: [{id, title, url, last_edited_at}], has_more}.`,
      parameters: Type.Object({ query: Type.String({ maxLength: 500, description: 'Words of the title; empty: all pages' }) }),
      scopes: [],
      writes: false,
      highConsequence: false,
      untrusted: true,
      repeatable: true,
      async run({ query }: { query: string }, call) {
        const json = {
          query,
          filter: { property: 'object', value: 'page' },
          sort: { timestamp: 'last_edited_time', direction: 'descending' },
          page_size: maxFound,
        };
        const { body } = await call.request({ method: 'POST', path: '/v1/search', json, repeatable: true });
        const found = requiredFields(body, title);
        return { pages: listOf(found.results, title).map(pageForModel), has_more: found.has_more === true };
      },
    },
    {
      name: 'read_page',
      description:
        'Reads a page of the connected Notion workspace as Markdown. Returns {id, title, url, last_edited_at, content, truncated}; truncated is true where Notion left out a part.',
      parameters: Type.Object({ page_id: pageId('The id of the page, or its address') }),
      scopes: [],
      writes: false,
      highConsequence: false,
      untrusted: true,
      repeatable: true,
      async run({ page_id: pageId }: { page_id: string }, call) {
        const path = pagePath(pageId);
        const page = requiredFields((await call.request({ method: 'GET', path })).body, title);
        const { markdown, truncated } = requiredFields((await call.request({ method: 'GET', path: `${path}/markdown` })).body, title);
        return { ...pageForModel(page), content: textOf(markdown) ?? '', truncated: truncated === true };
      },
    },
    {
      name: 'create_page',
      description:
        'Creates a page below another page of the connected Notion workspace. Those who share the parent see it. The user may have to approve it first. Returns {id, url}.',
      parameters: Type.Object({
        parent_id: pageId('The id of the page above it, or its address'),
        title: Type.String({ minLength: 1, maxLength: maxTitleCharacters }),
        content,
      }),
      scopes: [],
      writes: true,
      highConsequence: true,
      untrusted: false,
      repeatable: false,
      async run({ parent_id: parent, title: named, content: markdown }: { parent_id: string; title: string; content: string }, call) {
        const json = {
          parent: { type: 'page_id', page_id: idIn(parent) },
          properties: { title: { title: [{ type: 'text', text: { content: named } }] } },
          // Notion refuses an empty text here.
          ...(markdown !== '' && { markdown }),
        };
        const { id, url } = fieldsOf((await call.request({ method: 'POST', path: '/v1/pages', json })).body);
        return { id: textOf(id) ?? null, url: textOf(url) ?? null };
      },
    },
    {
      name: 'update_page',
      description:
        'Replaces the whole content of a page of the connected Notion workspace; its title stays. Read the page first and send everything that shall remain. The user may have to approve it first. Returns {id, updated}.',
      parameters: Type.Object({ page_id: pageId('The id of the page, or its address'), content }),
      scopes: [],
      writes: true,
      highConsequence: true,
      untrusted: false,
      repeatable: true,
      async preview({ page_id: pageId, content: markdown }: Update, call) {
        const path = pagePath(pageId);
        const page = pageForModel(requiredFields((await call.request({ method: 'GET', path })).body, title));
        const present = requiredFields((await call.request({ method: 'GET', path: `${path}/markdown` })).body, title);
        return `${describeLostContent(page, textOf(present.markdown) ?? '', pageId)}\nThe new content:\n${markdown}`;
      },
      run: replaceContent,
    },
  ],
});

const maxLostChars = 500;

/** The present content is lost: a person must see that before approving. */
function describeLostContent(page: ReturnType<typeof pageForModel>, present: string, pageId: string): string {
  const what = `Replace the whole content of the page "${page.title}" (${page.url ?? pageId}).`;
  if (present === '') return `${what} It is empty now.`;
  const begins = present.length > maxLostChars ? `${present.slice(0, maxLostChars)}…` : present;
  return `${what} Everything that is on it now is removed, ${present.length} characters:\n${begins}`;
}

type Update = { page_id: string; content: string };
/** Notion refuses it if a page below this one would be deleted by it. */
async function replaceContent({ page_id: pageId, content: markdown }: Update, call: ServiceCall) {
  const json = { type: 'replace_content', replace_content: { new_str: markdown } };
  const { body } = await call.request({ method: 'PATCH', path: `${pagePath(pageId)}/markdown`, json, repeatable: true });
  return { id: textOf(fieldsOf(body).id) ?? idIn(pageId), updated: true };
}

function pagePath(pageId: string): string {
  return `/v1/pages/${pathSegment(idIn(pageId), 'page_id')}`;
}

/** The id in a page's address: the last 32 hexadecimal digits of its path. */
function idIn(pageId: string): string {
  if (!/^https?:\/\//.test(pageId)) return pageId;
  const [path = ''] = pageId.split(/[?#]/);
  return /([0-9a-f]{32})\/?$/i.exec(path.replaceAll('-', ''))?.[1] ?? pageId;
}

function pageForModel({ id, url, last_edited_time: editedAt, properties }: Fields) {
  const all = Object.values(fieldsOf(properties)).map(fieldsOf);
  const property = all.find((one) => one.type === 'title' || Array.isArray(one.title));
  const parts = Array.isArray(property?.title) ? property.title.map(fieldsOf) : [];
  const title = parts.map(({ plain_text: plain, text }) => textOf(plain) ?? textOf(fieldsOf(text).content) ?? '').join('');
  return { id: textOf(id) ?? null, title, url: textOf(url) ?? null, last_edited_at: textOf(editedAt) ?? null };
}

function notionFailure({ status, body }: ServiceAnswer): ServiceFailure | undefined {
  const message = typeof body?.message === 'string' ? (body.message as string) : `Notion answered ${status}`;
  if (status === 404) return { type: 'not_found', message };
  if (status === 403) return { type: 'forbidden', message, scope: null };
  if (status === 400) return { type: 'invalid', message, field: /body\.([\w.[\]]+)/.exec(message)?.[1] ?? null };
  // Two edits of a page at once, or an overload that Notion has a status of its own for.
  if (status === 409 || status === 529) return { type: 'unavailable', message };
  return undefined;
}
