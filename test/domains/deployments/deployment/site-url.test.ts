import assert from 'node:assert/strict';
import { test } from 'node:test';
import { siteUrl } from '../../../../src/domains/deployments/deployment/site-url.ts';

test('a bare host gets the scheme of the API, an address with a scheme is used as it is, and the configured address replaces both', () => {
  assert.equal(siteUrl(null, 'my-site.vercel.app', 'https://api.vercel.com'), 'https://my-site.vercel.app');
  assert.equal(siteUrl(null, 'my-site.local:8080', 'http://127.0.0.1:9000'), 'http://my-site.local:8080');
  assert.equal(siteUrl(null, 'http://site.netlify.app', 'https://api.netlify.com/api/v1'), 'http://site.netlify.app');
  assert.equal(siteUrl('https://www.example.com', 'my-site.vercel.app', 'https://api.vercel.com'), 'https://www.example.com');
});
