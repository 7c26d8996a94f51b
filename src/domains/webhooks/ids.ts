/** Id prefixes of webhooks. */
export const webhooksIds = { webhook: 'wh_', delivery: 'whd_' } as const;
