/** The GraphQL of Expo's service, which is that of Expo's own client: it is not documented and may change. */
import { backoffMs } from '../../../backoff.ts';
import { messageOf, OutcomeUnknown } from './calls.ts';
import type { HostAccess, HostAnswer } from './host.ts';
import { DeployFailed, type FailureCode } from './host-failure.ts';
import { type Fields, fieldsOf, listOf, requiredText, textOf, UnknownForm } from './read-answer.ts';

export const title = 'Expo';
/** The channel that installed apps follow. */
const channel = 'production';
/** The newest groups of updates, among which an interrupted publish would be. */
const newestGroups = 25;
const attempts = 5;

export type ExpoApp = { id: string; slug: string; owner: string; maxAssets: number };
export type ExpoBranch = { id: string; name: string };
type Request = { signal: AbortSignal; repeatable?: boolean };

/** Returns the `data` of an answer. An error inside is a failure; a temporary one is retried if a repeat is safe. */
export async function ask(access: HostAccess, query: string, variables: object, { signal, repeatable = true }: Request): Promise<Fields> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ query: query.replace(/\s+/g, ' ').trim(), variables });
  for (let faults = 1; ; faults++) {
    const answer = await access.calls.request({ method: 'POST', path: '/graphql', headers, body, accept: [400], repeatable, signal });
    const { errors, data } = fieldsOf(answer.json);
    const [error] = listOf(errors);
    if (error === undefined && answer.status < 300) return fieldsOf(data);
    const isPassing = fieldsOf(error?.extensions).isTransient === true;
    if (isPassing && !repeatable) throw new OutcomeUnknown(messageOf(answer, title));
    if (!isPassing || faults === attempts) throw failureIn(answer, error);
    await access.calls.pause(backoffMs(faults - 1, 500, 8_000), signal);
  }
}

function failureIn(answer: HostAnswer, error: Fields | undefined): DeployFailed {
  const errorCode = textOf(fieldsOf(error?.extensions).errorCode) ?? '';
  const codes: [RegExp, FailureCode][] = [
    [/UNAUTH|FORBIDDEN|ACCESS_DENIED/, 'auth'],
    [/LIMIT|QUOTA|BILLING/, 'quota'],
  ];
  return new DeployFailed(codes.find(([pattern]) => pattern.test(errorCode))?.[1] ?? 'provider_down', messageOf(answer, title));
}

export async function checkActor(access: HostAccess, signal: AbortSignal): Promise<void> {
  const { meActor } = await ask(access, 'query Actor { meActor { id displayName } }', {}, { signal });
  if (textOf(fieldsOf(meActor).id) === undefined) throw new DeployFailed('auth', `${title} does not know the owner of this token`);
}

const appFields = 'id slug assetLimitPerUpdateGroup ownerAccount { id name }';

/** By its id, or by its name with that of its account: `@account/slug`. A slug alone is searched in the team, or in the first account of the token. */
export async function findApp(access: HostAccess, signal: AbortSignal): Promise<ExpoApp> {
  const { project } = access;
  const byId = 'query App($appId: String!) { app { byId(appId: $appId) { FIELDS } } }'.replace('FIELDS', appFields);
  const byName = 'query App($fullName: String!) { app { byFullName(fullName: $fullName) { FIELDS } } }'.replace('FIELDS', appFields);
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(project);
  const data = isId
    ? await ask(access, byId, { appId: project }, { signal })
    : await ask(access, byName, { fullName: await fullNameOf(access, signal) }, { signal });
  const app = fieldsOf(data.app);
  const found = fieldsOf(isId ? app.byId : app.byFullName);
  const most = found.assetLimitPerUpdateGroup;
  return {
    id: requiredText(found, 'id', title),
    slug: requiredText(found, 'slug', title),
    owner: requiredText(found.ownerAccount, 'name', title),
    maxAssets: typeof most === 'number' ? most : Number.POSITIVE_INFINITY,
  };
}

async function fullNameOf(access: HostAccess, signal: AbortSignal): Promise<string> {
  const { project, team } = access;
  if (project.includes('/')) return `@${project.replace(/^@/, '')}`;
  if (team !== null) return `@${team}/${project}`;
  const { meActor } = await ask(access, 'query Accounts { meActor { id accounts { id name } } }', {}, { signal });
  return `@${requiredText(listOf(fieldsOf(meActor).accounts)[0], 'name', title)}/${project}`;
}

/** The branch that the channel serves; null: there is none yet. */
export async function findBranch(access: HostAccess, app: ExpoApp, signal: AbortSignal): Promise<ExpoBranch | null> {
  const { served } = await findChannel(access, app, signal);
  return served;
}

