/**
 * Cloudflare Pages, by direct upload: a token for the project, the hashes that are missing, those files, and a deployment that names every file by its hash.
 * Cloudflare documents no more than the last step; the others are those of its own client.
 */
import type { SiteFile } from '../snapshot/site.ts';
import { bodyOf, memoryOf } from './base64-body.ts';
import {
  accountPath,
  assetKey,
  assetManifest,
  badName,
  cloudflareCredentials,
  fieldsOfResult,
  identify,
  jsonRequest,
  maxFileBytes,
  maxFiles,
  resultOf,
  servedType,
  splitSite,
} from './cloudflare-api.ts';
import { createOnce } from './create-once.ts';
import type { Host, HostAccess, HostAnswer, HostRequest, HostState, Publication } from './host.ts';
import { DeployFailed } from './host-failure.ts';
import { multipart } from './multipart.ts';
import { type Fields, fieldsOf, listOf, requiredText, textOf, textsOf } from './read-answer.ts';
import { contentOf, uploadAll } from './upload.ts';

const title = 'Cloudflare Pages';
/** Cloudflare's own client sends three requests of up to 40 MiB and 2,000 files at once. Smaller ones need less memory and repeat less. */
const bucketsAtOnce = 3;
const bucketBytes = 8 * 2 ** 20;
const bucketFiles = 500;
/** A project that this service creates has no repository: every deployment without a branch is one of production. */
const productionBranch = 'main';

export const pages: Host = {
  target: 'cloudflare',
  title,
  credentials: cloudflareCredentials,
  limits: {
    files: maxFiles,
    fileBytes: maxFileBytes,
    badName: (path) =>
      badName(path) ?? (path.startsWith('functions/') ? 'is code for Cloudflare to run; only static files are published' : null),
  },
  identify,
  async publish(access, publication) {
    const { deploymentId, signal } = publication;
    if (publication.providerId !== null) return { providerId: publication.providerId };
    const [known] = publication.isRepeat ? await taggedIds(access, deploymentId, signal) : [];
    const providerId = known ?? (await deploy(access, publication));
    await publication.created(providerId);
    return { providerId };
  },
  async state(access, providerId, signal) {
    const path = deploymentPath(access, providerId);
    const answer = await access.calls.request({ method: 'GET', path, accept: [404], repeatable: true, signal });
    if (answer.status !== 404) return stateIn(fieldsOfResult(answer), () => lastLine(access, providerId, signal));
    // A single answer is no proof: the list of the project decides.
    const isListed = (await deploymentsOf(access, signal)).some(({ id }) => id === providerId);
    if (isListed) return { kind: 'working', detail: 'it is listed, and not shown yet' };
    return { kind: 'failed', code: 'cancelled', message: `${title} has no such deployment any more` };
  },
  find: async (access, deploymentId, signal) => (await taggedIds(access, deploymentId, signal))[0] ?? null,
  copies: {
    list: taggedIds,
    async served(access, signal) {
      const answer = await access.calls.request({ method: 'GET', path: projectPath(access), accept: [404], repeatable: true, signal });
      return answer.status === 404 ? null : (textOf(fieldsOf(fieldsOfResult(answer).canonical_deployment).id) ?? null);
    },
    remove: removeDeployment,
  },
  /** Deletes an unfinished deployment; Cloudflare refuses to delete the one that is live. */
  cancel: removeDeployment,
};

async function removeDeployment({ calls, ...access }: HostAccess, providerId: string, signal: AbortSignal): Promise<void> {
  const path = deploymentPath(access, providerId);
  await calls.request({ method: 'DELETE', path, accept: [400, 404, 409], repeatable: true, signal });
}

async function deploy(access: HostAccess, publication: Publication): Promise<string> {
  const { assets, routing } = splitSite(publication.files);
  const tokens = new UploadTokens(access, publication.signal);
  await tokens.checkCount(assets.length);
  const { byKey, manifest } = await assetManifest(assets, (key) => key);
  await sendMissing(tokens, publication, byKey);
  return create(access, publication, manifest, Object.values(routing));
}

