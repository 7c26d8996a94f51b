/** Status lines of answers. */
import { STATUS_CODES } from 'node:http';

const lines = new Map<number, string>();
for (const [code, reason] of Object.entries(STATUS_CODES)) lines.set(Number(code), `${code} ${reason}`);

/** E.g. `404 Not Found`. */
export function statusLine(status: number): string {
  return lines.get(status) ?? String(status);
}
