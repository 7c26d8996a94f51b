/** What lives as long as a test, or whatever else says when it ends. */
export type Scope = { after(end: () => unknown): void };
