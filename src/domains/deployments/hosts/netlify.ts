/**
 * Netlify, by its API: a deploy is created with the SHA-1 of every path, Netlify answers which contents it requires, they are uploaded, and Netlify continues by
 * itself. Creating is not idempotent: the title of a deploy begins with our id, by which it is found.
 *
 * Shapes: netlify/open-api 65080317 swagger.yml 2.60.0 and go/porcelain, netlify/cli 88ece291 src/utils/deploy; seen 2026-11-23.
 */
import type { SiteFile } from '../snapshot/site.ts';
import { messageOf } from './calls.ts';
import { createOnce } from './create-once.ts';
import { forEachFile } from './for-each-file.ts';
import type { Host, HostAccess, HostAnswer, HostState, Publication } from './host.ts';
import { DeployFailed } from './host-failure.ts';
import { type Fields, fieldsOf, listOf, requiredText, textOf, textsOf, UnknownForm } from './read-answer.ts';
import { contentOf, uploadAll } from './upload.ts';

const title = 'Netlify';
const json = { 'content-type': 'application/json' };
/** Of a deploy whose files Netlify compares; the deadline of the deployment ends earlier. */
const maxPolls = 500;
const firstPollMs = 250;
const maxPollPauseMs = 5_000;
/** States in which `required` is not final. */
const unprepared = new Set(['new', 'enqueued', 'pending_review', 'building', 'preparing']);

