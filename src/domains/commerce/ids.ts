/** Id prefixes of commerce. */
export const commerceIds = { card: 'crd_', transaction: 'txn_', authorization: 'authz_', purchaseOrder: 'po_' } as const;
