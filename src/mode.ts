/** Live or test: the mode of an API key, and of everything of commerce that the key or one of its tasks makes. Test mode moves no real money. */

export const modes = ['live', 'test'] as const;
export type Mode = (typeof modes)[number];

/** An account in one of its two modes: each has a wallet, cards and orders of its own. */
export type AccountMode = { readonly accountId: string; readonly mode: Mode };

const testPrefix = 'test_';

/** The id of an actor of which an account has one in each mode. A live one has the account's id; a test one ends like it. */
export function idInMode({ accountId, mode }: AccountMode): string {
  return mode === 'test' ? `${testPrefix}${accountId}` : accountId;
}

/** The account and the mode that `idInMode` made an id of. */
export function accountModeOf(id: string): AccountMode {
  if (!id.startsWith(testPrefix)) return { accountId: id, mode: 'live' };
  return { accountId: id.slice(testPrefix.length), mode: 'test' };
}