export const netlify: Host = {
  target: 'netlify',
  title,
  credentials: ['token'],
  limits: {
    files: 54_000,
    fileBytes: 2 ** 40,
    badName: (path) => (/[#?]/.test(path) ? 'Netlify takes no file whose name has # or ? in it' : null),
  },
  async identify({ calls }, signal) {
    await calls.request({ method: 'GET', path: '/user', repeatable: true, signal });
  },
  async publish(access, publication) {
    const { providerId, isRepeat, signal } = publication;
    let deploy: Fields | null = null;
    let deployId = providerId;
    if (deployId === null) {
      const siteId = await siteOf(access, publication);
      deploy = await createOnce({
        mayExist: isRepeat,
        find: () => findByTitle(access, publication, siteId),
        create: () => create(access, publication, siteId),
        outcomeUnknown: publication.outcomeUnknown,
        calls: access.calls,
        signal,
      });
      deployId = textOf(deploy.id)!;
      await publication.created(deployId);
    }
    await uploadRequired(access, publication, deployId, deploy);
    return { providerId: deployId };
  },
  async state(access, providerId, signal) {
    return stateOf(await deployOf(access, providerId, signal));
  },
  async find(access, deploymentId, signal) {
    const siteId = await knownSite(access, signal);
    return siteId === null ? null : (textOf((await findByTitle(access, { deploymentId, signal }, siteId))?.id) ?? null);
  },
  copies: {
    async list(access, deploymentId, signal) {
      const siteId = await knownSite(access, signal);
      const deploys = siteId === null ? [] : await titledDeploys(access, { deploymentId, signal }, siteId);
      return deploys.flatMap(({ id }) => textOf(id) ?? []);
    },
    async served(access, signal) {
      const siteId = await knownSite(access, signal);
      if (siteId === null) return null;
      const path = `/sites/${encodeURIComponent(siteId)}`;
      const answer = await access.calls.request({ method: 'GET', path, repeatable: true, accept: [404], signal });
      return textOf(fieldsOf(fieldsOf(answer.json).published_deploy).id) ?? null;
    },
    async remove({ calls }, providerId, signal) {
      const path = `/deploys/${encodeURIComponent(providerId)}`;
      await calls.request({ method: 'DELETE', path, repeatable: true, accept: [404, 410, 422], signal });
    },
  },
  async cancel({ calls }, providerId, signal) {
    const path = `/deploys/${encodeURIComponent(providerId)}/cancel`;
    await calls.request({ method: 'POST', path, repeatable: true, accept: [400, 404, 409, 410, 422], signal });
  },
};

/** The id of the site: the given one, or one that is created once and stored with the configuration. A stored site that was deleted at Netlify is replaced. */
async function siteOf(access: HostAccess, publication: Publication): Promise<string> {
  const { project, projectGiven } = access;
  const { site_id: known } = access.kept;
  if (known !== undefined && (await siteById(access, known, publication.signal)) !== null) return known;
  const gone: Record<string, string> = known === undefined ? {} : { site_id: known };
  if (known !== undefined) publication.log(`${title} has no site ${known} any more`, 'troupe');
  if (projectGiven) {
    const found = await givenSite(access, publication.signal);
    const { site_id: siteId } = found === null ? {} : await publication.keep({ site_id: found }, gone);
    // An unknown name is sent unchanged: Netlify's answer has the reason.
    return siteId ?? found ?? project;
  }
  // The name is this deployment's own: names of sites are unique at Netlify, so a site whose creation had no answer is found by it.
  const name = siteName(project, publication.deploymentId);
  const made = await createOnce({
    mayExist: publication.isRepeat,
    find: () => siteByName(access, name, publication.signal),
    create: () => makeSite(access, name, publication.signal),
    // Names of sites are unique: a late request is refused.
    outcomeUnknown: () => {},
    calls: access.calls,
    signal: publication.signal,
  });
  const { site_id: siteId } = await publication.keep({ site_id: made }, gone);
  if (siteId !== undefined && siteId !== made) await removeSite(access, made, publication.signal);
  return siteId ?? made;
}

/** null: the site has no deploy yet. */
async function knownSite(access: HostAccess, signal: AbortSignal): Promise<string | null> {
  return access.kept.site_id ?? (await givenSite(access, signal));
}

/** The site of the configuration's `project`, by its id or its name. */
async function givenSite(access: HostAccess, signal: AbortSignal): Promise<string | null> {
  if (!access.projectGiven) return null;
  return (await siteById(access, access.project, signal)) ?? (await siteByName(access, access.project, signal));
}

async function makeSite({ calls, team }: HostAccess, name: string, signal: AbortSignal): Promise<string> {
  const path = team === null ? '/sites' : `/${encodeURIComponent(team)}/sites`;
  const answer = await calls.request({ method: 'POST', path, headers: json, body: JSON.stringify({ name }), repeatable: false, signal });
  return idOrUnknown(answer);
}

/** Another deployment of the configuration stored its site first: this one was never used. */
async function removeSite({ calls }: HostAccess, siteId: string, signal: AbortSignal): Promise<void> {
  await calls.request({ method: 'DELETE', path: `/sites/${encodeURIComponent(siteId)}`, repeatable: true, accept: [404], signal });
}

async function siteById({ calls }: HostAccess, id: string, signal: AbortSignal): Promise<string | null> {
  const path = `/sites/${encodeURIComponent(id)}`;
  const answer = await calls.request({ method: 'GET', path, repeatable: true, accept: [404], signal });
  return answer.status === 404 ? null : (textOf(fieldsOf(answer.json).id) ?? null);
}

async function siteByName({ calls, team }: HostAccess, name: string, signal: AbortSignal): Promise<string | null> {
  const sites = team === null ? '/sites' : `/${encodeURIComponent(team)}/sites`;
  const path = `${sites}?${new URLSearchParams({ name, ...(team === null && { filter: 'all' }) })}`;
  const answer = await calls.request({ method: 'GET', path, repeatable: true, accept: [404], signal });
  return textOf(listOf(answer.json).find((site) => site.name === name)?.id) ?? null;
}

async function create({ calls }: HostAccess, publication: Publication, siteId: string): Promise<Fields> {
  const { files, deploymentId, signal } = publication;
  const hashes = await publication.sha1();
  const path = `/sites/${encodeURIComponent(siteId)}/deploys?${new URLSearchParams({ title: titleOf(deploymentId) })}`;
  const listed: string[] = [];
  await forEachFile(files, (file, at) => listed.push(`${JSON.stringify(`/${file.path}`)}:"${hashes[at]}"`));
  // Netlify's description has the title only in the query.
  const settings = JSON.stringify({ title: titleOf(deploymentId), async: true, draft: false });
  const body = `${settings.slice(0, -1)},"files":{${listed.join(',')}}}`;
  const answer = await calls.request({ method: 'POST', path, headers: json, body, repeatable: false, signal });
  idOrUnknown(answer);
  return fieldsOf(answer.json);
}

type Tagged = Pick<Publication, 'deploymentId' | 'signal'>;

async function findByTitle(access: HostAccess, tagged: Tagged, siteId: string): Promise<Fields | null> {
  return (await titledDeploys(access, tagged, siteId))[0] ?? null;
}

async function titledDeploys({ calls }: HostAccess, { deploymentId, signal }: Tagged, siteId: string): Promise<Fields[]> {
  const path = `/sites/${encodeURIComponent(siteId)}/deploys?per_page=100`;
  const answer = await calls.request({ method: 'GET', path, repeatable: true, accept: [404], signal });
  const isOurs = ({ title: given, id }: Fields) => textOf(given)?.startsWith(deploymentId) === true && textOf(id) !== undefined;
  return listOf(answer.json).filter(isOurs);
}

/** Uploads what Netlify requires, and waits until it has compared all files: before that its list may be empty or a part. */
async function uploadRequired(access: HostAccess, publication: Publication, deployId: string, known: Fields | null): Promise<void> {
  const { signal } = publication;
  const sent = new Set<string>();
  for (let polls = 0, deploy = known; ; polls += 1) {
    if (polls > 0) await access.calls.pause(Math.min(maxPollPauseMs, firstPollMs * polls), signal);
    deploy = polls === 0 && deploy !== null ? deploy : await deployOf(access, deployId, signal);
    const state = textOf(deploy.state) ?? '';
    // Its state has the reason; a deploy that has ended needs no cancellation.
    if (state === 'error' || state === 'ready') return;
    const required = textsOf(deploy.required).filter((hash) => !sent.has(hash));
    if (required.length > 0) await upload(access, publication, deployId, new Set(required));
    for (const hash of required) sent.add(hash);
    if (!unprepared.has(state)) return;
    if (polls === maxPolls) throw new DeployFailed('timed_out', `${title} did not compare the files`);
  }
}

async function upload(access: HostAccess, publication: Publication, deployId: string, required: ReadonlySet<string>): Promise<void> {
  const { files, signal } = publication;
  const hashes = await publication.sha1();
  const byHash = new Map<string, SiteFile>();
  await forEachFile(files, (file, at) => byHash.set(hashes[at]!, file));
  const lacking = [...required].flatMap((hash) => byHash.get(hash) ?? []);
  publication.log(`${title} requires ${lacking.length} of ${byHash.size} contents`);
  await uploadAll({
    items: lacking,
    bytesOf: ({ sizeBytes }) => sizeBytes,
    async send(file, either) {
      const path = `/deploys/${encodeURIComponent(deployId)}/files/${file.path.split('/').map(encodeURIComponent).join('/')}`;
      const headers = { 'content-type': 'application/octet-stream' };
      const body = await contentOf(publication, file);
      await access.calls.request({ method: 'PUT', path, headers, body, repeatable: true, signal: either });
    },
    signal,
  });
}

async function deployOf({ calls }: HostAccess, deployId: string, signal: AbortSignal): Promise<Fields> {
  const answer = await calls.request({ method: 'GET', path: `/deploys/${encodeURIComponent(deployId)}`, repeatable: true, signal });
  failOnError(answer);
  return fieldsOf(answer.json);
}

function stateOf(deploy: Fields): HostState {
  const state = textOf(deploy.state) ?? 'unknown';
  const said = textOf(deploy.error_message);
  if (state === 'error' && /^cancel+ed/i.test(said ?? ''))
    return { kind: 'failed', code: 'cancelled', message: `The deploy was cancelled at ${title}` };
  if (state === 'error' || state === 'rejected')
    return { kind: 'failed', code: 'build_failed', message: `${title} could not publish it: ${said ?? 'no reason given'}` };
  if (state !== 'ready') return { kind: 'working', detail: state };
  return { kind: 'live', url: addressOf(deploy) };
}

/** The site's address. */
function addressOf({ ssl_url: secure, url: plain, deploy_ssl_url: deploySecure, deploy_url: deployPlain }: Fields): string {
  const [first, second] = [textOf(secure), textOf(plain)];
  const url = first !== undefined && second !== undefined && hostOf(first) !== hostOf(second) ? second : (first ?? second);
  const any = url ?? textOf(deploySecure) ?? textOf(deployPlain);
  if (any === undefined) throw new UnknownForm(title);
  return any;
}

function hostOf(url: string): string {
  return url.replace(/^https?:\/\//i, '');
}

function idOrUnknown(answer: HostAnswer): string {
  failOnError(answer);
  return requiredText(answer.json, 'id', title);
}

/** Netlify reports errors as {code, message}, by their status or inside an answer. */
function failOnError(answer: HostAnswer): void {
  const { id, code, message, error } = fieldsOf(answer.json);
  const isError = id === undefined && (textOf(error) !== undefined || (code !== undefined && textOf(message) !== undefined));
  if (isError) throw new DeployFailed(code === 401 || code === 403 ? 'auth' : 'provider_down', messageOf(answer, title));
}

function titleOf(deploymentId: string): string {
  return `${deploymentId} by Troupe`;
}

/** At most 63 letters, as a part of a host name. */
function siteName(project: string, deploymentId: string): string {
  return `${project.slice(0, 52)}-${deploymentId.slice(-10)}`.toLowerCase().replace(/[^a-z0-9-]+/g, '-');
}
