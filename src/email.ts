/**
 * E-mail addresses, including international ones (RFC 6531: letters of any script in the local part and in the domain). All input and
 * comparison of addresses uses these rules, so that one address is one account in any spelling.
 */
import { domainToASCII } from 'node:url';

const maxAddressBytes = 254;
const maxLocalBytes = 64;
const maxDomainChars = 253;
const maxLabelChars = 63;
/** A part of an unquoted local part between two dots. Invisible and control characters are not allowed. */
const atom = /^[\p{L}\p{Nd}\p{M}!#$%&'*+/=?^_`{|}~-]+$/u;
const domainText = /^[\p{L}\p{Nd}\p{M}.-]+$/u;
/** Some letters and marks are invisible, e.g. the Hangul filler. */
const invisible = /\p{Default_Ignorable_Code_Point}/u;
const startsWithMark = /^\p{M}/u;
const notAscii = /[^\u0000-\u007f]/;
const label = /^[a-z0-9-]+$/;
const digits = /^[0-9]+$/;

type Parts = { local: string /** In DNS form: ASCII, lower case. */; domain: string };

/** Whether a mail can be sent to this address, e.g. ann@example.com or jörg@müller.example. */
export function isEmailAddress(text: string): boolean {
  return partsOf(text) !== null;
}

/**
 * The key by which addresses are compared: case, Unicode composition and the form of the domain (`müller.example`, `xn--mller-kva.example`)
 * make no difference. Any other text also gives a key, which equals no address's key.
 */
export function emailKey(text: string): string {
  const parts = partsOf(text);
  return parts === null ? text.normalize('NFC').toLowerCase() : `${folded(parts.local)}@${parts.domain}`;
}

/** The address for mail servers, with its domain in ASCII. */
export function mailboxOf(address: string): string {
  const parts = partsOf(address);
  return parts === null ? address : `${parts.local}@${parts.domain}`;
}

function partsOf(text: string): Parts | null {
  if (text.length > maxAddressBytes) return null;
  const address = text.normalize('NFC');
  const at = address.lastIndexOf('@');
  if (at < 1 || invisible.test(address)) return null;
  const local = address.slice(0, at);
  const isLocal = local.split('.').every((part) => atom.test(part) && !startsWithMark.test(part));
  if (!isLocal || Buffer.byteLength(local) > maxLocalBytes) return null;
  const domain = asciiDomain(address.slice(at + 1));
  if (domain === null || Buffer.byteLength(local) + 1 + domain.length > maxAddressBytes) return null;
  return { local, domain };
}

function asciiDomain(text: string): string | null {
  if (!domainText.test(text)) return null;
  const lower = text.toLowerCase();
  // Only if needed: a domain of digits would be read as an IPv4 address.
  const ascii = notAscii.test(text) || lower.includes('xn--') ? domainToASCII(text) : lower;
  const labels = ascii.split('.');
  if (ascii.length > maxDomainChars || labels.length < 2 || digits.test(labels.at(-1)!)) return null;
  const isLabel = (one: string) => one.length <= maxLabelChars && label.test(one) && !one.startsWith('-') && !one.endsWith('-');
  return labels.every(isLabel) ? ascii : null;
}

/** Letters of other widths and fonts equal the plain ones; a final Greek sigma equals a normal one. */
function folded(local: string): string {
  return local.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ').normalize('NFKC');
}
