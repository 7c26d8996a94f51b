/** What Workers and Pages have in common: one account, one envelope of answers, credentials, limits, and files with a meaning of their own. */
import { createHash } from 'node:crypto';
import type { SiteFile } from '../snapshot/site.ts';
import { messageOf } from './calls.ts';
import { forEachFile } from './for-each-file.ts';
import type { HostAccess, HostAnswer, HostRequest } from './host.ts';
import { DeployFailed } from './host-failure.ts';
import { type Fields, fieldsOf, listOf, UnknownForm } from './read-answer.ts';

export const cloudflareCredentials = ['token', 'account_id'];
export const maxFiles = 20_000;
export const maxFileBytes = 25 * 2 ** 20;

const title = 'Cloudflare';
/** Codes of errors that mean a refused token; their statuses differ. */
const refusals = new Set<unknown>([1000, 6003, 9106, 9109, 10_000]);

/** Returns the `result` of an answer. Throws for an error with a status below 400 too. */
export function resultOf(answer: HostAnswer): unknown {
  const { success, result, errors } = fieldsOf(answer.json);
  if (success === false) {
    const isRefused = listOf(errors).some(({ code }) => refusals.has(code));
    throw new DeployFailed(isRefused ? 'auth' : 'provider_down', messageOf(answer, title));
  }
  if (result === undefined) throw new UnknownForm(title);
  return result;
}

export function fieldsOfResult(answer: HostAnswer): Fields {
  return fieldsOf(resultOf(answer));
}

export function accountPath({ credentials }: Pick<HostAccess, 'credentials'>): string {
  return `/accounts/${encodeURIComponent(credentials.account_id ?? '')}`;
}

export function jsonRequest(body: unknown): Pick<HostRequest, 'headers' | 'body'> {
  return jsonTextRequest(JSON.stringify(body));
}

/** @param body JSON that is made in pieces */
export function jsonTextRequest(body: string): Pick<HostRequest, 'headers' | 'body'> {
  return { headers: { 'content-type': 'application/json' }, body };
}

/** A token of an account is no token of a user, so it is verified by a request for the account. */
export async function identify(access: HostAccess, signal: AbortSignal): Promise<void> {
  const get = { method: 'GET', repeatable: true, signal } as const;
  const answer = await access.calls.request({ ...get, path: '/user/tokens/verify', accept: [400, 401, 403] });
  if (answer.status < 300) return checkActive(fieldsOfResult(answer).status);
  const account = await access.calls.request({ ...get, path: accountPath(access), accept: [400, 401, 403, 404] });
  if (account.status >= 300 || fieldsOf(account.json).success !== true) throw new DeployFailed('auth', messageOf(answer, title));
}

function checkActive(status: unknown): void {
  if (typeof status === 'string' && status !== 'active') throw new DeployFailed('auth', `${title}: this API token is ${status}`);
}

/**
 * The key of a content, 32 characters. The type it is served with is kept with the content, so it is a part of the key. Cloudflare's own client takes BLAKE3
 * over content and extension; its guide takes SHA-256, so any hash is taken.
 */
export function assetKey(file: SiteFile): string {
  return createHash('sha256')
    .update(`${file.sha256}\n${servedType(file)}`)
    .digest('hex')
    .slice(0, 32);
}

/** The files by their keys, and the manifest as JSON: what `entryOf` gives for the key and the file, by path. */
export async function assetManifest(
  files: readonly SiteFile[],
  entryOf: (key: string, file: SiteFile) => unknown,
): Promise<{ byKey: ReadonlyMap<string, SiteFile>; manifest: string }> {
  const byKey = new Map<string, SiteFile>();
  const fields: string[] = [];
  await forEachFile(files, (file) => {
    const key = assetKey(file);
    byKey.set(key, file);
    fields.push(`${JSON.stringify(`/${file.path}`)}:${JSON.stringify(entryOf(key, file))}`);
  });
  return { byKey, manifest: `{${fields.join(',')}}` };
}

export function servedType({ type }: SiteFile): string {
  return type.startsWith('text/') && !type.includes('charset') ? `${type}; charset=utf-8` : type;
}

/** Files in the root that set headers and redirects; they are not served themselves. */
export const routingFiles = ['_headers', '_redirects'] as const;

export type SplitSite = { assets: readonly SiteFile[]; routing: Partial<Record<(typeof routingFiles)[number], SiteFile>> };

export function splitSite(files: readonly SiteFile[]): SplitSite {
  const isRouting = ({ path }: SiteFile) => (routingFiles as readonly string[]).includes(path);
  const routing = Object.fromEntries(files.filter(isRouting).map((file) => [file.path, file]));
  return { assets: files.filter((file) => !isRouting(file)), routing };
}

/** Code that runs at the host, and lists of files to leave out: published as plain files, they would disclose content. */
export function badName(path: string): string | null {
  if (/^_worker\.js(\/|$)/.test(path)) return 'is code for Cloudflare to run; only static files are published';
  if (path === '.assetsignore') return 'leaves files out of a Worker, which is not supported: delete it and what it names';
  return null;
}
