/** What ids of accounts begin with. */
export const accountsIds = { account: 'acct_', invoice: 'inv_' } as const;
