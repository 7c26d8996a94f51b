/** Checks an MCP server's address and headers before anything is sent. */
import { AppError, type Issue, invalidField } from '../../../errors.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import { withoutSecrets } from './protocol/secrets-sent.ts';

const at = ['body', 'url'];
/** Headers that the protocol sets, or that apply to the connection only. */
const ownHeaders =
  /^(host|connection|keep-alive|content-.*|transfer-encoding|te|upgrade|accept|accept-encoding|mcp-.*|last-event-id|expect|trailer)$/i;
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
const headerValue = /^[\x20-\x7e]{0,8192}$/;

/** Throws `invalid` for `url`. The name is resolved when a connection is made. */
export function checkAddress(outbound: Pick<Outbound, 'check'>, address: string): string {
  let url: URL;
  try {
    url = new URL(address);
    outbound.check(url.href);
  } catch (error) {
    const shown = URL.canParse(address) ? withoutSecrets(address) : address;
    throw invalidField(at, error instanceof AppError ? error.message : 'Not a web address', 'value_error', shown);
  }
  if (url.protocol === 'http:' && !isLoopback(url))
    throw invalidField(at, 'An MCP server needs an https address', 'value_error', withoutSecrets(address));
  url.hash = '';
  return url.href;
}

/** Throws `invalid` for headers that cannot be sent. Errors do not contain their values. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const wrong = Object.entries(headers).filter(([name, value]) => !token.test(name) || ownHeaders.test(name) || !headerValue.test(value));
  if (wrong.length === 0) return;
  const issues = wrong.map(([name]): Issue => {
    return { loc: ['body', 'headers', name], msg: 'This header cannot be sent', type: 'value_error', input: null, ctx: {} };
  });
  throw new AppError('invalid', 'A header cannot be sent', { issues });
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