async function create(access: HostAccess, publication: Publication, manifest: string, routing: readonly SiteFile[]): Promise<string> {
  const { calls } = access;
  const { deploymentId, signal } = publication;
  const { type, pieces } = multipart([
    { name: 'manifest', content: manifest },
    { name: 'commit_message', content: messageOf(deploymentId) },
    ...(await Promise.all(
      routing.map(async (file) => ({ name: file.path, filename: file.path, content: await textIn(publication, file) })),
    )),
  ]);
  const body = await bodyOf(pieces, publication);
  return createOnce({
    mayExist: false,
    find: async () => (await taggedIds(access, deploymentId, signal))[0] ?? null,
    async create() {
      const path = `${projectPath(access)}/deployments`;
      const answer = await calls.request({ method: 'POST', path, headers: { 'content-type': type }, body, repeatable: false, signal });
      return requiredText(resultOf(answer), 'id', title);
    },
    outcomeUnknown: publication.outcomeUnknown,
    calls,
    signal,
  });
}

async function sendMissing(tokens: UploadTokens, publication: Publication, byKey: ReadonlyMap<string, SiteFile>): Promise<void> {
  const hashes = [...byKey.keys()];
  const missing = new Set(textsOf(resultOf(await tokens.send('/pages/assets/check-missing', { hashes }, publication.signal))));
  const left = [...byKey].filter(([key]) => missing.has(key)).map(([, file]) => file);
  if (left.length > 0) publication.log(`${title} lacks ${left.length} of ${byKey.size} contents`);
  await uploadAll({
    items: bucketsOf(left),
    bytesOf: memoryOf,
    atOnce: bucketsAtOnce,
    signal: publication.signal,
    async send(bucket, signal) {
      const pieces = bucket.flatMap((file, n) => {
        const rest = JSON.stringify({ key: assetKey(file), metadata: { contentType: servedType(file) }, base64: true });
        return [`${n === 0 ? '[' : ','}${rest.slice(0, -1)},"value":"`, file, '"}'];
      });
      resultOf(await tokens.send('/pages/assets/upload', await bodyOf([...pieces, ']'], { ...publication, signal }), signal));
    },
  });
  // If this fails, the next deployment may send the same files again: that is no reason to fail.
  try {
    resultOf(await tokens.send('/pages/assets/upsert-hashes', { hashes }, publication.signal));
  } catch (error) {
    if (!(error instanceof DeployFailed)) throw error;
    publication.log(`${title} did not note the files for the next deployment: ${error.message}`);
  }
}

function bucketsOf(files: readonly SiteFile[]): SiteFile[][] {
  const buckets: SiteFile[][] = [];
  let left = 0;
  for (const file of files) {
    const last = buckets.at(-1);
    if (last !== undefined && file.sizeBytes <= left && last.length < bucketFiles) last.push(file);
    else {
      buckets.push([file]);
      left = bucketBytes;
    }
    left -= file.sizeBytes;
  }
  return buckets;
}

/** The short-lived tokens of a project, which requests about files need. */
class UploadTokens {
  private readonly access: HostAccess;
  private readonly signal: AbortSignal;
  private current: Promise<string> | null = null;

  constructor(access: HostAccess, signal: AbortSignal) {
    this.access = access;
    this.signal = signal;
  }

  /** The token contains the account's limit of files. */
  async checkCount(files: number): Promise<void> {
    const most = claimsOf(await this.token()).max_file_count_allowed;
    if (typeof most === 'number' && files > most)
      throw new DeployFailed('too_many_files', `${title} takes ${most} files in this account; the site has ${files}`);
  }

  /** An expired token is replaced once. */
  async send(path: string, body: object, signal: AbortSignal): Promise<HostAnswer> {
    const sent = body instanceof Uint8Array ? body : JSON.stringify(body);
    const first = this.token();
    const answer = await this.try(path, sent, await first, signal, [401, 403]);
    if (answer.status < 300) return answer;
    if (this.current === first) this.current = null;
    return this.try(path, sent, await this.token(), signal);
  }

  private try(path: string, body: string | Uint8Array, jwt: string, signal: AbortSignal, accept: number[] = []): Promise<HostAnswer> {
    const headers = { authorization: `Bearer ${jwt}`, 'content-type': 'application/json' };
    return this.access.calls.request({ method: 'POST', path, headers, body, accept, repeatable: true, signal });
  }

