import assert from 'node:assert/strict';
import { github } from '../../../src/domains/integrations/services/github.ts';
import { GithubServer } from './github-server.ts';
import { defineRow, goodToken, mark, tokenWithoutScopes } from './service-row.ts';

const repository = 'octo/hello';
const helloOf = (standIn: GithubServer) => standIn.repositories.get(repository)!;
const refused = (status: number, message: string, more: object = {}, headers: Record<string, string> = {}) => ({
  status,
  json: { message, documentation_url: 'https://docs.github.com/rest', ...more },
  headers,
});

export const githubRow = defineRow<GithubServer>({
  service: github,
  hasScopes: true,
  async start(t) {
    const standIn = await GithubServer.start(t);
    standIn.tokens.set(goodToken, ['repo']).set(tokenWithoutScopes, ['read:user']);
    const hello = standIn.addRepository(repository);
    standIn.commit(hello, 'work', 'Work', { 'work.txt': 'w' });
    standIn.addIssue(hello, 'It breaks', 'Always', ['Here too']);
    return standIn;
  },
  truePlan: {
    variables: { token: 'GITHUB_TEST_TOKEN', repository: 'GITHUB_TEST_REPOSITORY' },
    ofStandIn: () => ({ token: goodToken, repository }),
    calls: {
      create_issue: ({ repository: name }) => ({ repository: name, title: mark, body: 'Opened by a test.' }),
      read_issue: ({ repository: name }, { create_issue: issue }) => ({ repository: name, number: issue.number }),
      read_repository: ({ repository: name }) => ({ repository: name }),
      commit_files: ({ repository: name }) => ({
        ...{ repository: name, branch: mark.toLowerCase().replaceAll(' ', '-'), message: mark },
        files: [{ path: 'troupe-conformance/file.txt', content: mark }],
      }),
    },
    unknown: { tool: 'read_issue', args: ({ repository: name }) => ({ repository: name, number: 999_999_999 }) },
  },
  tools: {
    create_issue: {
      args: () => ({ repository, title: 'New', body: '**Bold**' }),
      path: /\/issues$/,
      result: (standIn) => ({ number: helloOf(standIn).issues.at(-1)!.number, url: helloOf(standIn).issues.at(-1)!.html_url }),
      effect: (standIn) => assert.equal(helloOf(standIn).issues.at(-1)!.body, '**Bold**'),
    },
    read_issue: {
      args: () => ({ repository, number: 1 }),
      path: /\/issues\/1$/,
      result: () => ({
        ...{
          number: 1,
          title: 'It breaks',
          state: 'open',
          is_pull_request: false,
          author: 'octocat',
          labels: ['bug'],
          assignees: [],
          body: 'Always',
        },
        ...{ url: 'https://github.com/octo/hello/issues/1', created_at: '2026-11-01T10:00:00Z', updated_at: '2026-11-01T10:00:00Z' },
        ...{ comments: [{ author: 'octocat', at: '2026-11-01T10:00:00Z', body: 'Here too' }], more_comments: 0 },
      }),
    },
    open_pull_request: {
      args: () => ({ repository, title: 'Work', head: 'work', base: 'main' }),
      path: /\/pulls$/,
      result: (standIn) => ({ number: helloOf(standIn).pulls[0]!.number, url: helloOf(standIn).pulls[0]!.html_url }),
    },
    commit_files: {
      args: () => ({ repository, branch: 'main', message: 'Add', files: [{ path: 'a/b.txt', content: 'b' }] }),
      path: /\/git\/blobs$/,
      result: (standIn) => {
        const sha = helloOf(standIn).branches.get('main')!;
        const url = `https://github.com/octo/hello/commit/${sha}`;
        return { committed: true, commit_sha: sha, branch: 'main', branch_created: false, url };
      },
      effect: (standIn) => assert.equal(standIn.filesOf(helloOf(standIn), 'main')['a/b.txt'], 'b'),
    },
    read_repository: {
      args: () => ({ repository }),
      path: /\/repos\/octo\/hello$/,
      result: () => ({
        ...{ repository, description: 'For tests', default_branch: 'main', private: true, url: 'https://github.com/octo/hello' },
        entries: [
          { name: 'README.md', path: 'README.md', type: 'file', size: 8 },
          { name: 'a', path: 'a', type: 'dir', size: 0 },
        ],
      }),
    },
  },
  refusals: {
    notFound: { answer: refused(404, 'Not Found'), failure: { type: 'not_found', message: 'Not Found' } },
    forbidden: {
      answer: refused(403, 'Resource not accessible', {}, { 'x-oauth-scopes': 'gist', 'x-accepted-oauth-scopes': 'public_repo, repo' }),
      failure: { type: 'forbidden', scope: 'repo', message: 'not accessible' },
    },
    invalid: {
      answer: refused(422, 'Validation Failed', { errors: [{ resource: 'Issue', field: 'title', code: 'missing_field' }] }),
      failure: { type: 'invalid', field: 'title', message: 'Validation Failed; title: missing_field' },
    },
    unavailable: { answer: refused(502, 'Server Error'), failure: { type: 'unavailable' } },
  },
  limited: {
    plain: refused(403, 'API rate limit exceeded', {}, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1900000000' }),
    withRetryAfter: (value) => refused(403, 'You have exceeded a secondary rate limit.', {}, { 'retry-after': value }),
  },
});
