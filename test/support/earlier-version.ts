/** The program of an earlier commit, in a separate folder, with the packages of the current one. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownProgram } from './node-process.ts';

export type EarlierVersion = { commit: string; program: string };

const git = async (...args: string[]) => (await promisify(execFile)('git', ['-C', ownProgram, ...args])).stdout.trim();

/** The short id of a commit; null where there is none of that name, or no repository. */
export async function commitNamed(name: string): Promise<string | null> {
  return git('rev-parse', '--verify', '--short', '--quiet', `${name}^{commit}`).catch(() => null);
}

/** @param folder is made, and is the caller's to remove */
export async function unpack(commit: string, folder: string): Promise<EarlierVersion> {
  await mkdir(folder, { recursive: true });
  const archive = spawn('git', ['-C', ownProgram, 'archive', '--format=tar', commit], { stdio: ['ignore', 'pipe', 'inherit'] });
  const extract = spawn('tar', ['--extract', '--directory', folder], { stdio: [archive.stdout, 'inherit', 'inherit'] });
  const codes = await Promise.all([archive, extract].map(async (child) => (await once(child, 'exit'))[0]));
  if (codes.some((code) => code !== 0)) throw new Error(`The program of ${commit} could not be unpacked into ${folder}`);
  await symlink(join(ownProgram, 'node_modules'), join(folder, 'node_modules'));
  return { commit, program: folder };
}
