/** What a node has started, in order; stopping goes backwards. `graceMs`: how long a leaving node still accepts, so that balancers notice. */
export type Disposers = ((graceMs: number) => Promise<unknown> | unknown)[];
