/** Every entity, for the ORM and for the tables the commit path writes. */
export * from './account.ts';
export * from './checkout.ts';
export * from './identity.ts';
export * from './issuing.ts';
export * from './money.ts';
export * from './order.ts';
export * from './renewal.ts';
export * from './runtime.ts';
export * from './webhook.ts';
export * from './work.ts';
