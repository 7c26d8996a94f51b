/** The parts a node has started, in order; they are stopped in reverse. `graceMs`: how long a leaving node still accepts, so that balancers notice. */
export type Disposers = ((graceMs: number) => Promise<unknown> | unknown)[];
