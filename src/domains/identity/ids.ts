/** What ids of identity begin with. */
export const identityIds = { user: 'usr_', session: 'ses_', apiKey: 'key-' } as const;