/** Creates a missing channel, which serves a branch of the same name. */
export async function ensureBranch(access: HostAccess, app: ExpoApp, signal: AbortSignal): Promise<ExpoBranch> {
  const { served, branch } = await findChannel(access, app, signal);
  if (served !== null) return served;
  const made = branch ?? (await makeBranch(access, app, signal));
  const branchMapping = JSON.stringify({ data: [{ branchId: made.id, branchMappingLogic: 'true' }], version: 0 });
  const query = `mutation Channel($appId: ID!, $name: String!, $branchMapping: String) {
    updateChannel { createUpdateChannelForApp(appId: $appId, name: $name, branchMapping: $branchMapping) { id name } }
  }`;
  const find = async () => (await findChannel(access, app, signal)).served;
  return (await once(access, query, { appId: app.id, name: channel, branchMapping }, find, signal)) ?? made;
}

async function makeBranch(access: HostAccess, app: ExpoApp, signal: AbortSignal): Promise<ExpoBranch> {
  const query = `mutation Branch($appId: ID!, $name: String!) {
    updateBranch { createUpdateBranchForApp(appId: $appId, name: $name) { id name } }
  }`;
  const find = async () => (await findChannel(access, app, signal)).branch;
  const found = (await once(access, query, { appId: app.id, name: channel }, find, signal)) ?? (await find());
  if (found === null) throw new UnknownForm(title);
  return found;
}

/** The name is unique: after a lost answer the object is found by its name, and a refusal because it exists is no failure. */
async function once<T>(
  access: HostAccess,
  query: string,
  variables: object,
  find: () => Promise<T | null>,
  signal: AbortSignal,
): Promise<T | null> {
  try {
    await ask(access, query, variables, { signal });
    return null;
  } catch (error) {
    if (!(error instanceof DeployFailed)) throw error;
    const found = await find();
    if (found === null) throw error;
    return found;
  }
}

type Channel = { served: ExpoBranch | null; branch: ExpoBranch | null };

async function findChannel(access: HostAccess, app: ExpoApp, signal: AbortSignal): Promise<Channel> {
  const query = `query Channel($appId: String!, $name: String!) { app { byId(appId: $appId) {
    id
    updateChannelByName(name: $name) { id updateBranches(offset: 0, limit: 2) { id name } }
    updateBranchByName(name: $name) { id name }
  } } }`;
  const data = await ask(access, query, { appId: app.id, name: channel }, { signal });
  const { updateChannelByName: found, updateBranchByName: named } = fieldsOf(fieldsOf(data.app).byId);
  const branches = listOf(fieldsOf(found).updateBranches).flatMap(branchIn);
  const [served] = branches;
  if (textOf(fieldsOf(found).id) !== undefined && (served === undefined || branches.length > 1))
    throw new DeployFailed('alias_failed', `${title}: the channel ${channel} serves ${branches.length} branches; it must serve one`);
  return { served: served ?? null, branch: branchIn(fieldsOf(named))[0] ?? null };
}

function branchIn({ id, name }: Fields): ExpoBranch[] {
  return typeof id === 'string' && typeof name === 'string' ? [{ id, name }] : [];
}

/** `parts`: a platform and a runtime version for each update of the group. Apps fetch the newest group that has their part. */
export type UpdateGroup = { id: string; parts: readonly string[] };

/** The groups that were published with this message, newest first. */
export async function findGroups(
  access: HostAccess,
  app: ExpoApp,
  branch: ExpoBranch,
  message: string,
  signal: AbortSignal,
): Promise<UpdateGroup[]> {
  const query = `query Groups($appId: String!, $name: String!, $limit: Int!) { app { byId(appId: $appId) {
    id updateBranchByName(name: $name) { id updateGroups(limit: $limit, offset: 0) { id group message platform runtimeVersion } }
  } } }`;
  const data = await ask(access, query, { appId: app.id, name: branch.name, limit: newestGroups }, { signal });
  const { updateGroups } = fieldsOf(fieldsOf(fieldsOf(data.app).byId).updateBranchByName);
  const updates = (Array.isArray(updateGroups) ? updateGroups : []).flatMap(listOf);
  return groupsIn(updates.filter((update) => update.message === message));
}

export function groupsIn(updates: readonly Fields[]): UpdateGroup[] {
  const groups = Map.groupBy(updates, ({ group }) => textOf(group) ?? '');
  groups.delete('');
  return [...groups].map(([id, updates]) => ({ id, parts: updates.map(partOf) }));
}

export function partOf({ platform, runtimeVersion }: { platform?: unknown; runtimeVersion?: unknown }): string {
  return `${String(platform).toLowerCase()} ${runtimeVersion}`;
}

/** One text for the groups of a deployment; null: there are none. */
export function idsOf(groups: readonly UpdateGroup[]): string | null {
  const ids = groups.map(({ id }) => id).sort();
  return ids.length === 0 ? null : ids.join(',');
}
