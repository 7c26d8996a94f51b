/** GitHub: issues, pull requests, files and commits of repositories. */
import Type from 'typebox';
import { commentForModel, entryForModel, fileForModel, githubFailure, issueForModel } from './github-answers.ts';
import { commitFiles, type FileChange } from './github-commit.ts';
import { pathSegments } from './path-segment.ts';
import { type Fields, fieldsOf, listOf, numberOf, requiredFields, textOf } from './read-answer.ts';
import { defineService, type OAuthClient, type ServiceCall } from './service.ts';
import { ServiceFailed } from './service-failure.ts';

const githubTitle = 'GitHub';
const maxComments = 100;

const repository = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,99}/[A-Za-z0-9._-]{1,100}$',
  description: 'The repository as owner/name',
});
const branchName = (description: string) => Type.String({ minLength: 1, maxLength: 255, description });

export const github = defineService({
  name: 'github',
  title: githubTitle,
  shapeSeen: '2026-11-23',
  shapeSource: '@octokit/openapi-types 29.0.1 and docs.github.com/en/rest, version 2026-03-10',
  apiUrl: 'https://api.github.com',
  headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2026-03-10', 'user-agent': 'troupe' },
  oauth: {
    authorizeUrl: 'https://github.com/login/oauth/authorize',
    tokenUrl: 'https://github.com/login/oauth/access_token',
    revoke: {
      request: ({ access }: { access: string }, { id, secret }: OAuthClient) => ({
        method: 'DELETE',
        path: `/applications/${encodeURIComponent(id)}/grant`,
        headers: {
          authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
          'content-type': 'application/json',
          accept: 'application/vnd.github+json',
          'user-agent': 'troupe',
        },
        body: JSON.stringify({ access_token: access }),
      }),
    },
    authorizeParameters: {},
    clientAuthentication: 'body',
    scopeSeparator: ' ',
    scopeParameter: 'scope',
    errorIn: githubOAuthError,
  },
  takesApiKey: false,
  identity: { method: 'GET', path: '/user' },
  failureIn: githubFailure,
  tools: [
    {
      name: 'create_issue',
      description:
        'Opens an issue in a GitHub repository. Everyone who follows the repository sees it: open it once, and only when the task asks for it. The user may have to approve it first. Returns {number, url}.',
      parameters: Type.Object({
        repository,
        title: Type.String({ minLength: 1, maxLength: 256 }),
        body: Type.Optional(Type.String({ maxLength: 65_536, description: 'Markdown' })),
      }),
      scopes: ['repo'],
      writes: true,
      highConsequence: true,
      untrusted: false,
      repeatable: false,
      async run({ repository: name, title, body }: { repository: string; title: string; body?: string }, call) {
        const { body: issue } = await call.request({ method: 'POST', path: `${repoPath(name)}/issues`, json: { title, body } });
        return shownNumber(fieldsOf(issue));
      },
    },
    {
      name: 'read_issue',
      description: `Reads an issue or pull request of a GitHub repository with its first ${maxComments} comments. Returns {number, title, state, is_pull_request, author, labels, assignees, body, url, created_at, updated_at, comments: [{author, at, body}], more_comments}.`,
      parameters: Type.Object({ repository, number: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }) }),
      scopes: ['repo'],
      writes: false,
      highConsequence: false,
      untrusted: true,
      repeatable: true,
      async run({ repository: name, number }: { repository: string; number: number }, call) {
        const path = `${repoPath(name)}/issues/${number}`;
        const issue = requiredFields((await call.request({ method: 'GET', path })).body, githubTitle);
        const count = numberOf(issue.comments) ?? 0;
        const listed =
          count > 0 ? (await call.request({ method: 'GET', path: `${path}/comments`, query: { per_page: maxComments } })).body : [];
        const comments = listOf(listed, githubTitle).map(commentForModel);
        return { ...issueForModel(issue), comments, more_comments: Math.max(0, count - comments.length) };
      },
    },
    {
      name: 'open_pull_request',
      description:
        'Opens a pull request in a GitHub repository, from branch head into branch base. Reviewers are told of it. The user may have to approve it first. Returns {number, url}.',
      parameters: Type.Object({
        repository,
        title: Type.String({ minLength: 1, maxLength: 256 }),
        head: branchName('The branch with the changes; owner:branch for a fork'),
        base: branchName('The branch to merge into, such as main'),
        body: Type.Optional(Type.String({ maxLength: 65_536, description: 'Markdown' })),
      }),
      scopes: ['repo'],
      writes: true,
      highConsequence: true,
      untrusted: false,
      repeatable: true,
      async run({ repository: name, ...pull }: { repository: string } & PullRequest, call) {
        const path = `${repoPath(name)}/pulls`;
        const opened = call.isRepeat ? await openPullRequest(call, path, name, pull) : undefined;
        return shownNumber(opened ?? fieldsOf((await call.request({ method: 'POST', path, json: pull })).body));
      },
    },
    {
      name: 'commit_files',
      description:
        'Commits text files to a branch of a GitHub repository, all in one commit; files that exist are replaced, others stay as they are. A branch that does not exist is created from the default branch. The user may have to approve it first. Returns {committed, commit_sha, branch, branch_created, url}; committed is false where the branch already holds exactly these files.',
      parameters: Type.Object({
        repository,
        branch: branchName('The branch to commit to'),
        message: Type.String({ minLength: 1, maxLength: 65_536, description: 'The commit message' }),
        files: Type.Array(
          Type.Object({
            path: Type.String({ minLength: 1, maxLength: 4_096, description: 'From the root of the repository, such as src/index.ts' }),
            content: Type.String({ description: 'The whole content of the file' }),
          }),
          { minItems: 1, maxItems: 100 },
        ),
      }),
      scopes: ['repo'],
      writes: true,
      highConsequence: true,
      untrusted: false,
      repeatable: true,
      async preview({ repository: name, branch, message, files }: Commit) {
        const listed = files.map(({ path, content }) => `- ${path} (${Buffer.byteLength(content)} bytes)`);
        return [`Commit ${files.length} file(s) to branch ${branch} of ${name}: ${message}`, ...listed].join('\n');
      },
      run: (commit: Commit, call) => commitFiles(call, { ...commit, repository: checkedRepository(commit.repository) }),
    },
    {
      name: 'read_repository',
      description:
        'Reads a GitHub repository. Without path: {repository, description, default_branch, private, url, entries: [{name, path, type, size}]} of its root. With the path of a folder: {path, entries}; of a file: {path, size, sha, url, content}.',
      parameters: Type.Object({
        repository,
        path: Type.Optional(Type.String({ maxLength: 4_096, description: 'A file or folder, such as src/index.ts' })),
        ref: Type.Optional(branchName('A branch, tag or commit; default: the default branch')),
      }),
      scopes: ['repo'],
      writes: false,
      highConsequence: false,
      untrusted: true,
      repeatable: true,
      run: ({ repository: name, path = '', ref }: { repository: string; path?: string; ref?: string }, call) => {
        const trimmed = path.replace(/^\//, '').replace(/\/$/, '');
        return trimmed === '' ? readRoot(call, name, ref) : readPath(call, name, trimmed, ref);
      },
    },
  ],
});

