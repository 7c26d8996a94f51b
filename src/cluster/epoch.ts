/**
 * The number that fences commits. It grows with every change of a shard's row; an owner with an older number can write nothing.
 *
 * It is also greater than the database's clock in microseconds. So if the database is set back to an earlier state, later changes do not
 * reuse earlier numbers: an epoch in a node's memory then never equals a new epoch in a row. Nothing else depends on that clock: within one
 * history each number is larger than the one before, whatever the clock shows.
 */

/** SQL: the epoch after `epoch`, an expression. */
export const nextEpoch = (epoch: string) => `greatest(${epoch} + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint)`;
