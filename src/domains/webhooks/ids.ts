/** What ids of webhooks begin with. */
export const webhooksIds = { webhook: 'wh_', delivery: 'whd_' } as const;
