/** Refuses pages of other origins: a browser would let them reach a service on its user's own machine. */
const loopback = /^(127(\.\d+){3}|\[::1\]|localhost)$/;

/**
 * Whether a request with this Origin is served: none (no browser), the service's own, one that the operator allows, or, for a service on
 * this machine, any of this machine on the same port.
 *
 * @param allowed as in `withCors`
 */
export function isAllowedOrigin(origin: string, publicUrl: string, allowed: readonly string[]): boolean {
  if (origin === '' || allowed.includes('*') || allowed.includes(origin)) return true;
  if (!URL.canParse(origin)) return false;
  const [caller, service] = [new URL(origin), new URL(publicUrl)];
  if (caller.origin === service.origin) return true;
  return loopback.test(caller.hostname) && loopback.test(service.hostname) && caller.port === service.port;
}
