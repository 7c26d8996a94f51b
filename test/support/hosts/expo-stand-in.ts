/**
 * Speaks like Expo's service, as far as updates need it: its GraphQL, and the storage that its signed addresses belong to. Shapes: packages/eas-cli of
 * expo/eas-cli, 790231ea18f7 (graphql.schema.json, src/project/publish.ts, src/uploads.ts). shape_seen 2026-11-23; not tried against the true service, whose
 * API is private.
 */
import { createHash, randomUUID } from 'node:crypto';
import { expoInputs, expoSchema } from './expo-schema.ts';
import { formOf } from './form-data.ts';
import { execute, GraphqlError } from './graphql.ts';
import type { HostRequest, StandInAnswer } from './host-stand-in.ts';
import { HostStandIn } from './host-stand-in.ts';

export const expoProject = '@acme/my-site';

type Fields = Record<string, unknown>;
type Asset = { fileSHA256: string; contentType: string; storageKey: string; bundleKey: string; fileExtension?: string };
type Manifest = { launchAsset: Asset; assets: Asset[]; extra?: Fields };
export type PublishedUpdate = { id: string; group: string; message: string; platform: string; runtimeVersion: string; manifest: Manifest };

export class ExpoStandIn extends HostStandIn {
  readonly contents = new Map<string, Buffer>();
  readonly sent: Buffer[] = [];
  readonly published: PublishedUpdate[] = [];
  readonly deleted = new Set<string>();
  readonly channels: string[] = [];
  readonly branches: string[] = [];
  assetLimit = 2_000;
  /** How often an asset that was sent is not seen yet. */
  unseenFor = 0;
  /** Of the next request to publish, all groups but the first are published when this resolves. */
  restLater: Promise<unknown> | null = null;
  private readonly signed = new Map<string, string>();
  private readonly account = { id: randomUUID(), name: 'acme' };
  private readonly appId = randomUUID();

  protected override fileOf(): undefined {}

  protected override answer(request: HostRequest): StandInAnswer | Promise<StandInAnswer> {
    if (request.path === '/storage') return this.store(request);
    if (request.path !== '/graphql') return { status: 404, json: { errors: [{ message: 'Not found' }] } };
    const isKnown = this.tokens.has(request.token);
    if (!isKnown) return refused(401, 'UNAUTHORIZED_ERROR', 'The bearer token is invalid');
    const { query, variables } = request.json as { query: string; variables: Fields };
    try {
      const data = execute(expoSchema, { query: this.queries(), mutation: this.mutations() }, query, variables);
      return { status: 200, json: { data } };
    } catch (error) {
      if (!(error instanceof GraphqlError)) throw error;
      return {
        status: 200,
        json: { data: null, errors: [{ message: error.message, extensions: { errorCode: 'GRAPHQL_ERROR', errorType: 'USER' } }] },
      };
    }
  }

  private queries(): Fields {
    return {
      meActor: { id: randomUUID(), displayName: 'acme', accounts: [this.account], isExpoAdmin: false },
      app: {
        byId: ({ appId }: { appId: string }) => (appId === this.appId ? this.app() : refuse(`Entity not found: App with id ${appId}`)),
        byFullName: ({ fullName }: { fullName: string }) =>
          fullName === expoProject ? this.app() : refuse(`Experience with fullName ${fullName} does not exist`),
      },
      asset: {
        metadata: ({ storageKeys }: { storageKeys: string[] }) => {
          const isSeen = this.unseenFor === 0;
          if (!isSeen) this.unseenFor -= 1;
          return storageKeys.map((key) => ({ storageKey: key, status: isSeen && this.has(key) ? 'EXISTS' : 'DOES_NOT_EXIST' }));
        },
      },
      updatesByGroup: ({ group }: { group: string }) =>
        this.published.filter((one) => one.group === group && !this.deleted.has(group)).map((one) => ({ ...one, app: this.app() })),
    };
  }

