/**
 * Vercel, by its REST API: the deployment is created by the hashes of its files; Vercel answers which files are missing, they are uploaded, and the deployment is created
 * again. Creating is not idempotent: the deployment has our id in `meta` and is found by it.
 *
 * Shapes: vercel/vercel 17d9ebaf packages/client (what its CLI sends) and vercel.com/docs/rest-api; seen 2026-11-23.
 */
import type { SiteFile } from '../snapshot/site.ts';
import { messageOf } from './calls.ts';
import { createOnce } from './create-once.ts';
import { forEachFile } from './for-each-file.ts';
import type { Host, HostAccess, HostAnswer, HostState, Publication } from './host.ts';
import { DeployFailed, type FailureCode } from './host-failure.ts';
import { fieldsOf, listOf, requiredText, textOf, textsOf, UnknownForm } from './read-answer.ts';
import { contentOf, uploadAll } from './upload.ts';

const title = 'Vercel';
const tag = 'troupe_deployment';
/** Vercel may report an uploaded file as missing for a moment. */
const maxRounds = 4;
/** The files are served unchanged: no framework, nothing to install, nothing to build. */
const asItIs = { framework: null, buildCommand: '', installCommand: '', outputDirectory: '', rootDirectory: null };

export const vercel: Host = {
  target: 'vercel',
  title,
  credentials: ['token'],
  limits: { files: 15_000, fileBytes: 100_000_000 },
  async identify({ calls }, signal) {
    const answer = await calls.request({ method: 'GET', path: '/v2/user', repeatable: true, signal });
    failOnError(answer);
  },
  async publish(access, publication) {
    const { providerId, isRepeat, signal } = publication;
    if (providerId !== null) return { providerId };
    const made = await createOnce({
      mayExist: isRepeat,
      find: async () => (await taggedIds(access, publication))[0] ?? null,
      create: () => create(access, publication),
      outcomeUnknown: publication.outcomeUnknown,
      calls: access.calls,
      signal,
    });
    await publication.created(made);
    return { providerId: made };
  },
  async state({ calls, team }, providerId, signal) {
    const answer = await calls.request({ method: 'GET', path: deploymentPath('v13', providerId, '', team), repeatable: true, signal });
    failOnError(answer);
    return stateOf(answer.json);
  },
  find: async (access, deploymentId, signal) => (await taggedIds(access, { deploymentId, signal }))[0] ?? null,
  copies: {
    list: (access, deploymentId, signal) => taggedIds(access, { deploymentId, signal }),
    async served({ calls, project, team }, signal) {
      const path = `/v9/projects/${encodeURIComponent(project)}${queryOf(team)}`;
      const answer = await calls.request({ method: 'GET', path, repeatable: true, accept: [404], signal });
      return textOf(fieldsOf(fieldsOf(fieldsOf(answer.json).targets).production).id) ?? null;
    },
    async remove({ calls, team }, providerId, signal) {
      const path = deploymentPath('v13', providerId, '', team);
      await calls.request({ method: 'DELETE', path, repeatable: true, accept: [404, 410], signal });
    },
  },
  async cancel({ calls, team }, providerId, signal) {
    // A deployment that has ended cannot be cancelled (400 or 409), nor one that does not exist (404).
    const accept = [400, 404, 409, 410];
    await calls.request({ method: 'PATCH', path: deploymentPath('v12', providerId, '/cancel', team), repeatable: true, accept, signal });
  },
};

async function create(access: HostAccess, publication: Publication): Promise<string> {
  const { calls, team } = access;
  const { files, signal } = publication;
  const hashes = await publication.sha1();
  const byHash = new Map<string, SiteFile>();
  const listed: string[] = [];
  await forEachFile(files, (file, at) => {
    byHash.set(hashes[at]!, file);
    listed.push(JSON.stringify({ file: file.path, sha: hashes[at], size: file.sizeBytes }));
  });
  // Without forceNew the answer would be an earlier deployment of the same files, with another tag.
  const path = `/v13/deployments${queryOf(team, { forceNew: '1', skipAutoDetectionConfirmation: '1' })}`;
  const settings = JSON.stringify({
    name: access.project,
    // `name` creates a missing project; `project` selects an existing one, also by its id.
    ...(access.project.startsWith('prj_') && { project: access.project }),
    target: 'production',
    meta: { [tag]: publication.deploymentId },
    projectSettings: asItIs,
  });
  const body = `${settings.slice(0, -1)},"files":[${listed.join(',')}]}`;
  const headers = { 'content-type': 'application/json' };
  for (let round = 1; ; round += 1) {
    const answer = await calls.request({ method: 'POST', path, headers, body, accept: [400], repeatable: false, signal });
    const missing = missingIn(answer);
    if (missing === null) return createdIn(answer);
    const lacking = missing.flatMap((hash): [string, SiteFile][] => (byHash.has(hash) ? [[hash, byHash.get(hash)!]] : []));
    if (lacking.length < missing.length || round === maxRounds) throw failureIn(answer);
    publication.log(`${title} lacks ${lacking.length} of ${byHash.size} contents`);
    await uploadAll({
      items: lacking,
      bytesOf: ([, file]) => file.sizeBytes,
      send: async ([hash, file], either) => upload(access, hash, await contentOf(publication, file), either),
      signal,
    });
  }
}

