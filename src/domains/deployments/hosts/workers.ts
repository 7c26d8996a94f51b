/**
 * Cloudflare Workers with static assets and no code: the hashes first, then the files that are missing, in the buckets that Cloudflare names, then the
 * Worker with the token of the finished upload. A Worker is live as soon as Cloudflare accepts it.
 */
import type { SiteFile } from '../snapshot/site.ts';
import { bodyOf, memoryOf } from './base64-body.ts';
import { messageOf } from './calls.ts';
import {
  accountPath,
  assetKey,
  assetManifest,
  badName,
  cloudflareCredentials,
  fieldsOfResult,
  identify,
  jsonRequest,
  jsonTextRequest,
  maxFileBytes,
  maxFiles,
  resultOf,
  type SplitSite,
  servedType,
  splitSite,
} from './cloudflare-api.ts';
import { createOnce } from './create-once.ts';
import type { Host, HostAccess, Publication } from './host.ts';
import { DeployFailed } from './host-failure.ts';
import { multipart } from './multipart.ts';
import { type Fields, fieldsOf, listOf, requiredText, textOf, textsOf } from './read-answer.ts';
import { contentOf, uploadAll } from './upload.ts';

const title = 'Cloudflare Workers';
/** The number that Cloudflare's own client sends at once. */
const bucketsAtOnce = 3;
/** The token of an upload is valid for an hour. Files that were sent stay at Cloudflare: a new session requests the others. */
const sessions = 3;
const compatibilityDate = '2025-05-05';

export const workers: Host = {
  target: 'cloudflare',
  title,
  credentials: cloudflareCredentials,
  limits: { files: maxFiles, fileBytes: maxFileBytes, badName },
  identify,
  async publish(access, publication) {
    const { signal } = publication;
    const address = await addressOf(access, signal);
    let { providerId } = publication;
    if (providerId === null) {
      const made = publication.isRepeat ? await versionOf(access, publication.deploymentId, signal) : null;
      providerId = made ?? (await upload(access, publication));
      await publication.created(providerId);
    }
    if (address !== null) await serve(access, signal);
    return { providerId };
  },
  async state(access, _providerId, signal) {
    const { url } = access;
    return { kind: 'live', url: (await addressOf(access, signal)) ?? url ?? '' };
  },
  // A Worker is live at once or not at all, and before the first version there is none to return to.
  async cancel() {},
};

async function upload(access: HostAccess, publication: Publication): Promise<string> {
  const { calls, project } = access;
  const { deploymentId, signal } = publication;
  await claim(access, publication);
  const site = splitSite(publication.files);
  const jwt = await completionToken(access, publication, site.assets);
  const { type, pieces } = multipart([{ name: 'metadata', content: JSON.stringify(await metadataOf(publication, site, jwt)) }]);
  const body = await bodyOf(pieces, publication);
  const made = await createOnce({
    mayExist: false,
    find: () => versionOf(access, deploymentId, signal),
    async create() {
      const answer = await calls.request({
        ...{ method: 'PUT', path: scriptPath(access), headers: { 'content-type': type }, body, repeatable: false, signal },
      });
      return hyphenated(textOf(fieldsOfResult(answer).deployment_id)) ?? (await versionOf(access, deploymentId, signal)) ?? project;
    },
    outcomeUnknown: publication.outcomeUnknown,
    calls,
    signal,
  });
  publication.log(`${title} took the Worker ${project}`, 'provider');
  return made;
}

async function metadataOf(publication: Publication, { assets, routing }: SplitSite, jwt: string): Promise<object> {
  const config: Record<string, string> = {};
  if (assets.some(({ path }) => path === '404.html')) config.not_found_handling = '404-page';
  for (const [name, file] of Object.entries(routing)) config[name] = Buffer.from(await contentOf(publication, file)).toString('utf8');
  const annotations = { 'workers/tag': publication.deploymentId, 'workers/message': 'Deployed by Troupe' };
  return { assets: { jwt, config }, annotations, compatibility_date: compatibilityDate };
}

/** A Worker of this name may serve something else: only a Worker that this service has deployed is replaced. */
async function claim(access: HostAccess, { keep, signal }: Publication): Promise<void> {
  const { project, kept } = access;
  if (kept.worker === project) return;
  const versions = await versionsOf(access, signal);
  if (versions.length > 0 && !versions.some(({ tag }) => tag?.startsWith('dep_')))
    throw new DeployFailed('bad_name', `${title}: a Worker named ${project} is there that was not deployed from here: choose another name`);
  await keep({ worker: project });
}