type PullRequest = { title: string; head: string; base: string; body?: string };
type Commit = { repository: string; branch: string; message: string; files: FileChange[] };

/** GitHub refuses codes and refresh tokens inside a 200, under names of its own. */
function githubOAuthError({ error }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof error !== 'string') return undefined;
  if (error === 'bad_verification_code' || error === 'bad_refresh_token') return 'invalid_grant';
  return error === 'incorrect_client_credentials' ? 'invalid_client' : error;
}

function checkedRepository(name: string): string {
  pathSegments(name, 'repository');
  return name;
}

function repoPath(name: string): string {
  return `/repos/${pathSegments(name, 'repository')}`;
}

/** The one that an earlier try of the call has opened. GitHub allows one open pull request between two branches. */
async function openPullRequest(call: ServiceCall, path: string, repositoryName: string, { title, head, base }: PullRequest) {
  const owned = head.includes(':') ? head : `${repositoryName.split('/')[0]}:${head}`;
  const { body } = await call.request({ method: 'GET', path, query: { state: 'open', head: owned, base } });
  return listOf(body, githubTitle).find((pull) => pull.title === title);
}

function shownNumber({ number, html_url: url }: Fields) {
  return { number: numberOf(number) ?? null, url: textOf(url) ?? null };
}

async function readRoot(call: ServiceCall, name: string, ref: string | undefined) {
  const about = requiredFields((await call.request({ method: 'GET', path: repoPath(name) })).body, githubTitle);
  // An empty repository has no root folder.
  const { status, body } = await call.request({ method: 'GET', path: `${repoPath(name)}/contents/`, query: { ref }, accept: [404] });
  if (status === 404 && ref !== undefined)
    throw new ServiceFailed({ type: 'not_found', message: `${name} has no branch, tag or commit ${ref}` });
  return {
    repository: textOf(about.full_name) ?? name,
    description: textOf(about.description) ?? null,
    default_branch: textOf(about.default_branch) ?? null,
    private: typeof about.private === 'boolean' ? about.private : null,
    url: textOf(about.html_url) ?? null,
    entries: status === 404 ? [] : listOf(body, githubTitle).map(entryForModel),
  };
}

async function readPath(call: ServiceCall, name: string, path: string, ref: string | undefined) {
  const { body } = await call.request({ method: 'GET', path: `${repoPath(name)}/contents/${pathSegments(path, 'path')}`, query: { ref } });
  return Array.isArray(body)
    ? { path, entries: listOf(body, githubTitle).map(entryForModel) }
    : fileForModel(requiredFields(body, githubTitle));
}
