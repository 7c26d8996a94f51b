/**
 * The only untyped type of tests, for values from the network or the database: a test asserts their form. Values of our own code never
 * have it.
 */
// biome-ignore lint/suspicious/noExplicitAny: to name every field of every answer would cost more than it finds.
export type Json = any;
