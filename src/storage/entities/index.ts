/** Every entity of the platform, for the ORM and for the tables the commit path writes; domains bring their own. */
export * from './runtime.ts';
