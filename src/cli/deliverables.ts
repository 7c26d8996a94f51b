/** Saves the deliverables of a task. Their names come from agents: no name leads out of the folder or replaces an existing file. */
import { createWriteStream } from 'node:fs';
import { mkdir, realpath, stat, unlink } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { withoutTrailing } from '../trailing.ts';
import type { Client } from './client.ts';
import { Failure } from './failure.ts';

type Deliverable = { id: string; name: string };

const pageSize = 100;
const maxDeliverables = 10_000;
const maxTries = 3;
/** File systems allow 255 bytes; the rest is for a suffix. */
const maxNameBytes = 240;
const maxSuffix = 10_000;

/** The written paths, oldest deliverable first. Throws `Failure`; files that were saved before stay. */
export async function saveDeliverables(client: Client, taskId: string, folder: string, signal: AbortSignal): Promise<string[]> {
  const deliverables = await listDeliverables(client, taskId);
  if (deliverables.length === 0) return [];
  const paths: string[] = [];
  try {
    await mkdir(folder, { recursive: true });
    for (const { id, name } of deliverables.reverse()) {
      const path = `/v1/tasks/${encodeURIComponent(taskId)}/deliverables/${encodeURIComponent(id)}/download`;
      const place = await placeOf(folder, name);
      paths.push(await saveTried(client, path, place.folder, place.name, signal));
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (error instanceof Failure || code === undefined) throw error;
    throw new Failure('refused', `Files cannot be saved in ${folder} (${code}): choose another folder with --out`, { cause: error });
  }
  return paths;
}

/** The name of one plain file on any system; never hidden, never like an option, never empty. */
export function safeFileName(name: string): string {
  const printed = name
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/gu, '')
    .replace(/[/\\<>:"|?*]/g, '_');
  const plain = withoutTrailing(printed, '. ')
    .trimStart()
    .replace(/^[.~-]+/, '_');
  const usable = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i.test(plain) ? `_${plain}` : plain;
  return usable === '' ? 'file' : shortened(usable);
}

/** In the folders of its name, where these are plain names and lead nowhere else; otherwise in `folder` itself, under one name. */
async function placeOf(folder: string, name: string): Promise<{ folder: string; name: string }> {
  const segments = name.split('/');
  const within = segments.slice(0, -1);
  if (within.length > 0 && segments.every((segment) => segment === safeFileName(segment)) && (await madeWithin(folder, within)))
    return { folder: join(folder, ...within), name: segments.at(-1)! };
  return { folder, name: safeFileName(name) };
}

/** False where a file has the name of a folder, or a link leads elsewhere. */
async function madeWithin(folder: string, within: readonly string[]): Promise<boolean> {
  let path = await realpath(folder);
  for (const name of within) {
    path = join(path, name);
    await mkdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    // A link to nothing has no real path.
    if ((await realpath(path).catch(() => null)) !== path || !(await stat(path)).isDirectory()) return false;
  }
  return true;
}

function shortened(name: string): string {
  const extension = extname(name).length <= 20 ? extname(name) : '';
  let stem = basename(name, extension);
  while (Buffer.byteLength(stem + extension) > maxNameBytes)
    stem = stem
      .slice(0, -1)
      .toWellFormed()
      .replace(/\ufffd$/, '');
  return stem + extension;
}

async function listDeliverables(client: Client, taskId: string): Promise<Deliverable[]> {
  const all: Deliverable[] = [];
  for (;;) {
    const path = `/v1/tasks/${encodeURIComponent(taskId)}/deliverables?limit=${pageSize}&offset=${all.length}`;
    const page = await client.request<Deliverable[]>('GET', path);
    all.push(...page);
    if (page.length < pageSize || all.length >= maxDeliverables) return all;
  }
}

/** An interrupted download starts again. */
async function saveTried(client: Client, path: string, folder: string, name: string, signal: AbortSignal): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await save(client, path, folder, name);
    } catch (error) {
      signal.throwIfAborted();
      const { code } = error as NodeJS.ErrnoException;
      const ofDisk = typeof code === 'string' && !code.startsWith('UND_') && code !== 'ECONNRESET';
      if (error instanceof Failure || ofDisk) throw error;
      if (attempt >= maxTries)
        throw new Failure('unreachable', `${name} could not be downloaded completely: ${(error as Error).message}`, { cause: error });
    }
  }
}

async function save(client: Client, path: string, folder: string, name: string): Promise<string> {
  const response = await client.open(path);
  const { target, file } = await openNew(folder, name);
  try {
    if (response.body === null) file.end();
    else await pipeline(Readable.fromWeb(response.body), file);
    return target;
  } catch (error) {
    file.destroy();
    await unlink(target);
    throw error;
  }
}

/** The first of `name.md`, `name-2.md`, `name-3.md` that does not exist. `wx` follows no link and replaces nothing. */
async function openNew(folder: string, name: string): Promise<{ target: string; file: ReturnType<typeof createWriteStream> }> {
  const extension = extname(name);
  const stem = basename(name, extension);
  for (let suffix = 1; ; suffix++) {
    const target = join(folder, suffix === 1 ? name : `${stem}-${suffix}${extension}`);
    const file = createWriteStream(target, { flags: 'wx' });
    try {
      await new Promise((resolve, reject) => file.once('open', resolve).once('error', reject));
      return { target, file };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || suffix >= maxSuffix) throw error;
    }
  }
}
