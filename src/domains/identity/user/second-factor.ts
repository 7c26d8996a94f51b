/**
 * A user's second factor: none → pending → enabled → none. Other code decrypts the secret and checks the code; here it is consumed, so that
 * of two requests with the same code one succeeds.
 */

import type { Turn } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import type { SecondFactor, UserRow } from './entity.ts';
import type { Proof } from './messages.ts';

export function enroll(state: UserRow | null, { sealed }: { sealed: string }): Turn<UserRow, null> {
  if (state === null) throw new AppError('not_found', 'User not found');
  if (state.secondFactor?.status === 'enabled') throw new AppError('conflict', 'There is a second factor already; disable it first');
  return { state: { ...state, secondFactor: { status: 'pending', sealed, lastStep: 0, recoveryHashes: [] } }, reply: null };
}

export function confirm(
  state: UserRow | null,
  { sealed, step, recoveryHashes }: { sealed: string; step: number; recoveryHashes: string[] },
): Turn<UserRow | null, boolean> {
  const begun = state?.secondFactor;
  if (begun?.status !== 'pending' || begun.sealed !== sealed) return { state, reply: false };
  return { state: { ...state!, secondFactor: { status: 'enabled', sealed, lastStep: step, recoveryHashes } }, reply: true };
}

export function useCode(
  state: UserRow | null,
  { proof, generation, resealed }: { proof: Proof; generation: number | null; resealed: string | null },
): Turn<UserRow | null, boolean> {
  if (state === null || (generation !== null && state.generation !== generation)) return { state, reply: false };
  const left = without(state.secondFactor, proof);
  if (left === null) return { state, reply: false };
  return { state: { ...state, secondFactor: { ...left, sealed: resealed ?? left.sealed } }, reply: true };
}

export function canUseCode(state: UserRow | null, { proof, generation }: { proof: Proof; generation: number | null }): boolean {
  if (state === null || (generation !== null && state.generation !== generation)) return false;
  return without(state.secondFactor, proof) !== null;
}

export function disable(state: UserRow | null, { proof }: { proof: Proof }): Turn<UserRow | null, boolean> {
  if (state === null || without(state.secondFactor, proof) === null) return { state, reply: false };
  return { state: { ...state, secondFactor: null }, reply: true };
}

/** The second factor after the code is consumed; null if it cannot be consumed. */
function without(factor: SecondFactor | null | undefined, proof: Proof): SecondFactor | null {
  if (factor?.status !== 'enabled') return null;
  if ('step' in proof) return proof.step > factor.lastStep ? { ...factor, lastStep: proof.step } : null;
  const recoveryHashes = factor.recoveryHashes.filter((hash) => hash !== proof.recoveryHash);
  return recoveryHashes.length < factor.recoveryHashes.length ? { ...factor, recoveryHashes } : null;
}
