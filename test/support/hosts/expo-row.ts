import { expo } from '../../../src/domains/deployments/hosts/expo.ts';
import { ExpoStandIn, type PublishedUpdate } from './expo-stand-in.ts';
import { defineRow } from './host-row.ts';

const bundle = '_expo/static/js/ios/index-1.js';
const image = 'assets/0a1b2c';
const metadata = { version: 0, bundler: 'metro', fileMetadata: { ios: { bundle, assets: [{ path: image, ext: 'png' }] } } };

/** An export. Its bundle comes first: the suite changes the first file. */
export const exportedApp: Readonly<Record<string, string>> = {
  [bundle]: 'run()',
  [image]: 'no true image',
  'app.json': JSON.stringify({ expo: { slug: 'my-site', runtimeVersion: '1.2.0', hooks: { secret: 'kept here' } } }),
  'metadata.json': JSON.stringify(metadata),
};

export const expoRow = defineRow<ExpoStandIn>({
  name: 'expo',
  host: expo,
  start: (t) => ExpoStandIn.start(t),
  site: exportedApp,
  notSent: ['app.json', 'metadata.json'],
  // All requests at Expo have one path.
  requests: { identify: /^POST \/graphql$/, create: /^POST \/graphql$/, upload: /^POST \/storage$/, state: null, cancel: null },
  deployments: (standIn) => {
    const { published } = standIn;
    return published.map((update) => ({
      id: update.group,
      tag: update.message,
      state: 'live',
      files: { ...exportedApp, ...filesOf(standIn, update) },
    }));
  },
  uploads: ({ sent }) => sent.map(String),
  url: () => null,
  refusal: (status, message) => ({ status, json: { errors: [{ message }] } }),
  errorInside: {
    answer: {
      status: 200,
      json: { data: null, errors: [{ message: 'Not authorized to publish', extensions: { errorCode: 'UNAUTHORIZED_ERROR' } }] },
    },
    code: 'auth',
    message: /Not authorized/,
  },
  failures: {},
  neverReady: null,
});

function filesOf({ contents }: ExpoStandIn, { manifest }: PublishedUpdate): Record<string, string> {
  const content = (storageKey: string) => String(contents.get(storageKey));
  return { [bundle]: content(manifest.launchAsset.storageKey), [image]: content(manifest.assets[0]!.storageKey) };
}
