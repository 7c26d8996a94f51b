/** Uploads a user's files into a workspace, streamed from disk, before the task that reads them is created. */
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import type { Client } from './client.ts';
import { Failure } from './failure.ts';
import { oneLine } from './plain-text.ts';

const uploadTimeoutMs = 3_600_000;
const maxNameChars = 150;

/**
 * A new workspace named after the run, or the given one, with the files in it. If one file is refused the others are removed.
 *
 * @param nowText makes the name unique in the account
 */
export async function uploadFiles(
  client: Client,
  run: { prompt: string; files: string[]; workspaceId: string | null; nowText: string },
): Promise<string> {
  const id = run.workspaceId ?? (await newWorkspace(client, `${run.nowText} ${oneLine(run.prompt, maxNameChars)}`.toWellFormed()));
  const folder = `/v1/workspaces/${encodeURIComponent(id)}/files`;
  const uploaded: string[] = [];
  try {
    for (const path of run.files) uploaded.push(await upload(client, folder, path));
  } catch (error) {
    // Files of a given workspace may have become new versions; only a new workspace is emptied.
    if (run.workspaceId === null)
      for (const file of uploaded) await client.request('DELETE', `${folder}/${file}`, { retries: 0 }).catch(() => {});
    throw error;
  }
  return id;
}

async function newWorkspace(client: Client, name: string): Promise<string> {
  const { id } = await client.request<{ id: string }>('POST', '/v1/workspaces', { json: { name } });
  return id;
}

async function upload(client: Client, folder: string, path: string): Promise<string> {
  const name = basename(path).normalize('NFC');
  try {
    const content = await openAsBlob(path);
    const form = () => {
      const data = new FormData();
      data.append('file', content, name);
      return data;
    };
    const { id } = await client.request<{ id: string }>('POST', folder, { form, timeoutMs: uploadTimeoutMs });
    return id;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Failure(error.kind, `${oneLine(name)} could not be uploaded. ${error.message}`, {
      status: error.status ?? undefined,
      cause: error,
    });
  }
}
