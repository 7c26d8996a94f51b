/** Reads GitHub's answers: failures in its own forms, and the parts of its objects that a model needs. */
import { type Fields, fieldsOf, numberOf, textOf } from './read-answer.ts';
import type { ServiceAnswer } from './service.ts';
import type { ServiceFailure } from './service-failure.ts';

/** GitHub also uses 403 for limits, and names the required scopes in a header. */
export function githubFailure({ status, headers, body }: ServiceAnswer): ServiceFailure | undefined {
  const message = messageOf(body) ?? `GitHub answered ${status}`;
  if (status === 403 || status === 429) {
    const retryAt = retryAtOf(headers);
    if (retryAt !== undefined || /rate limit/i.test(message)) return { type: 'rate_limited', message, retryAt: retryAt ?? null };
  }
  const scope = missingScope(headers);
  // For a token without the scope a private repository does not exist.
  if (status === 403 || (status === 404 && scope !== null)) return { type: 'forbidden', message, scope };
  // 410: issues are switched off in the repository. 451: blocked by law.
  if (status === 404 || status === 410 || status === 451) return { type: 'not_found', message };
  if (status === 400 || status === 409 || status === 413 || status === 422) return { type: 'invalid', message, field: fieldOf(body) };
  return undefined;
}

/** null: the time is in `retry-after`, or missing. undefined: the answer is not about a limit. */
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

function messageOf(body: unknown): string | undefined {
  const { message, errors } = fieldsOf(body);
  if (typeof message !== 'string') return undefined;
  const details = (Array.isArray(errors) ? errors : []).map((error) => {
    if (typeof error === 'string') return error;
    const { field, message: text, code } = fieldsOf(error);
    return [field, text ?? code].filter((part) => typeof part === 'string').join(': ');
  });
  return [message, ...details].filter((part) => part !== '').join('; ');
}

function fieldOf(body: unknown): string | null {
  const { errors } = fieldsOf(body);
  return textOf(fieldsOf(Array.isArray(errors) ? errors[0] : undefined).field) ?? null;
}

export function issueForModel(issue: Fields) {
  const { labels, assignees } = issue;
  const named = (Array.isArray(labels) ? labels : []).map((label) => textOf(label) ?? textOf(fieldsOf(label).name) ?? '');
  return {
    number: numberOf(issue.number) ?? null,
    title: textOf(issue.title) ?? '',
    state: textOf(issue.state) ?? null,
    is_pull_request: issue.pull_request !== undefined,
    author: loginOf(issue.user),
    labels: named,
    assignees: (Array.isArray(assignees) ? assignees : []).map(loginOf).filter((login) => login !== null),
    body: textOf(issue.body) ?? '',
    url: textOf(issue.html_url) ?? null,
    created_at: textOf(issue.created_at) ?? null,
    updated_at: textOf(issue.updated_at) ?? null,
  };
}

export function commentForModel({ user, created_at: at, body }: Fields) {
  return { author: loginOf(user), at: textOf(at) ?? null, body: textOf(body) ?? '' };
}

function loginOf(user: unknown): string | null {
  return textOf(fieldsOf(user).login) ?? null;
}

export function entryForModel({ name, path, type, size }: Fields) {
  return { name: textOf(name) ?? null, path: textOf(path) ?? null, type: textOf(type) ?? null, size: numberOf(size) ?? null };
}

/** The text of a file. GitHub leaves out content above 1 MB; bytes that are not text are useless to a model. */
export function fileForModel({ encoding, content, target, ...file }: Fields) {
  const url = textOf(file.html_url) ?? null;
  const about = { path: textOf(file.path) ?? null, size: numberOf(file.size) ?? null, sha: textOf(file.sha) ?? null, url };
  if (typeof target === 'string') return { ...about, symlink_to: target };
  if (encoding !== 'base64' || typeof content !== 'string')
    return { ...about, content: null, note: 'The file is too large to be read here' };
  try {
    return { ...about, content: new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(content, 'base64')) };
  } catch {
    return { ...about, content: null, note: 'The file is not text' };
  }
}
