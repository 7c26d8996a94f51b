/** Kinds of files that workspaces take, by the extension of their name; `content-check.ts` of workspaces checks that the content is of that kind. */

/** Kinds that are known by their first bytes. */
export type SignedRule =
  | 'gif'
  | 'webp'
  | 'ico'
  | 'woff'
  | 'woff2'
  | 'opentype'
  | 'wasm'
  | 'hermes'
  | 'iso media'
  | 'matroska'
  | 'ogg'
  | 'wav'
  | 'mp3';
export type ContentRule = 'pdf' | 'png' | 'jpeg' | 'docx' | 'xlsx' | 'svg' | SignedRule | 'json' | 'text' | 'media or text';
export type FileKind = { type: string; content: ContentRule };

const uploadKinds: Record<string, FileKind> = {
  pdf: { type: 'application/pdf', content: 'pdf' },
  md: { type: 'text/markdown', content: 'text' },
  markdown: { type: 'text/markdown', content: 'text' },
  txt: { type: 'text/plain', content: 'text' },
  log: { type: 'text/plain', content: 'text' },
  eml: { type: 'message/rfc822', content: 'text' },
  csv: { type: 'text/csv', content: 'text' },
  tsv: { type: 'text/tab-separated-values', content: 'text' },
  json: { type: 'application/json', content: 'json' },
  jsonl: { type: 'application/x-ndjson', content: 'json' },
  ndjson: { type: 'application/x-ndjson', content: 'json' },
  docx: { type: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', content: 'docx' },
  xlsx: { type: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', content: 'xlsx' },
  png: { type: 'image/png', content: 'png' },
  jpg: { type: 'image/jpeg', content: 'jpeg' },
  jpeg: { type: 'image/jpeg', content: 'jpeg' },
  svg: { type: 'image/svg+xml', content: 'svg' },
  html: { type: 'text/html', content: 'text' },
  htm: { type: 'text/html', content: 'text' },
  css: { type: 'text/css', content: 'text' },
  js: { type: 'text/javascript', content: 'text' },
  mjs: { type: 'text/javascript', content: 'text' },
  xml: { type: 'application/xml', content: 'text' },
  webp: { type: 'image/webp', content: 'webp' },
  gif: { type: 'image/gif', content: 'gif' },
  ico: { type: 'image/x-icon', content: 'ico' },
  avif: { type: 'image/avif', content: 'iso media' },
  woff: { type: 'font/woff', content: 'woff' },
  woff2: { type: 'font/woff2', content: 'woff2' },
  ttf: { type: 'font/ttf', content: 'opentype' },
  otf: { type: 'font/otf', content: 'opentype' },
  mp3: { type: 'audio/mpeg', content: 'mp3' },
  ogg: { type: 'audio/ogg', content: 'ogg' },
  wav: { type: 'audio/wav', content: 'wav' },
  m4a: { type: 'audio/mp4', content: 'iso media' },
  mp4: { type: 'video/mp4', content: 'iso media' },
  webm: { type: 'video/webm', content: 'matroska' },
  wasm: { type: 'application/wasm', content: 'wasm' },
  hbc: { type: 'application/octet-stream', content: 'hermes' },
  webmanifest: { type: 'application/manifest+json', content: 'json' },
  map: { type: 'application/json', content: 'text' },
  cjs: { type: 'text/javascript', content: 'text' },
  yaml: { type: 'application/yaml', content: 'text' },
  yml: { type: 'application/yaml', content: 'text' },
  ...sources('ts', 'mts', 'cts', 'tsx', 'jsx', 'vue', 'svelte', 'astro', 'mdx', 'scss', 'sass', 'less', 'graphql', 'toml'),
};

/** What sites are built from. */
function sources(...extensions: string[]): Record<string, FileKind> {
  return Object.fromEntries(extensions.map((extension) => [extension, { type: 'text/plain', content: 'text' }]));
}

/** Texts of sites without an extension, by their whole name. */
const siteSettings: readonly string[] = ['_headers', '_redirects', 'CNAME', 'LICENSE'];

/** `expo export` names assets by the MD5 of their content, without an extension. */
const exportedAsset = /(^|\/)assets\/[0-9a-f]{32}$/;

/** Further extensions of what agents write and builds make: the name alone decides the type. */
const furtherTypes: Record<string, string> = {
  ics: 'text/calendar',
  py: 'text/plain',
  sh: 'text/plain',
  sql: 'text/plain',
};

export const allowedKinds =
  'PDF, Markdown, plain text (.txt, .log), mails (.eml), CSV, TSV, JSON, JSON Lines (.jsonl, .ndjson), DOCX, XLSX, PNG, JPEG, SVG, and files of sites: HTML, CSS, JavaScript, XML, YAML, TOML, WebP, AVIF, GIF, ICO, WOFF, WOFF2, TTF, OTF, MP3, OGG, WAV, M4A, MP4, WebM, WebAssembly, .webmanifest, .map, Expo exports (.hbc, and assets/ with files named by their MD5), _headers, _redirects, CNAME, LICENSE, and their sources: TypeScript, JSX, Vue, Svelte, Astro, MDX, SCSS, Sass, Less, GraphQL';

/** The kind of an uploaded file; null where such files are not accepted. */
export function uploadKind(name: string): FileKind | null {
  if (siteSettings.includes(baseName(name))) return { type: 'text/plain', content: 'text' };
  if (exportedAsset.test(name)) return { type: 'application/octet-stream', content: 'media or text' };
  const extension = extensionOf(name);
  return Object.hasOwn(uploadKinds, extension) ? uploadKinds[extension]! : null;
}

/** The MIME type of a file that an agent writes or a build makes. */
export function agentFileType(name: string): string {
  const extension = extensionOf(name);
  if (Object.hasOwn(furtherTypes, extension)) return furtherTypes[extension]!;
  return uploadKind(name)?.type ?? 'application/octet-stream';
}

/** The name without its folders. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** What follows the last dot, in lower case; empty for a name without one. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot <= name.lastIndexOf('/') + 1 ? '' : name.slice(dot + 1).toLowerCase();
}
