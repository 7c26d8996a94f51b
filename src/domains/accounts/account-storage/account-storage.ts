/**
 * The stored bytes and files of an account: the only place that decides whether one more fits its plan, so that concurrent uploads cannot
 * exceed the limits together. Files report every change by a message of the same commit; periodically the register is reconciled with the
 * files.
 */

import type { ActorDefinition, EffectResult, EffectsOf, Turn, TurnContext } from '../../../actors/define-actor.ts';
import { countEveryMs, recountMs } from './count.ts';
import { AccountStorage, type AccountStorageRow } from './entity.ts';
import { accountStorageInputs } from './inputs.ts';
import { type AccountStorageContract, accountStorage, type Reservation, type StorageUse } from './messages.ts';
import { mustFit } from './storage-limits.ts';

type State = AccountStorageRow | null;

/** Longer than the last step of any upload; after it the reservation of a failed node is released. */
const reservedForMs = 600_000;

export function accountStorageActor(
  effects: EffectsOf<AccountStorageContract>,
): ActorDefinition<AccountStorageRow, AccountStorageContract> {
  return {
    ref: accountStorage,
    entity: AccountStorage,
    inputs: accountStorageInputs,
    commands: { reserve, release, changed, recount, counted },
    queries: { used: (state) => used(state) },
    effects,
  };
}

function reserve(
  state: State,
  { contentKey, fileId, sizeBytes, replacesBytes, limits }: Reservation,
  ctx: TurnContext<AccountStorageContract>,
): Turn<State, null> {
  const row = present(state, ctx);
  if (row.reserved.some((one) => one.contentKey === contentKey)) return { state, reply: null };
  const reserved = row.reserved.filter(({ untilMs }) => untilMs > ctx.nowMs);
  // Of several contents being put into one file, only one replaces the current content.
  const isFirst = !reserved.some((one) => one.fileId === fileId);
  const bytes = isFirst ? Math.max(0, sizeBytes - (replacesBytes ?? 0)) : sizeBytes;
  const files = isFirst && replacesBytes === null ? 1 : 0;
  mustFit(used({ ...row, reserved }), { bytes, files }, limits);
  const one = { contentKey, fileId, bytes, files, untilMs: ctx.nowMs + reservedForMs };
  return { state: countedNow({ ...row, reserved: [...reserved, one] }, countEveryMs, ctx), reply: null };
}

function release(state: State, { contentKey }: { contentKey: string }): Turn<State, null> {
  return { state: state === null ? state : without(state, contentKey), reply: null };
}

function changed(
  state: State,
  input: { contentKey: string | null } & StorageUse,
  ctx: TurnContext<AccountStorageContract>,
): Turn<State, null> {
  const row = without(present(state, ctx), input.contentKey);
  const next = { ...row, bytes: row.bytes + input.bytes, files: row.files + input.files };
  return { state: countedNow(next, countEveryMs, ctx), reply: null };
}

function recount(state: State, _input: null, ctx: TurnContext<AccountStorageContract>): Turn<State, null> {
  return { state: countedNow(present(state, ctx), recountMs, ctx), reply: null };
}

/** Adds the difference found by the count; changes reported since then are already included. */
function counted(state: State, { outcome }: EffectResult<StorageUse>): Turn<State, null> {
  if (state === null) return { state, reply: null };
  if (outcome.kind !== 'done') return { state: { ...state, countedAt: null }, reply: null };
  const { bytes, files } = outcome.value;
  if (bytes === 0 && files === 0) return { state, reply: null };
  return { state: { ...state, bytes: Math.max(0, state.bytes + bytes), files: Math.max(0, state.files + files) }, reply: null };
}

function countedNow(row: AccountStorageRow, everyMs: number, ctx: TurnContext<AccountStorageContract>): AccountStorageRow {
  if (row.countedAt !== null && ctx.nowMs - row.countedAt < everyMs) return row;
  ctx.run('count', {});
  return { ...row, countedAt: ctx.nowMs };
}

function present(state: State, { id }: TurnContext<AccountStorageContract>): AccountStorageRow {
  return state ?? { id, bytes: 0, files: 0, reserved: [], countedAt: null };
}

function without(row: AccountStorageRow, contentKey: string | null): AccountStorageRow {
  return { ...row, reserved: row.reserved.filter((one) => one.contentKey !== contentKey) };
}

function used(state: State): StorageUse {
  const { bytes = 0, files = 0, reserved = [] } = state ?? {};
  return {
    bytes: reserved.reduce((sum, one) => sum + one.bytes, bytes),
    files: reserved.reduce((sum, one) => sum + one.files, files),
  };
}