/** The completion token, which Cloudflare issues when it has all files. */
async function completionToken(access: HostAccess, publication: Publication, files: readonly SiteFile[]): Promise<string> {
  const { calls } = access;
  const { signal } = publication;
  const { byKey, manifest } = await assetManifest(files, (hash, { sizeBytes }) => ({ hash, size: sizeBytes }));
  const request = {
    ...({ method: 'POST', path: `${scriptPath(access)}/assets-upload-session` } as const),
    ...jsonTextRequest(`{"manifest":${manifest}}`),
  };
  let refusal: DeployFailed | null = null;
  for (let session = 1; session <= sessions; session++) {
    const begun = fieldsOfResult(await calls.request({ ...request, repeatable: true, signal }));
    const jwt = requiredText(begun, 'jwt', title);
    const buckets = (Array.isArray(begun.buckets) ? begun.buckets : []).map((bucket) => filesOf(textsOf(bucket), byKey));
    const missing = buckets.flat().length;
    if (missing === 0) return jwt;
    publication.log(`${title} lacks ${missing} of ${byKey.size} contents`);
    const completed = await sendBuckets(access, publication, jwt, buckets);
    if (typeof completed === 'string') return completed;
    refusal = completed;
  }
  throw refusal ?? new DeployFailed('provider_down', `${title} gave no token for the files that it was sent`);
}

function filesOf(keys: readonly string[], byKey: ReadonlyMap<string, SiteFile>): SiteFile[] {
  return keys.map((key) => {
    const file = byKey.get(key);
    if (file === undefined) throw new DeployFailed('provider_down', `${title} asks for a file that is not of the site`);
    return file;
  });
}

/** The completion token. null: another session is needed, because there is none or the session's token was refused. */
async function sendBuckets(
  { calls, credentials }: HostAccess,
  publication: Publication,
  jwt: string,
  buckets: readonly SiteFile[][],
): Promise<string | DeployFailed | null> {
  let completed: string | DeployFailed | null = null;
  const path = `${accountPath({ credentials })}/workers/assets/upload?base64=true`;
  await uploadAll({
    items: buckets.filter((bucket) => bucket.length > 0),
    bytesOf: memoryOf,
    atOnce: bucketsAtOnce,
    signal: publication.signal,
    async send(bucket, signal) {
      const parts = bucket.map((file) => {
        const name = assetKey(file);
        return { name, filename: name, type: servedType(file), content: file };
      });
      const { type, pieces } = multipart(parts);
      const headers = { authorization: `Bearer ${jwt}`, 'content-type': type };
      const body = await bodyOf(pieces, { ...publication, signal });
      const answer = await calls.request({ method: 'POST', path, headers, body, accept: [401, 403], repeatable: true, signal });
      if (answer.status < 300) completed = textOf(fieldsOf(resultOf(answer)).jwt) ?? completed;
      else completed ??= new DeployFailed('auth', messageOf(answer, title));
    },
  });
  return completed;
}

/** The subdomain of workers.dev; null: the configuration has an address of its own. Read before anything is sent. */
async function addressOf({ calls, credentials, project, url }: HostAccess, signal: AbortSignal): Promise<string | null> {
  if (url !== null) return null;
  const path = `${accountPath({ credentials })}/workers/subdomain`;
  const answer = await calls.request({ method: 'GET', path, accept: [404], repeatable: true, signal });
  const subdomain = answer.status === 404 ? undefined : textOf(fieldsOfResult(answer).subdomain);
  if (subdomain === undefined)
    throw new DeployFailed(
      'alias_failed',
      `${title}: the account has no subdomain of workers.dev: register one, or give the configuration a url`,
    );
  return `${project}.${subdomain}.workers.dev`;
}

async function serve(access: HostAccess, signal: AbortSignal): Promise<void> {
  const { calls } = access;
  const path = `${scriptPath(access)}/subdomain`;
  const now = await calls.request({ method: 'GET', path, accept: [404], repeatable: true, signal });
  if (now.status < 300 && fieldsOfResult(now).enabled === true) return;
  const answer = await calls.request({ method: 'POST', path, ...jsonRequest({ enabled: true }), repeatable: true, signal });
  if (fieldsOfResult(answer).enabled !== true) throw new DeployFailed('alias_failed', `${title} does not serve the Worker at workers.dev`);
}

async function versionOf(access: HostAccess, deploymentId: string, signal: AbortSignal): Promise<string | null> {
  const versions = await versionsOf(access, signal);
  return versions.find(({ tag }) => tag === deploymentId)?.id ?? null;
}

type Version = { id: string | undefined; tag: string | undefined };

/** Newest first; none where there is no such Worker. */
async function versionsOf(access: HostAccess, signal: AbortSignal): Promise<Version[]> {
  const path = `${scriptPath(access)}/versions`;
  const answer = await access.calls.request({ method: 'GET', path, accept: [404], repeatable: true, signal });
  if (answer.status === 404) return [];
  return listOf(fieldsOfResult(answer).items).map(versionIn);
}

function versionIn({ id, annotations }: Fields): Version {
  return { id: textOf(id), tag: textOf(fieldsOf(annotations)['workers/tag']) };
}

/** Some answers have ids of versions without hyphens, others with them. */
function hyphenated(id: string | undefined): string | undefined {
  return id?.replace(/^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/i, '$1-$2-$3-$4-$5');
}

function scriptPath({ credentials, project }: HostAccess): string {
  return `${accountPath({ credentials })}/workers/scripts/${encodeURIComponent(project)}`;
}
