/** A JSON answer whose status keeps its literal type, so that the compiler holds it against the schema the route declares for that status. */

export function answer<const S extends number, V>(status: S, json: V, headers?: Record<string, string>) {
  return { status, json, headers };
}
