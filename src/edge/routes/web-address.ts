/** Addresses to which this service redirects people. */

export const webAddressRule =
  'Give an https URL, or an http one of this very machine (127.0.0.1, [::1], localhost), without a user or blanks';

/**
 * https anywhere, http on loopback only. A user part is refused: `https://bank.example@evil.example` looks like another host; so are blanks and
 * control characters, which the URL parser removes silently: the address would not be the one that was given.
 */
export function isWebAddress(text: string): boolean {
  if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && /^(127(\.\d+){3}|\[::1\]|localhost)$/.test(hostname));
}
