/**
 * What an account stores, in bytes and files: the one place that decides whether one more fits its plan, so that uploads at the same time
 * cannot exceed the limits together. Files tell it of every change by a message of the same commit.
 */
import { AccountStorage, type AccountStorageRow } from '../../storage/entities/account.ts';
import { defineActor, type Turn, type TurnContext } from '../runtime/define-actor.ts';
import { type AccountStorageContract, accountStorage, type Reservation, type StorageUse } from './messages.ts';
import { mustFit } from './room.ts';

type State = AccountStorageRow | null;

/** Longer than any upload's last step takes; what a node that died had reserved is free again then. */
const reservedForMs = 600_000;

export const accountStorageActor = defineActor<AccountStorageRow, AccountStorageContract>({
  ref: accountStorage,
  entity: AccountStorage,
  commands: { reserve, release, changed },
  queries: { used: (state) => used(state) },
});

function reserve(state: State, { contentKey, fileId, sizeBytes, replacesBytes, limits }: Reservation, ctx: TurnContext): Turn<State, null> {
  const row = present(state, ctx);
  if (row.reserved.some((one) => one.contentKey === contentKey)) return { state, reply: null };
  const reserved = row.reserved.filter(({ untilMs }) => untilMs > ctx.nowMs);
  // Of several contents on their way into one file, one takes the place of what is there now.
  const isFirst = !reserved.some((one) => one.fileId === fileId);
  const bytes = isFirst ? Math.max(0, sizeBytes - (replacesBytes ?? 0)) : sizeBytes;
  const files = isFirst && replacesBytes === null ? 1 : 0;
  mustFit(used({ ...row, reserved }), { bytes, files }, limits);
  const one = { contentKey, fileId, bytes, files, untilMs: ctx.nowMs + reservedForMs };
  return { state: { ...row, reserved: [...reserved, one] }, reply: null };
}

function release(state: State, { contentKey }: { contentKey: string }): Turn<State, null> {
  return { state: state === null ? state : without(state, contentKey), reply: null };
}

function changed(state: State, input: { contentKey: string | null } & StorageUse, ctx: TurnContext): Turn<State, null> {
  const row = without(present(state, ctx), input.contentKey);
  return { state: { ...row, bytes: row.bytes + input.bytes, files: row.files + input.files }, reply: null };
}

function present(state: State, { id }: TurnContext): AccountStorageRow {
  return state ?? ({ id, bytes: 0, files: 0, reserved: [] } as unknown as AccountStorageRow);
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
