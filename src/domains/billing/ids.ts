/** Id prefixes of billing. */
export const billingIds = { checkout: 'cs_' } as const;
