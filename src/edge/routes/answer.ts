/** A JSON answer whose status keeps its literal type, so that the compiler checks its body against the route's schema for that status. */

export function answer<const S extends number, V>(status: S, json: V, headers?: Record<string, string>) {
  return { status, json, headers };
}
