/** The one loose type of tests, for what came over a wire or out of the database: its shape is what a test asserts. Parts of our own code are never it. */
// biome-ignore lint/suspicious/noExplicitAny: to name every field of every answer would cost more than it finds.
export type Json = any;
