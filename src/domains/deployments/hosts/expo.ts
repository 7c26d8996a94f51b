/**
 * Expo, experimental: publishes an export as updates that installed apps fetch, by the private API of Expo's own client. Assets are sent by their hashes to
 * addresses that Expo signs; Expo processes them for a while. A published update is live at once.
 */
import { createHash } from 'node:crypto';
import { bodyOf } from './base64-body.ts';
import { createOnce } from './create-once.ts';
import {
  ask,
  checkActor,
  type ExpoApp,
  ensureBranch,
  findApp,
  findBranch,
  findGroups,
  groupsIn,
  idsOf,
  partOf,
  title,
  type UpdateGroup,
} from './expo-api.ts';
import { checkExport, type ExpoAsset, type ExpoExport, type PlatformUpdate, readExport } from './expo-export.ts';
import type { Host, HostAccess, Publication } from './host.ts';
import { DeployFailed } from './host-failure.ts';
import { multipart } from './multipart.ts';
import { fieldsOf, listOf, requiredText, textsOf, UnknownForm } from './read-answer.ts';
import { contentOf, uploadAll } from './upload.ts';

/** The number that Expo's own client requests. */
const signedAtOnce = 100;
const pollsAfterUpload = 13;
const uploads = 3;
const maxPollPauseMs = 5_000;

export const expo: Host = {
  target: 'expo',
  title,
  credentials: ['token'],
  limits: { files: 20_000, fileBytes: 100 * 2 ** 20 },
  identify: checkActor,
  check: checkExport,
  async publish(access, publication) {
    const { deploymentId, isRepeat, signal } = publication;
    if (publication.providerId !== null) return { providerId: publication.providerId };
    const exported = await readExport(publication);
    const known = isRepeat ? select(await search(access, deploymentId, signal), exported) : null;
    const complete = known?.missing.length === 0 ? idsOf(known.chosen) : null;
    const providerId = complete ?? (await publishUpdates(access, publication, exported));
    await publication.created(providerId);
    return { providerId };
  },
  async state(access, providerId, signal) {
    const query = 'query Group($group: ID!) { updatesByGroup(group: $group) { id group app { id slug ownerAccount { id name } } } }';
    const groups = providerId.split(',');
    const answers = await Promise.all(groups.map((group) => ask(access, query, { group }, { signal })));
    const updates = answers.flatMap(({ updatesByGroup }) => listOf(updatesByGroup).slice(0, 1));
    const [update] = updates;
    if (update === undefined || updates.length < groups.length)
      return { kind: 'failed', code: 'cancelled', message: `${title} has no such updates any more` };
    const { slug, ownerAccount } = fieldsOf(update.app);
    const parts = [requiredText(ownerAccount, 'name', title), requiredText({ slug }, 'slug', title), groups[0]!].map(encodeURIComponent);
    return { kind: 'live', url: `https://expo.dev/accounts/${parts[0]}/projects/${parts[1]}/updates/${parts[2]}` };
  },
  find: async (access, deploymentId, signal) => idsOf(await search(access, deploymentId, signal)),
  copies: {
    list: async (access, deploymentId, signal) => (await search(access, deploymentId, signal)).map(({ id }) => id),
    async parts(access, group, signal) {
      const query = 'query Parts($group: ID!) { updatesByGroup(group: $group) { id platform runtimeVersion } }';
      const { updatesByGroup } = await ask(access, query, { group }, { signal });
      return listOf(updatesByGroup).map(partOf);
    },
    // Apps fetch the newest group for their runtime version; all copies have the same files.
    served: async () => null,
    remove: deleteGroups,
  },
  /** Apps that have not fetched it yet get the updates before it. */
  cancel: deleteGroups,
};

