/** Milliseconds by the machine's monotonic clock, which all processes read alike. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
