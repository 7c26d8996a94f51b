/** Live or test: the mode of an API key, and of everything in commerce that the key or its tasks create. Test mode moves no real money. */

export const modes = ['live', 'test'] as const;
export type Mode = (typeof modes)[number];

/** An account in one of its two modes: each has its own wallet, cards and orders. */
export type AccountMode = { readonly accountId: string; readonly mode: Mode };

const testPrefix = 'test_';

/** The id of an actor that an account has in each mode. A live one has the account's id; a test one has a prefix before it. */
export function idInMode({ accountId, mode }: AccountMode): string {
  return mode === 'test' ? `${testPrefix}${accountId}` : accountId;
}

/** The account and mode of an id made by `idInMode`. */
export function accountModeOf(id: string): AccountMode {
  if (!id.startsWith(testPrefix)) return { accountId: id, mode: 'live' };
  return { accountId: id.slice(testPrefix.length), mode: 'test' };
}
