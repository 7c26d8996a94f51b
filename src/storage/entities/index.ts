/** All entities of the platform, for the ORM and for the commit path's tables; domains add their own. */
export * from './runtime.ts';
