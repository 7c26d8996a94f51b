/** The lifetime of a test, or of another owner that reports its end. */
export type Scope = { after(end: () => unknown): void };
