import assert from 'node:assert/strict';
import { notion } from '../../../src/domains/integrations/services/notion.ts';
import { NotionServer } from './notion-server.ts';
import { defineRow, goodToken, mark } from './service-row.ts';

const refused = (status: number, code: string, message: string, headers: Record<string, string> = {}) => ({
  status,
  json: { object: 'error', status, code, message },
  headers,
});
const pageOf = ({ pages }: NotionServer, at: number) => [...pages.values()].at(at)!.page;

export const notionRow = defineRow<NotionServer>({
  service: notion,
  hasScopes: false,
  async start(t) {
    const standIn = await NotionServer.start(t);
    standIn.tokens.set(goodToken, []);
    standIn.addPage('Plan', '# One');
    return standIn;
  },
  truePlan: {
    variables: { token: 'NOTION_TEST_TOKEN', parent: 'NOTION_TEST_PAGE' },
    ofStandIn: (standIn) => ({ token: goodToken, parent: pageOf(standIn, 0).id }),
    calls: {
      create_page: ({ parent }) => ({ parent_id: parent, title: mark, content: '- one' }),
      update_page: (_given, { create_page: page }) => ({ page_id: page.id, content: '- two' }),
      read_page: (_given, { create_page: page }) => ({ page_id: page.id }),
      search_pages: () => ({ query: '' }),
    },
    unknown: { tool: 'read_page', args: () => ({ page_id: '00000000-0000-0000-0000-000000000000' }) },
  },
  tools: {
    search_pages: {
      args: () => ({ query: 'plan' }),
      path: /\/search$/,
      result: (standIn) => ({
        pages: [{ id: pageOf(standIn, 0).id, title: 'Plan', url: pageOf(standIn, 0).url, last_edited_at: '2026-11-01T10:00:00.000Z' }],
        has_more: false,
      }),
    },
    read_page: {
      args: (standIn) => ({ page_id: pageOf(standIn, 0).id }),
      path: /\/pages\/[\w-]+$/,
      result: (standIn) => ({
        ...{ id: pageOf(standIn, 0).id, title: 'Plan', url: pageOf(standIn, 0).url, last_edited_at: '2026-11-01T10:00:00.000Z' },
        ...{ content: '# One', truncated: false },
      }),
    },
    create_page: {
      args: (standIn) => ({ parent_id: pageOf(standIn, 0).id, title: 'Below', content: '- two' }),
      path: /\/v1\/pages$/,
      result: (standIn) => ({ id: pageOf(standIn, -1).id, url: pageOf(standIn, -1).url }),
      effect: (standIn) => assert.deepEqual(pageOf(standIn, -1).parent, { type: 'page_id', page_id: pageOf(standIn, 0).id }),
    },
    update_page: {
      args: (standIn) => ({ page_id: pageOf(standIn, -1).id, content: 'new' }),
      path: /\/markdown$/,
      result: (standIn) => ({ id: pageOf(standIn, -1).id, updated: true }),
      effect: (standIn) => assert.equal([...standIn.pages.values()].at(-1)!.markdown, 'new'),
    },
  },
  refusals: {
    notFound: {
      answer: refused(404, 'object_not_found', 'Could not find page with ID: 1. Make sure it is shared'),
      failure: { type: 'not_found', message: 'Could not find page' },
    },
    forbidden: {
      answer: refused(403, 'restricted_resource', 'Insufficient permissions for this endpoint.'),
      failure: { type: 'forbidden', scope: null },
    },
    invalid: {
      answer: refused(400, 'validation_error', 'body failed validation: body.parent.page_id should be a valid uuid.'),
      failure: { type: 'invalid', field: 'parent.page_id', message: 'valid uuid' },
    },
    unavailable: { answer: refused(529, 'service_overload', 'Notion is overloaded.'), failure: { type: 'unavailable' } },
  },
  limited: {
    plain: refused(429, 'rate_limited', 'You have been rate limited.'),
    withRetryAfter: (value) => refused(429, 'rate_limited', 'You have been rate limited.', { 'retry-after': value }),
  },
});
