/** When a token ends, and from when a call renews it before it is used. */

const renewBeforeMs = 5 * 60_000;

export type TokenLife = { expiresAt: number | null; renewAt: number | null };

/** Renewed in the last fifth of its life, and in the last five minutes of a long one. `expiresInMs`: null where it is unknown. */
export function lifeOf(expiresInMs: number | null, nowMs: number): TokenLife {
  if (expiresInMs === null) return { expiresAt: null, renewAt: null };
  const expiresAt = nowMs + Math.floor(expiresInMs);
  return { expiresAt, renewAt: expiresAt - Math.floor(Math.min(renewBeforeMs, expiresInMs / 5)) };
}
