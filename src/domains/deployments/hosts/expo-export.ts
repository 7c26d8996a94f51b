/** What `expo export` has written: the bundle and the assets of each platform, with the configuration of the app beside them. */
import { createHash } from 'node:crypto';
import type { SiteFile } from '../snapshot/site.ts';
import { title } from './expo-api.ts';
import type { Publication } from './host.ts';
import { DeployFailed } from './host-failure.ts';
import { type Fields, fieldsOf, listOf, textOf } from './read-answer.ts';
import { contentOf } from './upload.ts';

export type ExpoAsset = { file: SiteFile; contentType: string; fileExtension: string | undefined; fileSHA256: string; storageKey: string };
export type PlatformUpdate = { platform: 'ios' | 'android'; launchAsset: ExpoAsset; assets: ExpoAsset[]; runtimeVersion: string };
export type ExpoExport = { updates: PlatformUpdate[]; expoClient: Fields };

/** Only installed apps fetch updates; browsers do not. */
const platforms = ['android', 'ios'] as const;
/** The app's configuration, resolved or as it is in the project. */
const configurations = ['expoConfig.json', 'app.json'];

/** Assets have no extension in their names. */
const types: Readonly<Record<string, string>> = {
  ...{
    png: 'image/png',
    jpg: 'image/jpeg',
    jpeg: 'image/jpeg',
    gif: 'image/gif',
    webp: 'image/webp',
    svg: 'image/svg+xml',
    ico: 'image/vnd.microsoft.icon',
  },
  ...{ ttf: 'font/ttf', otf: 'font/otf', woff: 'font/woff', woff2: 'font/woff2', mp3: 'audio/mpeg', wav: 'audio/wav', mp4: 'video/mp4' },
  ...{
    json: 'application/json',
    html: 'text/html',
    css: 'text/css',
    txt: 'text/plain',
    xml: 'text/xml',
    pdf: 'application/pdf',
    db: 'application/octet-stream',
  },
};

export function checkExport(files: readonly SiteFile[]): void {
  if (files.some(({ path }) => path === 'metadata.json')) return;
  throw failed(
    'the files are no export of an Expo app: metadata.json is missing. Run expo export, or give the configuration a build_command',
  );
}

export async function readExport(publication: Publication): Promise<ExpoExport> {
  checkExport(publication.files);
  const byPath = new Map(publication.files.map((file) => [file.path, file]));
  const json = async (path: string) => jsonOf(path, await contentOf(publication, byPath.get(path)!));
  const { version, bundler, fileMetadata } = await json('metadata.json');
  if (version !== 0 || bundler !== 'metro') throw failed('metadata.json is not of the form that Metro writes (version 0)');
  const path = configurations.find((one) => byPath.has(one));
  if (path === undefined)
    throw failed('expoConfig.json or app.json must be beside metadata.json: they hold the runtime version and the configuration');
  const given = await json(path);
  const config = fieldsOf(given.expo ?? given);
  const updates = platforms.flatMap((platform): PlatformUpdate[] => {
    const { bundle, assets } = fieldsOf(fieldsOf(fileMetadata)[platform]);
    const launch = textOf(bundle);
    if (launch === undefined) return [];
    const launchAsset = assetOf(byPath, launch, /\.[^./]+$/.exec(launch)?.[0] ?? '.bundle', 'application/javascript');
    const others = listOf(assets).map((asset) => {
      const extension = (textOf(asset.ext) ?? '').replace(/^\./, '');
      const type = Object.hasOwn(types, extension.toLowerCase()) ? types[extension.toLowerCase()]! : 'application/octet-stream';
      return assetOf(byPath, textOf(asset.path) ?? '', extension === '' ? undefined : `.${extension}`, type);
    });
    return [{ platform, launchAsset, assets: others, runtimeVersion: runtimeVersionOf(config, platform) }];
  });
  if (updates.length === 0) throw failed('the export has no bundle for iOS or Android; a site for browsers belongs at another host');
  return { updates, expoClient: publicPart(config) };
}

function assetOf(byPath: ReadonlyMap<string, SiteFile>, named: string, fileExtension: string | undefined, contentType: string): ExpoAsset {
  const file = byPath.get(named.replaceAll('\\', '/').normalize('NFC'));
  if (file === undefined) throw failed(`metadata.json names ${named}, which is not there`);
  const fileSHA256 = Buffer.from(file.sha256, 'hex').toString('base64url');
  const storageKey = createHash('sha256').update(`${contentType}\0${fileSHA256}`).digest('base64url');
  return { file, contentType, fileExtension, fileSHA256, storageKey };
}

/** Never guessed: with a wrong version the update would reach apps that cannot run it. */
function runtimeVersionOf(config: Fields, platform: 'ios' | 'android'): string {
  const given = fieldsOf(config[platform]).runtimeVersion ?? config.runtimeVersion;
  const { policy } = fieldsOf(given);
  const version = textOf(given) ?? (policy === 'appVersion' ? textOf(config.version) : undefined);
  const sdk = policy === 'sdkVersion' ? textOf(config.sdkVersion) : undefined;
  const found = version ?? (sdk === undefined ? undefined : `exposdk:${sdk}`);
  if (found !== undefined) return found;
  throw failed(`the configuration of the app gives no runtimeVersion for ${platform} as text, or by the policy appVersion or sdkVersion`);
}

/** Every installed app receives it: fields that are meant only for builds are left out. */
function publicPart({ hooks: _hooks, _internal, ...config }: Fields): Fields {
  const withoutConfig = (part: unknown) => {
    const { config: _config, ...rest } = fieldsOf(part);
    return rest;
  };
  const { codeSigningCertificate: _certificate, codeSigningMetadata: _metadata, ...updates } = fieldsOf(config.updates);
  const parts = { ios: withoutConfig(config.ios), android: withoutConfig(config.android), updates };
  return { ...config, ...Object.fromEntries(Object.entries(parts).filter(([name]) => config[name] !== undefined)) };
}

function jsonOf(path: string, content: Uint8Array): Fields {
  try {
    return fieldsOf(JSON.parse(Buffer.from(content).toString('utf8')));
  } catch {
    throw failed(`${path} is no JSON`);
  }
}

function failed(message: string): DeployFailed {
  return new DeployFailed('build_failed', `${title}: ${message}`);
}
