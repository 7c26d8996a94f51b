/** Checks the owner of an object. An object of another account does not exist for the caller: the answer is the same as for an unknown id. */
import { AppError } from '../../errors.ts';
import type { AccountMode } from '../../mode.ts';
import type { Principal } from '../auth/principal.ts';

/** Returns the object if it belongs to the caller's account. Throws `not_found`. @param name of its type, for the error: 'Task' */
export function ownedBy<T extends { readonly accountId: string }>({ accountId }: Principal, resource: T | null, name: string): T {
  if (resource?.accountId !== accountId) throw new AppError('not_found', `${name} not found`);
  return resource;
}

/** Returns the object if it belongs to the caller's account and mode. Throws `not_found`. */
export function ownedInMode<T extends AccountMode>(principal: Principal, resource: T | null, name: string): T {
  if (resource?.mode !== principal.mode) throw new AppError('not_found', `${name} not found`);
  return ownedBy(principal, resource, name);
}