async function deleteGroups(access: HostAccess, providerId: string, signal: AbortSignal): Promise<void> {
  const find = 'query Ids($group: ID!) { updatesByGroup(group: $group) { id } }';
  const remove = 'mutation Delete($group: ID!) { update { scheduleUpdateGroupDeletion(group: $group) { id state } } }';
  for (const group of providerId.split(',')) {
    const { updatesByGroup } = await ask(access, find, { group }, { signal });
    if (listOf(updatesByGroup).length > 0) await ask(access, remove, { group }, { signal });
  }
}

async function search(access: HostAccess, deploymentId: string, signal: AbortSignal): Promise<UpdateGroup[]> {
  const app = await findApp(access, signal);
  const branch = await findBranch(access, app, signal);
  return branch === null ? [] : findGroups(access, app, branch, messageOf(deploymentId), signal);
}

async function publishUpdates(access: HostAccess, publication: Publication, exported: ExpoExport): Promise<string> {
  const { deploymentId, isRepeat, signal } = publication;
  const app = await findApp(access, signal);
  const assets = await sendAssets(access, publication, app, exported);
  const branch = await ensureBranch(access, app, signal);
  const message = messageOf(deploymentId);
  const query = `mutation Publish($input: [PublishUpdateGroupInput!]!) {
    updateBranch { publishUpdateGroups(publishUpdateGroupsInput: $input) { id group platform runtimeVersion } }
  }`;
  let there = select([], exported);
  return createOnce({
    mayExist: isRepeat,
    async find() {
      there = select(await findGroups(access, app, branch, message, signal), exported);
      return there.missing.length === 0 ? idsOf(there.chosen) : null;
    },
    async create() {
      const versions = Map.groupBy(there.missing, ({ runtimeVersion }) => runtimeVersion);
      const input = [...versions].map(([runtimeVersion, updates]) => ({
        ...{ branchId: branch.id, runtimeVersion, message, awaitingCodeSigningInfo: false },
        updateInfoGroup: Object.fromEntries(updates.map((update) => [update.platform, infoOf(update, assets, exported)])),
      }));
      const { updateBranch } = await ask(access, query, { input }, { signal, repeatable: false });
      const made = groupsIn(listOf(fieldsOf(updateBranch).publishUpdateGroups));
      const providerId = idsOf([...there.chosen, ...made]);
      if (made.length === 0 || providerId === null) throw new UnknownForm(title);
      publication.log(`${title} published the update for runtime version ${[...versions.keys()].join(' and ')}`, 'provider');
      return providerId;
    },
    outcomeUnknown: publication.outcomeUnknown,
    calls: access.calls,
    signal,
  });
}

type Selection = { chosen: UpdateGroup[]; missing: PlatformUpdate[] };

/** Expo may have carried out a request in part, or twice: of the groups, newest first, one is chosen for each part of the export. */
function select(groups: readonly UpdateGroup[], { updates }: ExpoExport): Selection {
  const needed = new Map(updates.map((update) => [partOf(update), update]));
  const chosen = groups.filter(({ parts }) => parts.filter((part) => needed.delete(part)).length > 0);
  return { chosen, missing: [...needed.values()] };
}

type BundleKeys = ReadonlyMap<string, string>;

function infoOf({ launchAsset, assets }: PlatformUpdate, keys: BundleKeys, { expoClient }: ExpoExport): object {
  const shown = ({ fileSHA256, contentType, storageKey, fileExtension }: ExpoAsset) => {
    return { fileSHA256, contentType, storageKey, bundleKey: keys.get(fileSHA256), fileExtension };
  };
  return { launchAsset: shown(launchAsset), assets: assets.map(shown), extra: { expoClient } };
}

