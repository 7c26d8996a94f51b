/** The mode (live or test) of objects that a key creates, and the mode that a user asks to see. */
import Type from 'typebox';
import { AppError } from '../../errors.ts';
import { type AccountMode, type Mode, modes } from '../../mode.ts';
import type { Principal } from '../auth/principal.ts';

/** For the description of operations whose answers depend on the mode. */
export const modeNote = 'A test key sees and makes those of test mode alone; live keys and sessions those of live mode.';

export const ModeField = Type.Enum([...modes], {
  description: 'The mode of the key that created the resource. `test`: no real money is moved',
});

/** Keys have one mode; users see both. */
export const ModeQuery = Type.Object({
  mode: Type.Optional(Type.Enum([...modes], { description: 'For sessions the default is `live`. A key may only name its own mode' })),
});

/** The account and mode to list. Throws `forbidden` for a key that asks for the other mode. */
export function requestedMode({ accountId, kind, mode: own }: Principal, requested: Mode = own): AccountMode {
  if (requested !== own && kind !== 'session') throw new AppError('forbidden', `This is a ${own} key`);
  return { accountId, mode: requested };
}

/** Throws `forbidden` for a test key that would continue or end live work, which may spend real money. */
export function mustDirect({ mode }: Principal, work: { readonly mode: Mode }): void {
  if (mode === 'test' && work.mode === 'live') throw new AppError('forbidden', 'A test key cannot act on live work');
}
