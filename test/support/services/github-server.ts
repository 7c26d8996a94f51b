/**
 * Speaks like GitHub's REST API: issues with comments, pull requests, contents, and Git's objects and branches. Shapes are those of `@octokit/rest` 22.0.1
 * (its types are made from GitHub's OpenAPI description 23.0.1), seen 2026-11-23; answers are typed by them, in the fields that are served.
 */
import { createHash } from 'node:crypto';
import type { RestEndpointMethodTypes } from '@octokit/rest';
import type { Json } from '../json.ts';
import { goodToken } from './service-row.ts';
import { type ServiceRequest, ServiceStandIn, type StandInAnswer } from './service-stand-in.ts';

type Methods = RestEndpointMethodTypes;
type Issue = Pick<
  Methods['issues']['get']['response']['data'],
  'number' | 'title' | 'state' | 'html_url' | 'body' | 'labels' | 'comments' | 'created_at' | 'updated_at'
> & { user: { login: string }; assignees: { login: string }[] };
type Comment = Pick<Methods['issues']['listComments']['response']['data'][number], 'id' | 'body' | 'created_at'> & {
  user: { login: string };
};
type Pull = Pick<Methods['pulls']['create']['response']['data'], 'number' | 'title' | 'state' | 'html_url' | 'body'> & {
  head: { ref: string; label: string };
  base: { ref: string };
};
type Commit = Pick<Methods['git']['getCommit']['response']['data'], 'sha' | 'message' | 'html_url'> & {
  tree: { sha: string };
  parents: { sha: string }[];
};
/** Paths of files with the ids of their contents. */
type Tree = Map<string, string>;
type Repository = {
  fullName: string;
  issues: Issue[];
  comments: Map<number, Comment[]>;
  pulls: Pull[];
  branches: Map<string, string>;
  blobs: Map<string, Buffer>;
  trees: Map<string, Tree>;
  commits: Map<string, Commit>;
};

const createdAt = '2026-11-01T10:00:00Z';

export class GithubServer extends ServiceStandIn {
  readonly repositories = new Map<string, Repository>();
  /** Called before a branch is moved: what others do at the same moment. */
  beforeMove: (repository: Repository) => void = () => {};

  /** With one file on branch main. */
  addRepository(fullName: string, readme = '# Hello\n'): Repository {
    const repository: Repository = {
      fullName,
      issues: [],
      comments: new Map(),
      pulls: [],
      branches: new Map(),
      blobs: new Map(),
      trees: new Map(),
      commits: new Map(),
    };
    this.repositories.set(fullName, repository);
    this.commit(repository, 'main', 'First', { 'README.md': readme });
    return repository;
  }

  /** As somebody else would. */
  commit(repository: Repository, branch: string, message: string, files: Record<string, string>): string {
    const head = repository.branches.get(branch);
    const base = head === undefined ? new Map() : repository.trees.get(repository.commits.get(head)!.tree.sha)!;
    const tree: Tree = new Map(base);
    for (const [path, content] of Object.entries(files)) tree.set(path, addBlob(repository, Buffer.from(content)));
    const commit = addCommit(repository, message, addTree(repository, tree), head === undefined ? [] : [head]);
    repository.branches.set(branch, commit.sha);
    return commit.sha;
  }

  filesOf(repository: Repository, branch: string): Record<string, string> {
    const tree = repository.trees.get(repository.commits.get(repository.branches.get(branch)!)!.tree.sha)!;
    return Object.fromEntries([...tree].map(([path, blob]) => [path, repository.blobs.get(blob)!.toString()]));
  }

  addIssue(repository: Repository, title: string, body: string, comments: string[] = []): Issue {
    const issue = newIssue(repository, title, body);
    issue.comments = comments.length;
    repository.comments.set(
      issue.number,
      comments.map((text, at) => ({ id: at + 1, body: text, created_at: createdAt, user: { login: 'octocat' } })),
    );
    return issue;
  }

