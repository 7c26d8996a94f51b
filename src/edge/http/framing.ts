/**
 * Where a request ends, from its headers. Two readings of that are how a second request is smuggled past a proxy: so what could be read twice
 * is refused, and a chunked request, whose chunks uWebSockets.js reads less strictly than others do, is the last of its connection.
 */

/** Headers that must stand once: of two, a proxy before us may have believed the other. */
const single = new Map([
  ['host', 1],
  ['content-length', 2],
  ['transfer-encoding', 4],
  ['authorization', 8],
]);
const lengthSeen = 2;
const chunkedSeen = 4;

/** One for all requests of a server: `headers` and the rest are of the request whose headers were collected last. */
export class Framing {
  /** Lower-case names and their values in turn. */
  headers: string[] = [];
  /** The request must be refused and its connection ended. */
  isMalformed = false;
  private seen = 0;

  /** @param method upper case */
  begin(method: string): void {
    this.headers = [];
    this.seen = 0;
    this.isMalformed = !(method === 'GET' || method === 'POST' || /^[A-Z][A-Z-]{1,19}$/.test(method));
  }

  /** Takes one header; a function of its own, since it is handed to uWebSockets.js. */
  readonly collect = (name: string, value: string): void => {
    this.headers.push(name, value);
    const bit = single.get(name);
    if (bit === undefined) return;
    if ((this.seen & bit) !== 0 || (bit === chunkedSeen && value.toLowerCase() !== 'chunked') || (bit === lengthSeen && value === ''))
      this.isMalformed = true;
    this.seen |= bit;
  };

  /** Nothing behind this request may be served on its connection. */
  get isLast(): boolean {
    return this.isMalformed || (this.seen & chunkedSeen) !== 0;
  }

  /** Bytes of its body; null: in chunks; undefined: it has none. */
  get bodyBytes(): number | null | undefined {
    if ((this.seen & lengthSeen) !== 0) return Number(this.headers[this.headers.indexOf('content-length') + 1]);
    return (this.seen & chunkedSeen) === 0 ? undefined : null;
  }
}
