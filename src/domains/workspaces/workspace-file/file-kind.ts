/** Accepted kinds of files, by the extension of their name; `content-check.ts` checks that the content is of that kind. */
import { extensionOf } from './file-name.ts';

export type ContentRule = 'pdf' | 'png' | 'jpeg' | 'docx' | 'xlsx' | 'svg' | 'json' | 'text';
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
};

/** Further extensions that agents write; agents write only text, so the name alone decides the type. */
const agentTypes: Record<string, string> = {
  html: 'text/html',
  htm: 'text/html',
  css: 'text/css',
  js: 'text/javascript',
  mjs: 'text/javascript',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  ics: 'text/calendar',
  ts: 'text/plain',
  py: 'text/plain',
  sh: 'text/plain',
  sql: 'text/plain',
  log: 'text/plain',
  toml: 'text/plain',
};

export const allowedKinds = 'PDF, Markdown, plain text, CSV, TSV, JSON, JSON Lines (.jsonl, .ndjson), DOCX, XLSX, PNG, JPEG and SVG';

/** The kind of an uploaded file; null where such files are not accepted. */
export function uploadKind(name: string): FileKind | null {
  const extension = extensionOf(name);
  return Object.hasOwn(uploadKinds, extension) ? uploadKinds[extension]! : null;
}

/** The MIME type of a file an agent writes. */
export function agentFileType(name: string): string {
  const extension = extensionOf(name);
  if (Object.hasOwn(agentTypes, extension)) return agentTypes[extension]!;
  return uploadKind(name)?.type ?? 'application/octet-stream';
}