  protected answer(request: ServiceRequest): StandInAnswer {
    const { method, headers, scopes, body } = request;
    const path = decodeURIComponent(request.path);
    if (headers['user-agent'] === undefined) return { status: 403, text: 'Request forbidden by administrative rules.' };
    if (method === 'POST' && path === '/login/oauth/access_token') return tokenFor(body.code);
    if (method === 'DELETE' && /^\/applications\/[^/]+\/grant$/.test(path)) {
      this.tokens.delete(body?.access_token);
      return { status: 204 };
    }
    if (scopes === null) return { status: 401, json: { message: 'Bad credentials', documentation_url: docs, status: '401' } };
    if (path === '/user') return ok({ login: 'octocat', id: 1 });
    const [, owner, name, rest = ''] = /^\/repos\/([^/]+)\/([^/]+)(\/.*)?$/.exec(path) ?? [];
    const repository = this.repositories.get(`${owner}/${name}`);
    if (repository === undefined) return notFound;
    if (!scopes.includes('repo'))
      return { ...notFound, headers: { 'x-oauth-scopes': scopes.join(', '), 'x-accepted-oauth-scopes': 'repo' } };
    if (method === 'GET' && rest === '') return ok(shownRepository(repository));
    if (rest.startsWith('/issues')) return answerIssues(repository, request, rest);
    if (rest === '/pulls') return answerPulls(repository, request);
    if (rest.startsWith('/contents')) return answerContents(repository, request, rest.slice('/contents'.length).replace(/^\//, ''));
    if (rest.startsWith('/git/')) return this.answerGit(repository, request, rest.slice('/git'.length));
    return notFound;
  }

  private answerGit(repository: Repository, { method, body }: ServiceRequest, rest: string): StandInAnswer {
    if (method === 'POST') return this.createObject(repository, body, rest);
    const [, branch] = /^\/refs?\/heads\/(.+)$/.exec(rest) ?? [];
    if (branch !== undefined) {
      if (method === 'PATCH') return this.moveBranch(repository, branch, body);
      const sha = repository.branches.get(branch);
      return sha === undefined ? notFound : ok(shownRef(branch, sha));
    }
    const commit = repository.commits.get(/^\/commits\/(\w+)$/.exec(rest)?.[1] ?? '');
    return method === 'GET' && commit !== undefined ? ok(commit) : notFound;
  }

  private createObject(repository: Repository, json: Json, rest: string): StandInAnswer {
    if (rest === '/blobs') {
      if (typeof json?.content !== 'string') return invalid('content', 'missing_field');
      return created({ sha: addBlob(repository, Buffer.from(json.content, json.encoding === 'base64' ? 'base64' : 'utf8')), url: '' });
    }
    if (rest === '/trees') {
      const base = repository.trees.get(json.base_tree);
      if (base === undefined) return invalid('base_tree', 'invalid');
      const tree: Tree = new Map(base);
      for (const { path, mode, type, sha } of json.tree) {
        if (mode !== '100644' || type !== 'blob' || !repository.blobs.has(sha)) return invalid('tree', 'invalid');
        if (path.startsWith('/') || path.split('/').includes('..')) return invalid('tree.path', 'invalid');
        tree.set(path, sha);
      }
      return created({ sha: addTree(repository, tree), url: '', tree: [], truncated: false });
    }
    if (rest === '/commits') {
      if (!repository.trees.has(json.tree)) return invalid('tree', 'invalid');
      return created(addCommit(repository, json.message, json.tree, json.parents));
    }
    if (rest === '/refs') {
      this.beforeMove(repository);
      const [, branch] = /^refs\/heads\/(.+)$/.exec(json.ref) ?? [];
      if (branch === undefined || !repository.commits.has(json.sha)) return invalid('ref', 'invalid');
      if (repository.branches.has(branch)) return { status: 422, json: { message: 'Reference already exists' } };
      repository.branches.set(branch, json.sha);
      return created(shownRef(branch, json.sha));
    }
    return notFound;
  }

  private moveBranch(repository: Repository, branch: string, { sha, force }: { sha: string; force?: boolean }): StandInAnswer {
    this.beforeMove(repository);
    const now = repository.branches.get(branch);
    if (now === undefined) return { status: 422, json: { message: 'Reference does not exist' } };
    if (!force && sha !== now && !hasAncestor(repository, sha, now))
      return { status: 422, json: { message: 'Update is not a fast forward' } };
    repository.branches.set(branch, sha);
    return ok(shownRef(branch, sha));
  }
}

const docs = 'https://docs.github.com/rest';
const notFound: StandInAnswer = { status: 404, json: { message: 'Not Found', documentation_url: docs, status: '404' } };

function tokenFor(code: string): StandInAnswer {
  if (code === 'good-code') return ok({ access_token: goodToken, token_type: 'bearer', scope: 'repo' });
  return ok({ error: 'bad_verification_code', error_description: 'The code passed is incorrect or expired.' });
}

function ok(json: unknown): StandInAnswer {
  return { status: 200, json };
}

function created(json: unknown): StandInAnswer {
  return { status: 201, json };
}

function invalid(field: string, code: string): StandInAnswer {
  return { status: 422, json: { message: 'Validation Failed', errors: [{ resource: 'Issue', field, code }], status: '422' } };
}

function answerIssues(repository: Repository, { method, body: json, query }: ServiceRequest, rest: string): StandInAnswer {
  if (method === 'POST' && rest === '/issues') {
    if (typeof json?.title !== 'string' || json.title === '') return invalid('title', 'missing_field');
    return created(newIssue(repository, json.title, json.body ?? null));
  }
  const [, number, part] = /^\/issues\/(\d+)(\/comments)?$/.exec(rest) ?? [];
  const issue = repository.issues.find((one) => one.number === Number(number));
  if (method !== 'GET' || issue === undefined) return notFound;
  if (part === undefined) return ok(issue);
  return ok((repository.comments.get(issue.number) ?? []).slice(0, Number(query.get('per_page') ?? 30)));
}

function newIssue(repository: Repository, title: string, body: string | null): Issue {
  const number = repository.issues.length + repository.pulls.length + 1;
  const issue: Issue = {
    number,
    title,
    body,
    state: 'open',
    html_url: `https://github.com/${repository.fullName}/issues/${number}`,
    user: { login: 'octocat' },
    labels: [{ name: 'bug' }],
    assignees: [],
    comments: 0,
    created_at: createdAt,
    updated_at: createdAt,
  };
  repository.issues.push(issue);
  return issue;
}

function answerPulls(repository: Repository, { method, body: json, query }: ServiceRequest): StandInAnswer {
  const owner = repository.fullName.split('/')[0]!;
  if (method === 'GET')
    return ok(
      repository.pulls.filter(
        ({ state, head, base }) => state === 'open' && head.label === query.get('head') && base.ref === (query.get('base') ?? base.ref),
      ),
    );
  if (method !== 'POST') return notFound;
  for (const field of ['head', 'base']) if (!repository.branches.has(json[field])) return invalid(field, 'invalid');
  if (repository.pulls.some(({ head, base }) => head.ref === json.head && base.ref === json.base))
    return {
      status: 422,
      json: {
        message: 'Validation Failed',
        errors: [{ resource: 'PullRequest', code: 'custom', message: `A pull request already exists for ${owner}:${json.head}.` }],
      },
    };
  const number = repository.issues.length + repository.pulls.length + 1;
  const pull: Pull = {
    number,
    title: json.title,
    state: 'open',
    body: json.body ?? null,
    html_url: `https://github.com/${repository.fullName}/pull/${number}`,
    head: { ref: json.head, label: `${owner}:${json.head}` },
    base: { ref: json.base },
  };
  repository.pulls.push(pull);
  return created(pull);
}

function answerContents(repository: Repository, { method, query }: ServiceRequest, path: string): StandInAnswer {
  const head = repository.branches.get(query.get('ref') ?? 'main');
  const tree = head === undefined ? undefined : repository.trees.get(repository.commits.get(head)!.tree.sha);
  if (method !== 'GET' || tree === undefined) return notFound;
  const blob = tree.get(path);
  if (blob !== undefined) return ok(shownFile(repository, path, blob));
  const inside = path === '' ? '' : `${path}/`;
  const names = new Set([...tree.keys()].filter((file) => file.startsWith(inside)).map((file) => file.slice(inside.length).split('/')[0]!));
  if (names.size === 0) return notFound;
  const entries = [...names].sort().map((name) => {
    const file = tree.get(inside + name);
    return file === undefined
      ? { name, path: inside + name, type: 'dir', size: 0, sha: hash(name) }
      : { name, path: inside + name, type: 'file', size: repository.blobs.get(file)!.length, sha: file };
  });
  return ok(entries);
}

function shownFile(repository: Repository, path: string, blob: string) {
  const bytes = repository.blobs.get(blob)!;
  const isLarge = bytes.length > 1_000_000;
  return {
    type: 'file',
    name: path.split('/').at(-1)!,
    path,
    sha: blob,
    size: bytes.length,
    encoding: isLarge ? 'none' : 'base64',
    // In lines, as GitHub sends it.
    content: isLarge ? '' : bytes.toString('base64').replace(/.{60}/g, '$&\n'),
    html_url: `https://github.com/${repository.fullName}/blob/main/${path}`,
    download_url: null,
  };
}

function shownRepository({ fullName }: Repository) {
  return {
    id: 1,
    full_name: fullName,
    description: 'For tests',
    default_branch: 'main',
    private: true,
    html_url: `https://github.com/${fullName}`,
  };
}

function shownRef(branch: string, sha: string) {
  return { ref: `refs/heads/${branch}`, node_id: '', url: '', object: { sha, type: 'commit', url: '' } };
}

function addBlob(repository: Repository, content: Buffer): string {
  const sha = hash(content);
  repository.blobs.set(sha, content);
  return sha;
}

function addTree(repository: Repository, tree: Tree): string {
  const sha = hash(JSON.stringify([...tree].sort()));
  repository.trees.set(sha, tree);
  return sha;
}

function addCommit(repository: Repository, message: string, tree: string, parents: string[]): Commit {
  const sha = hash(JSON.stringify({ message, tree, parents }));
  const html_url = `https://github.com/${repository.fullName}/commit/${sha}`;
  const commit = { sha, message, tree: { sha: tree }, parents: parents.map((parent) => ({ sha: parent })), html_url };
  repository.commits.set(sha, commit);
  return commit;
}

function hasAncestor(repository: Repository, sha: string, ancestor: string): boolean {
  const commit = repository.commits.get(sha);
  return commit?.parents.some((parent) => parent.sha === ancestor || hasAncestor(repository, parent.sha, ancestor)) ?? false;
}

function hash(content: string | Buffer): string {
  return createHash('sha1').update(content).digest('hex');
}
