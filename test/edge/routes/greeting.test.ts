import assert from 'node:assert/strict';
import { test } from 'node:test';
import { greetingRoutes } from '../../../src/edge/routes/greeting.ts';
import { startEdge } from '../../support/http-edge.ts';

test('the root address answers a browser with a page and a program with JSON', async (t) => {
  const edge = await startEdge(greetingRoutes({ version: '1.2.3', publicUrl: 'https://troupe.example' }));
  t.after(() => edge.server.close(1_000));
  const get = (accept: string, path = '/') => fetch(`${edge.url}${path}`, { headers: { accept } });
  for (const accept of ['*/*', 'application/json', 'application/json, text/html']) {
    const response = await get(accept);
    assert.match(response.headers.get('content-type')!, /^application\/json/);
    const greeting: any = await response.json();
    assert.deepEqual([greeting.name, greeting.version, greeting.docs], ['troupe', '1.2.3', 'https://troupe.example/docs']);
  }
  for (const path of ['/', '/v1/']) {
    const response = await get('text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', path);
    assert.match(response.headers.get('content-type')!, /^text\/html/);
    assert.match(response.headers.get('content-security-policy')!, /default-src 'none'/);
    const page = await response.text();
    for (const wanted of ['href="/docs"', 'Version 1.2.3']) assert.ok(page.includes(wanted), wanted);
  }
});
