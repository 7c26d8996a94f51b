/** The interactive reference at /docs: Scalar, served by this service alone. The page can load nothing else and call no other service. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import Type from 'typebox';
import { html, trustedHtml } from './html.ts';
import { type OpenApiOptions, openApiDocument } from './openapi.ts';
import { type AnyRoute, route } from './route.ts';
import { type StaticContent, sendStatic, staticContent } from './static-content.ts';

const configuration = {
  url: './openapi.json',
  theme: 'default',
  customCss: `
    :root { --scalar-radius: 5px; --scalar-radius-lg: 8px; --scalar-radius-xl: 10px; }
    .light-mode { --scalar-color-accent: #6d3bd1; --scalar-background-accent: #6d3bd112; --scalar-link-color: #6d3bd1; }
    .dark-mode { --scalar-color-accent: #b79cf5; --scalar-background-accent: #b79cf51c; --scalar-link-color: #b79cf5; }
    .section-header { letter-spacing: -0.02em; }
    .introduction-section h1 { font-size: 2.25rem; }
    .markdown th, .markdown td, .markdown th *, .markdown td * { word-break: normal !important; overflow-wrap: normal !important; }
    .markdown th, .markdown td { padding: 5px 8px !important; font-size: 13px; }`,
  // Sends the entered key as "Authorization: Bearer …".
  authentication: { preferredSecurityScheme: 'bearer' },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  operationTitleSource: 'summary',
  orderSchemaPropertiesBy: 'preserve',
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  agent: { disabled: true, hideAddApi: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
};
/** Calls the address that the page was loaded from, whatever its name: the page may call no other address. */
const inlineScript = `Scalar.createApiReference('#app', {
  ...${JSON.stringify(configuration)},
  servers: ['/v1', ''].map((prefix) => ({ url: location.origin + prefix })),
});`;

/** The icon: a stage with an open curtain. */
const icon = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' rx='7' fill='#6d3bd1'/><path d='M6 7h20v3H6zM7 12c4 3 5 8 4 13H7zM25 12c-4 3-5 8-4 13h4z' fill='#fff'/></svg>`;

const page = html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="description" content="Natural-language tasks, run by AI agents: the API of Troupe.">
    <title>Troupe API</title>
    <link rel="icon" href="data:image/svg+xml,${trustedHtml(encodeURIComponent(icon))}">
  </head>
  <body>
    <noscript>This reference needs JavaScript. The same as a document: <a href="./openapi.json">openapi.json</a></noscript>
    <div id="app"></div>
    <script src="./docs/scalar.js"></script>
    <script>${trustedHtml(inlineScript)}</script>
  </body>
</html>
`.toString();

const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-cache',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': [
    "default-src 'none'",
    `script-src 'self' 'sha256-${createHash('sha256').update(inlineScript).digest('base64')}'`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self' blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
};

const scriptHeaders = {
  'Content-Type': 'text/javascript; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'public, max-age=86400',
};

/** The routes /docs, /docs/scalar.js and /openapi.json, which describe `routes` and themselves. Each content is made at its first request. */
export function docsRoutes(routes: readonly AnyRoute[], options: OpenApiOptions): AnyRoute[] {
  const description = atFirst(async () => {
    const document = await openApiDocument([...routes, ...own], options);
    return staticContent(JSON.stringify(document), { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' });
  });
  const reference = atFirst(() => staticContent(page, pageHeaders));
  const script = atFirst(async () => staticContent(await loadScript(), scriptHeaders));
  const own: AnyRoute[] = [
    route({
      method: 'GET',
      path: '/openapi.json',
      summary: 'This description',
      scope: null,
      responses: { 200: Type.Object({}, { additionalProperties: true }), 304: null },
      handler: async ({ request }) => sendStatic(request, await description()),
    }),
    route({
      method: 'GET',
      path: '/docs',
      summary: 'Interactive reference',
      scope: null,
      extension: true,
      responses: { 200: null, 304: null },
      contentTypes: { 200: 'text/html' },
      handler: async ({ request }) => sendStatic(request, await reference()),
    }),
    route({
      method: 'GET',
      path: '/docs/scalar.js',
      summary: 'Script of the interactive reference',
      scope: null,
      extension: true,
      responses: { 200: null, 304: null },
      contentTypes: { 200: 'text/javascript' },
      handler: async ({ request }) => sendStatic(request, await script()),
    }),
  ];
  return own;
}

function atFirst(make: () => Promise<StaticContent>): () => Promise<StaticContent> {
  let made: Promise<StaticContent> | null = null;
  return () =>
    (made ??= make().catch((error) => {
      made = null;
      throw error;
    }));
}

/** Loads the script in a thread: the package's 4 MB of JavaScript would occupy the event loop for a fifth of a second. */
async function loadScript(): Promise<string> {
  const thread = new Worker(new URL('./reference-script.ts', import.meta.url));
  const [script] = await once(thread, 'message');
  return script as string;
}
