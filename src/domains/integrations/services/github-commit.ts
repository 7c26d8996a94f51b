/**
 * A commit of several files through GitHub's Git data API: blobs, a tree above the branch's own, a commit, and the branch moved to it. Only
 * the last request changes what people see, so a failure before it leaves nothing behind.
 */
import { pathSegments } from './path-segment.ts';
import { fieldsOf, requiredFields, textOf, unknownForm } from './read-answer.ts';
import type { ServiceCall } from './service.ts';
import { ServiceFailed } from './service-failure.ts';

export type FileChange = { path: string; content: string };
export type CommitRequest = { repository: string; branch: string; message: string; files: readonly FileChange[] };
/** `isNew`: the branch does not exist yet, and starts at the head of the default branch. */
type Head = { sha: string; isNew: boolean };
/** `committed` false: the branch already held exactly these files. */
export type CommitResult = { committed: boolean; commit_sha: string; branch: string; branch_created: boolean; url: string | null };

export async function commitFiles(call: ServiceCall, { repository, branch, message, files }: CommitRequest): Promise<CommitResult> {
  const repo = `/repos/${pathSegments(repository, 'repository')}`;
  const entries = await blobsOf(call, repo, files);
  let made: string | null = null;
  for (let tries = 1; ; tries++) {
    const head = await headOf(call, repo, branch);
    const parent = requiredFields((await call.request({ method: 'GET', path: `${repo}/git/commits/${head.sha}` })).body, 'GitHub');
    const parentTree = shaOf(parent.tree);
    // Every object is addressed by its content: a repeat makes the same.
    const { body: tree } = await call.request({
      method: 'POST',
      path: `${repo}/git/trees`,
      json: { base_tree: parentTree, tree: entries },
      repeatable: true,
    });
    const treeSha = shaOf(tree);
    const about = { branch, branch_created: head.isNew };
    if (treeSha === parentTree && !head.isNew) {
      const isOurs = head.sha === made || (call.isRepeat && parent.message === message);
      return { committed: isOurs, commit_sha: head.sha, ...about, url: textOf(parent.html_url) ?? null };
    }
    const { body: commit } = await call.request({
      method: 'POST',
      path: `${repo}/git/commits`,
      json: { message, tree: treeSha, parents: [head.sha] },
      repeatable: true,
    });
    const sha = shaOf(commit);
    made = sha;
    const moved = await moveBranch(call, repo, branch, head, sha);
    if (moved === null) return { committed: true, commit_sha: sha, ...about, url: textOf(fieldsOf(commit).html_url) ?? null };
    if (tries === 2) throw moved;
  }
}

async function blobsOf(call: ServiceCall, repo: string, files: readonly FileChange[]) {
  const entries = [];
  for (const { path, content } of files) {
    const { body } = await call.request({
      method: 'POST',
      path: `${repo}/git/blobs`,
      json: { content, encoding: 'utf-8' },
      repeatable: true,
    });
    entries.push({ path, mode: '100644', type: 'blob', sha: shaOf(body) });
  }
  return entries;
}

async function headOf(call: ServiceCall, repo: string, branch: string): Promise<Head> {
  const refOf = (name: string) => `${repo}/git/ref/heads/${pathSegments(name, 'branch')}`;
  const found = await call.request({ method: 'GET', path: refOf(branch), accept: [404] });
  if (found.status !== 404) return { sha: shaOf(fieldsOf(found.body).object), isNew: false };
  const about = requiredFields((await call.request({ method: 'GET', path: repo })).body, 'GitHub');
  const first = await call.request({ method: 'GET', path: refOf(textOf(about.default_branch) ?? 'main') });
  return { sha: shaOf(fieldsOf(first.body).object), isNew: true };
}

/** null: done. Otherwise the refusal that says that the branch has changed: it was moved or created meanwhile. */
async function moveBranch(call: ServiceCall, repo: string, branch: string, head: Head, sha: string): Promise<ServiceFailed | null> {
  const accept = [409, 422];
  const answer = head.isNew
    ? await call.request({ method: 'POST', path: `${repo}/git/refs`, json: { ref: `refs/heads/${branch}`, sha }, accept, repeatable: true })
    : await call.request({
        method: 'PATCH',
        path: `${repo}/git/refs/heads/${pathSegments(branch, 'branch')}`,
        json: { sha, force: false },
        accept,
        repeatable: true,
      });
  if (!accept.includes(answer.status)) return null;
  const said = textOf(fieldsOf(answer.body).message) ?? `GitHub answered ${answer.status}`;
  return new ServiceFailed({ type: 'invalid', message: `The branch ${branch} was not changed: ${said}`, field: 'branch' });
}

/** Without it nothing can be built on the object: a different commit would be made. */
function shaOf(object: unknown): string {
  const { sha } = fieldsOf(object);
  if (typeof sha === 'string' && /^[0-9a-f]{40,64}$/.test(sha)) return sha;
  throw unknownForm('GitHub');
}
