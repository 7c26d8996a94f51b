/** Uploads the files of a folder into a workspace: many in one request, since requests are limited, streamed from disk. */
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { type TarPart, tarEnd, tarParts } from '../tar.ts';
import type { Client } from './client.ts';
import { Failure } from './failure.ts';
import { oneLine } from './plain-text.ts';
import type { SiteFolderFile } from './site-folder.ts';

const atOnce = 4;
const uploadTimeoutMs = 3_600_000;
/** Of one request. Few requests for large sites, and progress for small ones. */
const minFiles = 50;
const maxFiles = 1_000;
const usualRequests = 40;
const maxBytes = 32 * 2 ** 20;
/** Of each file, around its content. */
const headerBytes = 4_096;

export type Uploaded = { files: number; bytes: number };

/**
 * Throws the `Failure` of the first request that is refused; then no further one is begun.
 *
 * @param onProgress called after each request, with the files uploaded so far
 */
export async function uploadSite(
  client: Client,
  workspaceId: string,
  files: readonly SiteFolderFile[],
  onProgress: (sofar: Uploaded) => void,
): Promise<void> {
  const groups = groupsOf(files);
  const waiting = groups.values();
  const sofar = { files: 0, bytes: 0 };
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    for (const group of waiting) {
      if (hasFailed) return;
      await upload(client, `/v1/workspaces/${encodeURIComponent(workspaceId)}`, group);
      sofar.files += group.length;
      sofar.bytes += group.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      onProgress({ ...sofar });
    }
  };
  const workers = Array.from({ length: Math.min(atOnce, groups.length) }, () =>
    worker().catch((error) => {
      hasFailed = true;
      throw error;
    }),
  );
  const [refused] = (await Promise.allSettled(workers)).filter((one) => one.status === 'rejected');
  if (refused !== undefined) throw refused.reason;
}

function groupsOf(files: readonly SiteFolderFile[]): SiteFolderFile[][] {
  const perGroup = Math.min(maxFiles, Math.max(minFiles, Math.ceil(files.length / usualRequests)));
  const groups: SiteFolderFile[][] = [];
  for (const file of files) {
    const last = groups.at(-1);
    const fits = last !== undefined && last.length < perGroup && weight(last) + weightOf(file) <= maxBytes;
    if (fits) last.push(file);
    else groups.push([file]);
  }
  return groups;
}

async function upload(client: Client, workspace: string, group: readonly SiteFolderFile[]): Promise<void> {
  const [first] = group;
  // A file may be as large as a whole archive.
  const path = group.length === 1 ? `${workspace}/files` : `${workspace}/archives`;
  const form = group.length === 1 ? await fileForm(first!) : await archiveForm(group);
  try {
    await client.request('POST', path, { form, timeoutMs: uploadTimeoutMs });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const options = { cause: error, ...(error.status === null ? {} : { status: error.status }) };
    const what = group.length === 1 ? oneLine(first!.name) : `${group.length} files from ${oneLine(first!.name)} on`;
    throw new Failure(error.kind, `${what} could not be uploaded. ${error.message}`, options);
  }
}

async function fileForm(file: SiteFolderFile): Promise<() => FormData> {
  const content = await blobOf(file);
  return () => {
    const data = new FormData();
    // In front of the file: the service then knows its name before the bytes come.
    data.append('path', file.name);
    data.append('file', content, basename(file.name));
    return data;
  };
}

async function archiveForm(group: readonly SiteFolderFile[]): Promise<() => FormData> {
  const parts: TarPart[] = [];
  for (const file of group) {
    const content = await blobOf(file);
    if (content.size !== file.sizeBytes) throw new Failure('refused', `${oneLine(file.name)} changed while it was read: try again`);
    parts.push(...tarParts(file, content));
  }
  const archive = new Blob([...parts, tarEnd]);
  return () => {
    const data = new FormData();
    data.append('file', archive, 'site.tar');
    return data;
  };
}

async function blobOf({ path, name }: SiteFolderFile): Promise<Blob> {
  try {
    return await openAsBlob(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (typeof code !== 'string') throw error;
    throw new Failure('refused', `${oneLine(name)} cannot be read (${code})`, { cause: error });
  }
}

function weight(files: readonly SiteFolderFile[]): number {
  return files.reduce((sum, file) => sum + weightOf(file), 0);
}

function weightOf({ sizeBytes }: SiteFolderFile): number {
  return sizeBytes + headerBytes;
}
