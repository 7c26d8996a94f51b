/** The trace fields of log lines. */

/** `trace_id`, taken from a W3C `traceparent`; no field if nothing is traced. */
export function traceFields(traceparent: string | null | undefined): { trace_id?: string } {
  return traceparent === null || traceparent === undefined ? {} : { trace_id: traceparent.slice(3, 35) };
}