/** Resolves when Expo has every asset. Returns the MD5 of each content by its SHA-256: installed apps identify assets by it. */
async function sendAssets(access: HostAccess, publication: Publication, app: ExpoApp, { updates }: ExpoExport): Promise<BundleKeys> {
  const all = updates.flatMap(({ launchAsset, assets }) => [launchAsset, ...assets]);
  const assets = [...new Map(all.map((asset) => [asset.storageKey, asset])).values()];
  if (assets.length > app.maxAssets)
    throw new DeployFailed('too_many_files', `${title} takes ${app.maxAssets} assets in an update; the export has ${assets.length}`);
  const keys = new Map<string, string>();
  for (const { file, fileSHA256 } of assets) {
    if (!keys.has(fileSHA256))
      keys.set(
        fileSHA256,
        createHash('md5')
          .update(await contentOf(publication, file))
          .digest('hex'),
      );
  }
  const { signal } = publication;
  let missing = await missingOf(access, assets, signal);
  if (missing.length > 0) publication.log(`${title} lacks ${missing.length} of ${assets.length} contents`);
  for (let upload = 1; missing.length > 0 && upload <= uploads; upload++) {
    await uploadAssets(access, publication, missing);
    for (let poll = 1; missing.length > 0 && poll <= pollsAfterUpload; poll++) {
      missing = await missingOf(access, missing, signal);
      if (missing.length > 0) await access.calls.pause(Math.min(poll * 1_000, maxPollPauseMs), signal);
    }
  }
  if (missing.length === 0) return keys;
  throw new DeployFailed('provider_down', `${title} has taken ${missing.length} files and does not see them: try again later`);
}

async function missingOf(access: HostAccess, assets: readonly ExpoAsset[], signal: AbortSignal): Promise<ExpoAsset[]> {
  const query = 'query Assets($storageKeys: [String!]!) { asset { metadata(storageKeys: $storageKeys) { storageKey status } } }';
  const { asset } = await ask(access, query, { storageKeys: assets.map(({ storageKey }) => storageKey) }, { signal });
  const there = listOf(fieldsOf(asset).metadata).filter(({ status }) => status === 'EXISTS');
  const known = new Set(there.map(({ storageKey }) => storageKey));
  return assets.filter(({ storageKey }) => !known.has(storageKey));
}

async function uploadAssets(access: HostAccess, publication: Publication, assets: readonly ExpoAsset[]): Promise<void> {
  const { signal } = publication;
  const query = `mutation Sign($types: [String!]!) {
    asset { getSignedAssetUploadSpecifications(assetContentTypes: $types) { specifications } }
  }`;
  for (let at = 0; at < assets.length; at += signedAtOnce) {
    const part = assets.slice(at, at + signedAtOnce);
    const { asset } = await ask(access, query, { types: part.map(({ contentType }) => contentType) }, { signal });
    const { specifications } = fieldsOf(fieldsOf(asset).getSignedAssetUploadSpecifications);
    const signed = textsOf(specifications);
    if (signed.length !== part.length) throw new UnknownForm(title);
    await uploadAll({
      items: part.map((one, n) => ({ file: one.file, ...signedPost(signed[n]!) })),
      bytesOf: ({ file }) => 2 * file.sizeBytes,
      signal,
      async send({ file, url, fields }, ending) {
        const content = await contentOf({ ...publication, signal: ending }, file);
        const form = Object.entries(fields).map(([name, value]) => ({ name, content: value }));
        const { type, pieces } = multipart([...form, { name: 'file', filename: 'file', type: 'application/octet-stream', content }]);
        const body = await bodyOf(pieces, publication);
        const headers = { 'content-type': type };
        await access.calls.request({ method: 'POST', path: '', url, headers, body, repeatable: true, signal: ending });
      },
    });
  }
}

function signedPost(specification: string): { url: string; fields: Record<string, string> } {
  let given: unknown;
  try {
    given = JSON.parse(specification);
  } catch {
    throw new UnknownForm(title);
  }
  const { url, fields } = fieldsOf(given);
  const texts = Object.entries(fieldsOf(fields)).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : []));
  return { url: requiredText({ url }, 'url', title), fields: Object.fromEntries(texts) };
}

function messageOf(deploymentId: string): string {
  return `${deploymentId} by Troupe`;
}
