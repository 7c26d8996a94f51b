/**
 * Serves a preview to anybody who has its address. Its pages must have no access to this service, although they have its host: the sandbox gives them an
 * origin of their own, so they read no cookie and no answer of the service, and share nothing with another preview.
 */
import { html } from '../../../edge/http/html.ts';
import { page } from '../../../edge/http/html-page.ts';
import type { HttpRequest, HttpResponse } from '../../../edge/http/message.ts';
import { AppError } from '../../../errors.ts';
import type { Database } from '../../../storage/database.ts';
import type { FileStore } from '../../../storage/files.ts';
import { entriesOfPreview, filesOfPreview, type PreviewEntry, type PreviewFile } from './site-of-preview.ts';

export type PreviewParts = { database: Pick<Database, 'read'>; files: Pick<FileStore, 'open'> };

const index = 'index.html';
const listedFiles = 1_000;

const headers = {
  'Content-Security-Policy': 'sandbox allow-scripts',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
  // To their own files sandboxed pages are of another origin: modules and fonts would not be loaded.
  'Access-Control-Allow-Origin': '*',
};

/** @param path below the preview, decoded; empty or with a slash at its end: a folder. Throws `not_found`. */
export async function servePreview(
  { database, files }: PreviewParts,
  request: HttpRequest,
  { id, path: asked }: { id: string; path: string },
): Promise<HttpResponse> {
  const path = asked.normalize('NFC');
  const isFolder = path === '' || path.endsWith('/');
  const inFolder = isFolder ? `${path}${index}` : `${path}/${index}`;
  const found = await filesOfPreview(database, id, isFolder ? [inFolder] : [path, inFolder]);
  const file = found.find((one) => one.path === (isFolder ? inFolder : path));
  if (file !== undefined) return sendPreviewFile(files, request, file);
  // Addresses in a page are relative to its folder.
  if (found.length > 0) return toFolder(request);
  const entries = isFolder
    ? await entriesOfPreview(database, id, path, listedFiles + 1)
    : await entriesOfPreview(database, id, `${path}/`, 1);
  if (entries.length === 0) throw new AppError('not_found', 'Not Found');
  return isFolder ? fileList(path, entries) : toFolder(request);
}

/** From the address without the last slash. Throws `not_found`. */
export async function goToPreview({ database }: Pick<PreviewParts, 'database'>, request: HttpRequest, id: string): Promise<HttpResponse> {
  if ((await entriesOfPreview(database, id, '', 1)).length === 0) throw new AppError('not_found', 'Not Found');
  return toFolder(request);
}

/** The same address with a slash at its end. */
function toFolder({ path, queryString }: HttpRequest): HttpResponse {
  const location = `${path}/${queryString === '' ? '' : `?${queryString}`}`;
  return { status: 308, headers: { ...headers, Location: location }, body: null };
}

async function sendPreviewFile(files: PreviewParts['files'], request: HttpRequest, file: PreviewFile): Promise<HttpResponse> {
  const { sizeBytes } = file;
  const body = request.method === 'HEAD' || sizeBytes === 0 ? null : await files.open(file.contentKey);
  return { status: 200, headers: { ...headers, 'Content-Type': contentType(file.type) }, body, bodyBytes: sizeBytes };
}

/** Texts are UTF-8: without a charset a browser guesses. A malformed type could end the header. */
function contentType(type: string): string {
  if (!/^[\w.+-]+\/[\w.+-]+$/.test(type)) return 'application/octet-stream';
  return /^text\/|[/+](json|javascript|xml)$/.test(type) ? `${type}; charset=utf-8` : type;
}

function fileList(folder: string, entries: readonly PreviewEntry[]): HttpResponse {
  const shown = entries.slice(0, listedFiles);
  const rows = shown.map(({ path, sizeBytes }) => {
    const name = path.slice(folder.length);
    // With the dot no name is read as a scheme.
    const href = `./${name.split('/').map(encodeURIComponent).join('/')}`;
    return html`<tr><td><a href="${href}">${name}</a></td><td class="sum">${sizeBytes.toLocaleString('en')} bytes</td></tr>
`;
  });
  const rest = entries.length > shown.length ? html`<p class="quiet">And more: the first ${listedFiles} are listed.</p>` : null;
  const body = html`<p class="quiet">There is no ${index} here.</p>
<table>
${rows}</table>
${rest}`;
  const list = page(folder === '' ? 'Files' : `Files in ${folder}`, body, 200);
  return { ...list, headers: { ...list.headers, ...headers } };
}
