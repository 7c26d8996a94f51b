/** Id prefixes of accounts. */
export const accountsIds = { account: 'acct_', invoice: 'inv_' } as const;
