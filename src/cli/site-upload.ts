/** Uploads the files of a folder into a workspace, several at once, streamed from disk. */
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import type { Client } from './client.ts';
import { Failure } from './failure.ts';
import { oneLine } from './plain-text.ts';
import type { SiteFolderFile } from './site-folder.ts';

const atOnce = 8;
const uploadTimeoutMs = 3_600_000;

export type Uploaded = { files: number; bytes: number };

/**
 * Throws the `Failure` of the first file that is refused; then no further one is begun.
 *
 * @param told after each file, with what is uploaded so far
 */
export async function uploadSite(
  client: Client,
  workspaceId: string,
  files: readonly SiteFolderFile[],
  told: (sofar: Uploaded) => void,
): Promise<void> {
  const waiting = files.values();
  const sofar = { files: 0, bytes: 0 };
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    for (const file of waiting) {
      if (hasFailed) return;
      await upload(client, workspaceId, file);
      sofar.files++;
      sofar.bytes += file.sizeBytes;
      told({ ...sofar });
    }
  };
  const workers = Array.from({ length: Math.min(atOnce, files.length) }, () =>
    worker().catch((error) => {
      hasFailed = true;
      throw error;
    }),
  );
  const [refused] = (await Promise.allSettled(workers)).filter((one) => one.status === 'rejected');
  if (refused !== undefined) throw refused.reason;
}

async function upload(client: Client, workspaceId: string, { path, name }: SiteFolderFile): Promise<void> {
  try {
    const content = await openAsBlob(path);
    const form = () => {
      const data = new FormData();
      // In front of the file: the service then knows its name before the bytes come.
      data.append('path', name);
      data.append('file', content, basename(name));
      return data;
    };
    await client.request('POST', `/v1/workspaces/${encodeURIComponent(workspaceId)}/files`, { form, timeoutMs: uploadTimeoutMs });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof Failure) {
      const options = { cause: error, ...(error.status === null ? {} : { status: error.status }) };
      throw new Failure(error.kind, `${oneLine(name)} could not be uploaded. ${error.message}`, options);
    }
    if (typeof code === 'string') throw new Failure('refused', `${oneLine(name)} cannot be read (${code})`, { cause: error });
    throw error;
  }
}
