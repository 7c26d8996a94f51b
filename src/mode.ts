/** Live or test: the mode of an API key, and of everything of commerce that the key or one of its tasks makes. Test mode moves no real money. */

export const modes = ['live', 'test'] as const;
export type Mode = (typeof modes)[number];

/** An account in one of its two modes: each has a wallet, cards and orders of its own. */
export type AccountMode = { readonly accountId: string; readonly mode: Mode };
