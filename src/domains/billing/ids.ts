/** What ids of billing begin with. */
export const billingIds = { checkout: 'cs_' } as const;
