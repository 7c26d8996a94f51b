/** Whether more fits into the storage limits of an account's plan. */

import type { ActorSystem } from '../../../actors/actor-system.ts';
import { AppError } from '../../../errors.ts';
import { planLimits, unlimited } from '../../../plans.ts';
import { account } from '../account/messages.ts';
import { limitsFor } from '../account/usage.ts';
import type { StorageUse } from './messages.ts';

export async function storageLimits(actors: ActorSystem, accountId: string): Promise<StorageUse> {
  const row = await actors.query(account, accountId, 'get', null);
  const { storageBytes: bytes, storageFiles: files } = row === null ? planLimits.free : limitsFor(row);
  return { bytes, files };
}

/** Throws `plan_required` if `more` does not fit. A replacement that is not larger always fits. */
export function mustFit(used: StorageUse, more: StorageUse, limits: StorageUse): void {
  const exceeds = (name: keyof StorageUse) => more[name] > 0 && limits[name] !== unlimited && used[name] + more[name] > limits[name];
  if (!exceeds('bytes') && !exceeds('files')) return;
  throw new AppError(
    'plan_required',
    `There is no room for ${more.files > 1 ? 'these files' : 'this file'}: the account stores ${sizeText(used.bytes)} in ${count(used.files)} files, and may store ${
      limits.bytes === unlimited ? 'any size' : sizeText(limits.bytes)
    } in ${limits.files === unlimited ? 'any number of' : count(limits.files)} files. Delete files or change the plan`,
  );
}

export function sizeText(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let power = 0;
  while (power < units.length - 1 && bytes >= 1024 ** (power + 1)) power++;
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1).replace(/\.0$/, '')} ${units[power]}`;
}

function count(files: number): string {
  return files.toLocaleString('en-US');
}
