/**
 * The number that fences commits. It grows with every change of a shard's row; who holds an older one writes nothing.
 *
 * It is also later than the database's clock, in microseconds. So where the database is set back to an earlier state, the changes that follow
 * do not give numbers again that were given before: what a node remembers under such a number then never equals what a row says. Nothing else
 * rests on that clock: within one history each number is larger than the one before, whatever the clock does.
 */

/** SQL: the epoch after `epoch`, an expression. */
export const nextEpoch = (epoch: string) => `greatest(${epoch} + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint)`;
