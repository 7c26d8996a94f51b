/**
 * The Workers of a stand-in for Cloudflare: sessions of uploads, scripts with assets, their versions. Typed by the types of Cloudflare's SDK; `deployment_id`
 * of a script and `annotations` of a version are in its own client alone (cloudflare/workers-sdk).
 */
import { randomUUID } from 'node:crypto';
import type { UploadCreateResponse as Uploaded } from 'cloudflare/resources/workers/assets/upload';
import type { UploadCreateResponse as Session, UploadCreateParams } from 'cloudflare/resources/workers/scripts/assets/upload';
import type { ScriptUpdateResponse } from 'cloudflare/resources/workers/scripts/scripts';
import type { SubdomainGetResponse } from 'cloudflare/resources/workers/scripts/subdomain';
import type { VersionListResponse } from 'cloudflare/resources/workers/scripts/versions';
import { bad, good } from './cloudflare-answers.ts';
import { type FormPart, formOf } from './form-data.ts';
import type { HostRequest, StandInAnswer } from './host-stand-in.ts';

type Manifest = UploadCreateParams['manifest'];
type Asset = { bytes: Buffer; type: string };
type Version = { id: string; annotations: Record<string, string>; files: Map<string, Buffer> };
type Script = { versions: Version[]; isServed: boolean; metadata: Metadata };
export type Metadata = {
  assets?: { jwt?: string; config?: Record<string, string> };
  annotations?: Record<string, string>;
  compatibility_date?: string;
};

export class WorkerScripts {
  readonly assets = new Map<string, Asset>();
  readonly scripts = new Map<string, Script>();
  /** The files of the newest Worker. */
  live: Map<string, Buffer> | null = null;
  /** Contents in the order in which they came. */
  readonly sent: Buffer[] = [];
  /** Of a bucket. */
  bucketFiles = 3;
  readonly uploads = new Map<string, Manifest>();
  private readonly completed = new Map<string, Manifest>();

  /** @param path after `/workers/scripts/` */
  answer(path: string, request: HostRequest): StandInAnswer | Promise<StandInAnswer> {
    const [name, rest = ''] = path.split(/\/(.*)/s);
    const script = this.scripts.get(name!);
    const called = `${request.method} ${rest}`;
    if (called === 'POST assets-upload-session') return this.beginSession(request);
    if (called === 'PUT ') return this.put(name!, request);
    if (script === undefined) return bad(404, 10_007, 'This Worker does not exist on your account.');
    const isFirstPage = (request.query.get('page') ?? '1') === '1';
    if (called === 'GET versions')
      return good({ items: isFirstPage ? script.versions.map((one, n) => this.shown(one, script.versions.length - n)) : [] });
    if (called === 'GET deployments')
      return good({
        deployments: script.versions.map(({ id }) => ({ id: randomUUID(), versions: [{ version_id: id, percentage: 100 }] })),
      });
    if (called === 'POST subdomain') script.isServed = (request.json as { enabled: boolean }).enabled;
    else if (called !== 'GET subdomain') return bad(405, 10_405, 'Method not allowed for this authentication scheme');
    return good({ enabled: script.isServed, previews_enabled: script.isServed } satisfies SubdomainGetResponse);
  }

  /** A Worker that somebody has made before. */
  add(name: string, tag?: string): void {
    const annotations: Record<string, string> = tag === undefined ? {} : { 'workers/tag': tag };
    this.scripts.set(name, { versions: [{ id: randomUUID(), annotations, files: new Map() }], isServed: true, metadata: {} });
  }

  /** Files of a session, in base64: as files of a form, and as its plain fields. */
  async upload(request: HostRequest): Promise<StandInAnswer> {
    const manifest = this.uploads.get(request.token);
    if (manifest === undefined) return bad(401, 10_000, 'Unauthorized');
    if (request.query.get('base64') !== 'true') return bad(400, 10_021, 'Only base64 uploads are supported');
    const wanted = new Map(Object.values(manifest).map(({ hash, size }) => [hash, size]));
    for (const { name, type, bytes } of await formOf(request)) {
      const content = Buffer.from(bytes.toString('latin1'), 'base64');
      if (wanted.get(name) !== content.length) return bad(400, 10_021, `${name} is not of the manifest, or has another size`);
      this.assets.set(name, { bytes: content, type });
      this.sent.push(content);
    }
    if (this.missingOf(manifest).length > 0) return good({}, 202);
    return good({ jwt: this.complete(manifest) } satisfies Uploaded, 201);
  }