async function upload({ calls, team }: HostAccess, hash: string, content: Uint8Array, signal: AbortSignal): Promise<void> {
  // The first name is that of the documentation, the second that of Vercel's own client.
  const headers = {
    'content-type': 'application/octet-stream',
    'x-vercel-digest': hash,
    'x-now-digest': hash,
    'x-now-size': String(content.length),
  };
  failOnError(await calls.request({ method: 'POST', path: `/v2/files${queryOf(team)}`, headers, body: content, repeatable: true, signal }));
}

type Tagged = Pick<Publication, 'deploymentId' | 'signal'>;

async function taggedIds({ calls, team }: HostAccess, { deploymentId, signal }: Tagged): Promise<string[]> {
  const path = `/v6/deployments${queryOf(team, { [`meta-${tag}`]: deploymentId, limit: '20' })}`;
  const answer = await calls.request({ method: 'GET', path, repeatable: true, accept: [404], signal });
  if (answer.status === 404) return [];
  failOnError(answer);
  const tagged = listOf(fieldsOf(answer.json).deployments).filter(({ meta }) => fieldsOf(meta)[tag] === deploymentId);
  return tagged.flatMap(({ uid, id }) => textOf(uid) ?? textOf(id) ?? []);
}

/** The missing hashes; null: the answer lists none. */
function missingIn({ json }: HostAnswer): string[] | null {
  const { code, missing } = fieldsOf(fieldsOf(json).error);
  return code === 'missing_files' && Array.isArray(missing) && missing.length > 0 ? textsOf(missing) : null;
}

function createdIn(answer: HostAnswer): string {
  failOnError(answer);
  return requiredText(answer.json, 'id', title);
}

/** Vercel reports errors by status, and inside an answer. */
function failOnError(answer: HostAnswer): void {
  if (answer.status >= 400 || textOf(fieldsOf(fieldsOf(answer.json).error).code) !== undefined) throw failureIn(answer);
}

const codes: Readonly<Record<string, FailureCode>> = {
  forbidden: 'auth',
  not_authorized: 'auth',
  invalid_token: 'auth',
  payment_required: 'quota',
  rate_limited: 'rate_limited',
  too_many_files: 'too_many_files',
  file_too_large: 'file_too_large',
};

function failureIn(answer: HostAnswer): DeployFailed {
  const code = textOf(fieldsOf(fieldsOf(answer.json).error).code) ?? '';
  return new DeployFailed(Object.hasOwn(codes, code) ? codes[code]! : 'provider_down', messageOf(answer, title));
}

function stateOf(json: unknown): HostState {
  const { readyState, status, state: plain, aliasAssigned, aliasError, checks, errorMessage, errorCode } = fieldsOf(json);
  const state = textOf(readyState) ?? textOf(status) ?? textOf(plain) ?? '';
  const said = textOf(errorMessage) ?? textOf(errorCode);
  if (state === 'ERROR' || state.endsWith('_ERROR'))
    return { kind: 'failed', code: 'build_failed', message: `${title} could not build it: ${said ?? 'no reason given'}` };
  if (state === 'BLOCKED')
    return { kind: 'failed', code: 'build_failed', message: `${title} blocked the deployment: ${said ?? 'no reason given'}` };
  if (state === 'CANCELED') return { kind: 'failed', code: 'cancelled', message: `The deployment was cancelled at ${title}` };
  const aliasText = textOf(aliasError) ?? textOf(fieldsOf(aliasError).message) ?? textOf(fieldsOf(aliasError).code);
  if (aliasText !== undefined)
    return { kind: 'failed', code: 'alias_failed', message: `${title} could not assign the address: ${aliasText}` };
  if (fieldsOf(fieldsOf(checks)['deployment-alias']).state === 'failed')
    return { kind: 'failed', code: 'alias_failed', message: `${title} could not assign the address` };
  // READY alone means built: the address leads to it once the alias is assigned.
  if (state !== 'READY' || !aliasAssigned) return { kind: 'working', detail: state === '' ? 'unknown' : state.toLowerCase() };
  return { kind: 'live', url: addressOf(json) };
}

/** The address of a single deployment may require a sign-in at Vercel; that of the project's production does not. */
function addressOf(json: unknown): string {
  const [production] = textsOf(fieldsOf(json).alias);
  const url = textOf(fieldsOf(json).url) ?? production;
  if (url === undefined) throw new UnknownForm(title);
  return url.endsWith('.vercel.app') && production !== undefined ? production : url;
}

function deploymentPath(version: string, providerId: string, more: string, team: string | null): string {
  return `/${version}/deployments/${encodeURIComponent(providerId)}${more}${queryOf(team)}`;
}

function queryOf(team: string | null, more: Record<string, string> = {}): string {
  const query = new URLSearchParams({ ...(team !== null && { [team.startsWith('team_') ? 'teamId' : 'slug']: team }), ...more });
  return query.size === 0 ? '' : `?${query}`;
}
