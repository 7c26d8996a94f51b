/** What GitHub's answers say: failures in its own forms, and the parts of its objects that a model needs. */
import type { ServiceAnswer } from './service.ts';
import type { ServiceFailure } from './service-failure.ts';

/** GitHub says 403 for limits too, and the scopes that a request would have needed in a header. */
export function githubFailure({ status, headers, body }: ServiceAnswer): ServiceFailure | undefined {
  const message = messageOf(body) ?? `GitHub answered ${status}`;
  if (status === 403 || status === 429) {
    const retryAt = retryAtOf(headers);
    if (retryAt !== undefined || /rate limit/i.test(message)) return { type: 'rate_limited', message, retryAt: retryAt ?? null };
  }
  const scope = missingScope(headers);
  // To a token without the scope a private repository does not exist.
  if (status === 403 || (status === 404 && scope !== null)) return { type: 'forbidden', message, scope };
  // 410: issues are switched off in the repository. 451: blocked by law.
  if (status === 404 || status === 410 || status === 451) return { type: 'not_found', message };
  if (status === 400 || status === 409 || status === 413 || status === 422) return { type: 'invalid', message, field: fieldOf(body) };
  return undefined;
}

/** null: when is in `retry-after`, or not said. undefined: the answer is about no limit. */
function retryAtOf(headers: ServiceAnswer['headers']): string | null | undefined {
  if (headers['retry-after'] !== undefined) return null;
  if (headers['x-ratelimit-remaining'] !== '0') return undefined;
  const resetS = headers['x-ratelimit-reset'];
  return resetS !== undefined && /^\d{1,11}$/.test(resetS) ? new Date(Number(resetS) * 1_000).toISOString() : null;
}

/** GitHub lists the scopes of which the request would have needed one, and those of the token; tokens of GitHub Apps have no scopes. */
function missingScope(headers: ServiceAnswer['headers']): string | null {
  const accepted = list(headers['x-accepted-oauth-scopes']);
  const granted = list(headers['x-oauth-scopes']);
  if (headers['x-oauth-scopes'] === undefined || accepted.some((scope) => granted.includes(scope))) return null;
  return accepted.includes('repo') ? 'repo' : (accepted[0] ?? null);
}

function list(value: string | undefined): string[] {
  return (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

type FailureBody = { message?: unknown; errors?: unknown } | null;
type FieldError = { field?: unknown; message?: unknown; code?: unknown };

function messageOf(body: FailureBody): string | undefined {
  if (typeof body?.message !== 'string') return undefined;
  const errors = Array.isArray(body.errors) ? (body.errors as (FieldError | string)[]) : [];
  const details = errors.map((error) =>
    typeof error === 'string' ? error : [error.field, error.message ?? error.code].filter((part) => typeof part === 'string').join(': '),
  );
  return [body.message, ...details].filter((part) => part !== '').join('; ');
}

function fieldOf(body: FailureBody): string | null {
  const [first] = Array.isArray(body?.errors) ? (body.errors as (FieldError | null)[]) : [];
  return typeof first?.field === 'string' ? first.field : null;
}

export type GithubIssue = {
  number: number;
  title: string;
  state: string;
  html_url: string;
  body?: string | null;
  user?: { login: string } | null;
  labels?: (string | { name?: string | null })[];
  assignees?: { login: string }[] | null;
  comments?: number;
  created_at?: string;
  updated_at?: string;
  pull_request?: unknown;
};
export type GithubComment = { user?: { login: string } | null; created_at?: string; body?: string | null };

export function issueForModel(issue: GithubIssue) {
  return {
    number: issue.number,
    title: issue.title,
    state: issue.state,
    is_pull_request: issue.pull_request !== undefined,
    author: issue.user?.login ?? null,
    labels: (issue.labels ?? []).map((label) => (typeof label === 'string' ? label : (label.name ?? ''))),
    assignees: (issue.assignees ?? []).map(({ login }) => login),
    body: issue.body ?? '',
    url: issue.html_url,
    created_at: issue.created_at ?? null,
    updated_at: issue.updated_at ?? null,
  };
}

export function commentForModel({ user, created_at: at, body }: GithubComment) {
  return { author: user?.login ?? null, at: at ?? null, body: body ?? '' };
}

export type GithubEntry = { name: string; path: string; type: string; size?: number };
export type GithubFile = GithubEntry & {
  encoding?: string;
  content?: string;
  sha: string;
  html_url?: string | null;
  download_url?: string | null;
};

export function entryForModel({ name, path, type, size }: GithubEntry) {
  return { name, path, type, size: size ?? null };
}

/** The text of a file. GitHub leaves out the content above 1 MB; bytes that are no text would tell a model nothing. */
export function fileForModel({ path, size, encoding, content, sha, html_url: url, target }: GithubFile & { target?: string }) {
  const about = { path, size: size ?? null, sha, url: url ?? null };
  if (target !== undefined) return { ...about, symlink_to: target };
  if (encoding !== 'base64' || content === undefined) return { ...about, content: null, note: 'The file is too large to be read here' };
  try {
    return { ...about, content: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(content, 'base64')) };
  } catch {
    return { ...about, content: null, note: 'The file is not text' };
  }
}
