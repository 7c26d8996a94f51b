/** Accepted kinds of files, by the extension of their name; `content-check.ts` checks that the content is of that kind. */
import { baseName, extensionOf } from './file-name.ts';

export type ContentRule = 'pdf' | 'png' | 'jpeg' | 'docx' | 'xlsx' | 'svg' | 'gif' | 'webp' | 'ico' | 'woff2' | 'wasm' | 'json' | 'text';
export type FileKind = { type: string; content: ContentRule };

const uploadKinds: Record<string, FileKind> = {
  pdf: { type: 'application/pdf', content: 'pdf' },
  md: { type: 'text/markdown', content: 'text' },
  markdown: { type: 'text/markdown', content: 'text' },
  txt: { type: 'text/plain', content: 'text' },
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
  woff2: { type: 'font/woff2', content: 'woff2' },
  wasm: { type: 'application/wasm', content: 'wasm' },
  webmanifest: { type: 'application/manifest+json', content: 'json' },
  map: { type: 'application/json', content: 'text' },
};

/** Settings of sites that hosts read, by their whole name. */
const siteSettings: readonly string[] = ['_headers', '_redirects'];

/** Further extensions of what agents write and builds make: the name alone decides the type. */
const furtherTypes: Record<string, string> = {
  yaml: 'application/yaml',
  yml: 'application/yaml',
  ics: 'text/calendar',
  ts: 'text/plain',
  py: 'text/plain',
  sh: 'text/plain',
  sql: 'text/plain',
  log: 'text/plain',
  toml: 'text/plain',
  avif: 'image/avif',
  woff: 'font/woff',
  ttf: 'font/ttf',
  otf: 'font/otf',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  webm: 'video/webm',
};

export const allowedKinds =
  'PDF, Markdown, plain text, CSV, TSV, JSON, JSON Lines (.jsonl, .ndjson), DOCX, XLSX, PNG, JPEG, SVG, and files of sites: HTML, CSS, JavaScript, XML, WebP, GIF, ICO, WOFF2, WebAssembly, .webmanifest, .map, _headers and _redirects';

/** The kind of an uploaded file; null where such files are not accepted. */
export function uploadKind(name: string): FileKind | null {
  if (siteSettings.includes(baseName(name))) return { type: 'text/plain', content: 'text' };
  const extension = extensionOf(name);
  return Object.hasOwn(uploadKinds, extension) ? uploadKinds[extension]! : null;
}

/** The MIME type of a file that an agent writes or a build makes. */
export function agentFileType(name: string): string {
  const extension = extensionOf(name);
  if (Object.hasOwn(furtherTypes, extension)) return furtherTypes[extension]!;
  return uploadKind(name)?.type ?? 'application/octet-stream';
}
