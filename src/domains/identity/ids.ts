/** Id prefixes of identity. */
export const identityIds = { user: 'usr_', session: 'ses_', apiKey: 'key-' } as const;
