import assert from 'node:assert/strict';
import { test } from 'node:test';
import { siteChecks } from '../../../../src/domains/deployments/deployment/check-site.ts';
import { defaultApiUrls, type HostChoice } from '../../../../src/domains/deployments/hosts/catalogue.ts';
import { findHost } from '../../../../src/domains/deployments/hosts/find-host.ts';

test('each target has its base address and the credentials that it needs', () => {
  assert.deepEqual(defaultApiUrls, {
    vercel: 'https://api.vercel.com',
    netlify: 'https://api.netlify.com/api/v1',
    cloudflare: 'https://api.cloudflare.com/client/v4',
    expo: 'https://api.expo.dev',
  });
  for (const target of ['vercel', 'netlify', 'expo'] as const)
    assert.deepEqual(findHost({ target, projectGiven: false }).credentials, ['token'], target);
  for (const projectGiven of [true, false])
    assert.deepEqual(findHost({ target: 'cloudflare', projectGiven }).credentials, ['token', 'account_id']);
});

const mib = 2 ** 20;
const limits: [HostChoice, number, number][] = [
  [{ target: 'vercel', projectGiven: false }, 15_000, 100_000_000],
  [{ target: 'cloudflare', projectGiven: false }, 20_000, 25 * mib],
  [{ target: 'cloudflare', projectGiven: true }, 20_000, 25 * mib],
];
for (const [choice, files, fileBytes] of limits) {
  const host = findHost(choice);
  test(`${host.title}: a site of ${files} files of ${fileBytes} bytes is accepted, one more of either is refused`, () => {
    const checks = siteChecks(host);
    checks.count(files);
    assert.throws(() => checks.count(files + 1), { code: 'too_many_files' });
    checks.file({ path: 'a.html', sizeBytes: fileBytes });
    assert.throws(() => checks.file({ path: 'a.html', sizeBytes: fileBytes + 1 }), { code: 'file_too_large' });
  });
}

test('Netlify serves no file whose name has # or ?', () => {
  const checks = siteChecks(findHost({ target: 'netlify', projectGiven: false }));
  for (const path of ['a#b.html', 'a?b.html']) assert.throws(() => checks.file({ path, sizeBytes: 1 }), { code: 'bad_name' });
});