  private token(): Promise<string> {
    this.current ??= this.fetch();
    return this.current;
  }

  /** Creates a missing project. */
  private async fetch(): Promise<string> {
    const { calls, project } = this.access;
    const get = { method: 'GET', path: `${projectPath(this.access)}/upload-token`, repeatable: true, signal: this.signal } as const;
    const answer = await calls.request({ ...get, accept: [404] });
    if (answer.status < 300) return requiredText(resultOf(answer), 'jwt', title);
    const body = jsonRequest({ name: project, production_branch: productionBranch });
    const post = { method: 'POST', path: `${accountPath(this.access)}/pages/projects`, ...body } satisfies Partial<HostRequest>;
    // After a lost answer the next attempt is a conflict.
    const made = await calls.request({ ...post, accept: [400, 409], repeatable: true, signal: this.signal });
    const again = await calls.request({ ...get, accept: made.status < 300 ? [] : [404] });
    return requiredText(resultOf(again.status < 300 ? again : made), 'jwt', title);
  }
}

function claimsOf(jwt: string): Fields {
  try {
    return fieldsOf(JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString('utf8')));
  } catch {
    return {};
  }
}

async function stateIn(deployment: Fields, reason: () => Promise<string | undefined>): Promise<HostState> {
  const { latest_stage: latest, url, is_skipped: isSkipped, skip_reason: why } = deployment;
  const { name, status } = fieldsOf(latest);
  if (isSkipped === true)
    return { kind: 'failed', code: 'build_failed', message: `${title} skipped it: ${textOf(why) ?? 'no reason was given'}` };
  if (status === 'canceled') return { kind: 'failed', code: 'cancelled', message: `${title} has ended it` };
  if (status === 'failure')
    return { kind: 'failed', code: 'build_failed', message: `${title}: ${(await reason()) ?? `the stage ${String(name)} failed`}` };
  if (name === 'deploy' && status === 'success') return { kind: 'live', url: requiredText({ url }, 'url', title) };
  return { kind: 'working', detail: `${textOf(name) ?? 'queued'}: ${textOf(status) ?? 'waiting'}` };
}

/** The last line of the host's log: with direct uploads it contains the error. */
async function lastLine({ calls, ...access }: HostAccess, providerId: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const path = `${deploymentPath(access, providerId)}/history/logs`;
    const answer = await calls.request({ method: 'GET', path, repeatable: true, signal });
    return textOf(listOf(fieldsOfResult(answer).data).at(-1)?.line);
  } catch (error) {
    if (!(error instanceof DeployFailed)) throw error;
    return undefined;
  }
}

/** By its message: Pages has no other place for a tag. */
async function taggedIds(access: HostAccess, deploymentId: string, signal: AbortSignal): Promise<string[]> {
  const tagged = (await deploymentsOf(access, signal)).filter((one) => messageIn(one) === messageOf(deploymentId));
  return tagged.flatMap(({ id }) => textOf(id) ?? []);
}

/** Newest first; none where there is no such project. */
async function deploymentsOf({ calls, ...access }: HostAccess, signal: AbortSignal): Promise<Fields[]> {
  const path = `${projectPath(access)}/deployments`;
  const answer = await calls.request({ method: 'GET', path, accept: [404], repeatable: true, signal });
  return answer.status === 404 ? [] : listOf(resultOf(answer));
}

function messageIn({ deployment_trigger: trigger }: Fields): unknown {
  return fieldsOf(fieldsOf(trigger).metadata).commit_message;
}

function messageOf(deploymentId: string): string {
  return `Troupe ${deploymentId}`;
}

async function textIn(publication: Publication, file: SiteFile): Promise<string> {
  return Buffer.from(await contentOf(publication, file)).toString('utf8');
}

type Place = Pick<HostAccess, 'credentials' | 'project'>;

function projectPath(place: Place): string {
  return `${accountPath(place)}/pages/projects/${encodeURIComponent(place.project)}`;
}

function deploymentPath(place: Place, providerId: string): string {
  return `${projectPath(place)}/deployments/${encodeURIComponent(providerId)}`;
}