  private beginSession(request: HostRequest): StandInAnswer {
    const { manifest } = request.json as { manifest: Manifest };
    const entries = Object.entries(manifest);
    if (entries.length > 20_000) return bad(400, 100_324, 'The manifest has more than 20000 entries');
    const isWrong = ([path, { hash, size }]: (typeof entries)[number]) =>
      !path.startsWith('/') || !/^[0-9a-f]{32}$/.test(hash) || !Number.isInteger(size) || size > 25 * 2 ** 20;
    if (entries.some(isWrong)) return bad(400, 100_325, 'An entry of the manifest is invalid');
    const missing = this.missingOf(manifest);
    if (missing.length === 0) return good({ jwt: this.complete(manifest), buckets: [] } satisfies Session);
    const jwt = `upload-${randomUUID()}`;
    this.uploads.set(jwt, manifest);
    const buckets = Array.from({ length: Math.ceil(missing.length / this.bucketFiles) }, (_, n) =>
      missing.slice(n * this.bucketFiles, (n + 1) * this.bucketFiles),
    );
    return good({ jwt, buckets } satisfies Session);
  }

  private async put(name: string, request: HostRequest): Promise<StandInAnswer> {
    const metadata = metadataIn(await formOf(request));
    const manifest = this.completed.get(metadata?.assets?.jwt ?? '');
    if (metadata === null || manifest === undefined) return bad(400, 10_021, 'The assets of the Worker need a completion token');
    const id = randomUUID();
    const script = this.scripts.get(name) ?? { versions: [], isServed: false, metadata };
    this.live = new Map(Object.entries(manifest).map(([path, { hash }]) => [path, this.assets.get(hash)!.bytes]));
    script.versions.unshift({ id, annotations: metadata.annotations ?? {}, files: this.live });
    this.scripts.set(name, { ...script, metadata });
    const made = { id: name, tag: randomUUID(), etag: randomUUID(), has_assets: true, startup_time_ms: 0 } satisfies ScriptUpdateResponse;
    return good({ ...made, deployment_id: id.replaceAll('-', '') });
  }

  private missingOf(manifest: Manifest): string[] {
    return [...new Set(Object.values(manifest).map(({ hash }) => hash))].filter((hash) => !this.assets.has(hash));
  }

  private complete(manifest: Manifest): string {
    const jwt = `complete-${randomUUID()}`;
    this.completed.set(jwt, manifest);
    return jwt;
  }

  private shown({ id, annotations }: Version, number: number): object {
    const metadata = { source: 'api', author_id: '', author_email: 'of@tests.example', created_on: new Date(0).toISOString() } as const;
    return {
      ...({ id, number, metadata } satisfies VersionListResponse),
      annotations: { 'workers/triggered_by': 'upload', ...annotations },
    };
  }
}

/** A part of JSON, or the fields of it one by one, as the SDK sends it. */
function metadataIn(parts: readonly FormPart[]): Metadata | null {
  const whole = parts.find(({ name }) => name === 'metadata');
  if (whole !== undefined) return JSON.parse(whole.bytes.toString('utf8')) as Metadata;
  const metadata: Record<string, unknown> = {};
  for (const { name, bytes } of parts) {
    const keys = [...name.matchAll(/\[([^\]]+)\]/g)].map(([, key]) => key!);
    let at = metadata;
    for (const key of keys.slice(0, -1)) at = (at[key] ??= {}) as Record<string, unknown>;
    if (name.startsWith('metadata[')) at[keys.at(-1)!] = bytes.toString('utf8');
  }
  return Object.keys(metadata).length === 0 ? null : (metadata as Metadata);
}