  private mutations(): Fields {
    return {
      asset: {
        getSignedAssetUploadSpecifications: ({ assetContentTypes }: { assetContentTypes: string[] }) => {
          if (assetContentTypes.length > 100) refuse('Too many content types');
          return { specifications: assetContentTypes.map((type) => this.sign(type)) };
        },
      },
      updateBranch: {
        createUpdateBranchForApp: ({ name }: { name: string }) => {
          if (this.branches.includes(name)) refuse(`A branch named ${name} exists already`);
          this.branches.push(name);
          return this.branch(name);
        },
        publishUpdateGroups: ({ publishUpdateGroupsInput: groups }: { publishUpdateGroupsInput: Fields[] }) => {
          const now = this.restLater === null ? groups : groups.slice(0, 1);
          if (this.restLater !== null) this.late.push(this.restLater.then(() => groups.slice(1).flatMap((group) => this.publish(group))));
          this.restLater = null;
          return now.flatMap((group) => this.publish(group));
        },
      },
      updateChannel: {
        createUpdateChannelForApp: ({ name }: { name: string }) => {
          if (this.channels.includes(name)) refuse(`A channel named ${name} exists already`);
          this.channels.push(name);
          return this.channel(name);
        },
      },
      update: {
        scheduleUpdateGroupDeletion: ({ group }: { group: string }) => {
          this.deleted.add(group);
          return { id: randomUUID(), state: 'QUEUED' };
        },
      },
    };
  }

  private app(): Fields {
    return {
      ...{ id: this.appId, slug: 'my-site', fullName: expoProject, assetLimitPerUpdateGroup: this.assetLimit, ownerAccount: this.account },
      updateBranchByName: ({ name }: { name: string }) => (this.branches.includes(name) ? this.branch(name) : null),
      updateChannelByName: ({ name }: { name: string }) => (this.channels.includes(name) ? this.channel(name) : null),
    };
  }

  private branch(name: string): Fields {
    const groups = Map.groupBy(this.published.filter(({ group }) => !this.deleted.has(group)).toReversed(), ({ group }) => group);
    return { id: `branch ${name}`, name, updateGroups: ({ limit }: { limit: number }) => [...groups.values()].slice(0, limit) };
  }

  private channel(name: string): Fields {
    return {
      id: `channel ${name}`,
      name,
      updateBranches: () => this.branches.filter((one) => one === name).map((one) => this.branch(one)),
    };
  }

  private sign(type: string): string {
    const key = randomUUID();
    this.signed.set(key, type);
    return JSON.stringify({ url: `${this.url}/storage`, fields: { key, 'content-type': type, policy: 'cG9saWN5' } });
  }

  private async store(request: HostRequest): Promise<StandInAnswer> {
    const parts = new Map((await formOf(request)).map(({ name, bytes }) => [name, bytes]));
    const type = this.signed.get(String(parts.get('key')));
    const bytes = parts.get('file');
    if (request.token !== '' || type === undefined || bytes === undefined || String(parts.get('content-type')) !== type)
      return { status: 403, text: '<Error><Code>AccessDenied</Code></Error>' };
    const hash = createHash('sha256').update(bytes).digest('base64url');
    this.contents.set(createHash('sha256').update(`${type}\0${hash}`).digest('base64url'), bytes);
    this.sent.push(bytes);
    return { status: 204, text: '' };
  }

  private has(key: string): boolean {
    return this.contents.has(key);
  }

  private publish(input: Fields): PublishedUpdate[] {
    hold('PublishUpdateGroupInput', input);
    if (!this.branches.includes(String(input.branchId).replace('branch ', ''))) refuse('Entity not found: UpdateBranch');
    const group = randomUUID();
    const updates = Object.entries(input.updateInfoGroup as Record<string, Manifest>).map(([platform, manifest]) => {
      hold('PartialManifest', manifest);
      for (const asset of [manifest.launchAsset, ...manifest.assets]) {
        hold('PartialManifestAsset', asset);
        const bytes = this.contents.get(asset.storageKey) ?? refuse(`Asset ${asset.storageKey} does not exist`);
        if (createHash('md5').update(bytes).digest('hex') !== asset.bundleKey) refuse('bundleKey is not the MD5 of the asset');
      }
      return { id: randomUUID(), group, platform, message: String(input.message), runtimeVersion: String(input.runtimeVersion), manifest };
    });
    this.published.push(...updates);
    return updates;
  }
}

function hold(type: keyof typeof expoInputs, given: object): void {
  const fields: readonly string[] = expoInputs[type];
  const unknown = Object.keys(given).find((name) => !fields.some((field) => field.replace('!', '') === name));
  if (unknown !== undefined) refuse(`Field "${unknown}" is not defined by type "${type}"`);
  const missing = fields.find((field) => field.endsWith('!') && (given as Fields)[field.slice(0, -1)] == null);
  if (missing !== undefined) refuse(`Field "${missing}" of type "${type}" is required`);
}

function refuse(message: string): never {
  throw new GraphqlError(message);
}

function refused(status: number, errorCode: string, message: string): StandInAnswer {
  return { status, json: { errors: [{ message, extensions: { errorCode, errorType: 'USER' } }] } };
}
