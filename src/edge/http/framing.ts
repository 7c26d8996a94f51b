/**
 * Determines from the headers where a request ends. If a proxy and this server read that differently, a second request can be smuggled past
 * the proxy. So ambiguous headers are refused, and a chunked request is the last of its connection, because uWebSockets.js parses chunks
 * less strictly than others do.
 */

/** Headers that may occur only once: of two, a proxy before us may have used the other. */
const single = new Map([
  ['host', 1],
  ['content-length', 2],
  ['transfer-encoding', 4],
  ['authorization', 8],
]);
const lengthSeen = 2;
const chunkedSeen = 4;

/** One instance serves all requests of a server: `headers` and the other fields belong to the request whose headers were collected last. */
export class Framing {
  /** Lower-case names and their values, alternating. */
  headers: string[] = [];
  /** The request must be refused and its connection closed. */
  isMalformed = false;
  private seen = 0;

  /** @param method upper case */
  begin(method: string): void {
    this.headers = [];
    this.seen = 0;
    this.isMalformed = !(method === 'GET' || method === 'POST' || /^[A-Z][A-Z-]{1,19}$/.test(method));
  }

  /** Collects one header. A property, because it is passed to uWebSockets.js as a callback. */
  readonly collect = (name: string, value: string): void => {
    this.headers.push(name, value);
    const bit = single.get(name);
    if (bit === undefined) return;
    if ((this.seen & bit) !== 0 || (bit === chunkedSeen && value.toLowerCase() !== 'chunked') || (bit === lengthSeen && value === ''))
      this.isMalformed = true;
    this.seen |= bit;
  };

  /** Later requests on the connection must not be served. */
  get isLast(): boolean {
    return this.isMalformed || (this.seen & chunkedSeen) !== 0;
  }

  /** Length of the body; null: chunked; undefined: no body. */
  get bodyBytes(): number | null | undefined {
    if ((this.seen & lengthSeen) !== 0) return Number(this.headers[this.headers.indexOf('content-length') + 1]);
    return (this.seen & chunkedSeen) === 0 ? undefined : null;
  }
}
