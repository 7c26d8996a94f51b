/**
 * E-mail addresses, international ones too (RFC 6531: letters of any script in the local part and in the domain). Wherever one is taken or
 * compared, it is by these rules, so that one address is one account however it is typed.
 */
import { domainToASCII } from 'node:url';

const maxAddressBytes = 254;
const maxLocalBytes = 64;
const maxDomainChars = 253;
const maxLabelChars = 63;
/** What stands between two dots of a local part that needs no quotes. Invisible and control characters are none of these. */
const atom = /^[\p{L}\p{Nd}\p{M}!#$%&'*+/=?^_`{|}~-]+$/u;
const domainText = /^[\p{L}\p{Nd}\p{M}.-]+$/u;
/** Some letters and marks show nothing, as the Hangul filler. */
const invisible = /\p{Default_Ignorable_Code_Point}/u;
const startsWithMark = /^\p{M}/u;
const notAscii = /[^\u0000-\u007f]/;
const label = /^[a-z0-9-]+$/;
const digits = /^[0-9]+$/;

type Parts = { local: string /** In the form of the DNS: ASCII, lower case. */; domain: string };

/** Whether this is an address that a mail can be sent to, such as ann@example.com or jörg@müller.example. */
export function isEmailAddress(text: string): boolean {
  return partsOf(text) !== null;
}

/**
 * What an address is compared by: neither case, nor the way in which letters are composed, nor that of the domain (`müller.example`,
 * `xn--mller-kva.example`) tells two apart. Any other text gives a text, too, that is none of an address.
 */
export function emailKey(text: string): string {
  const parts = partsOf(text);
  return parts === null ? text.normalize('NFC').toLowerCase() : `${folded(parts.local)}@${parts.domain}`;
}

/** The address as mail servers take it: its domain in ASCII. */
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
  // Only what needs it: a domain of digits would be read as an address of IPv4.
  const ascii = notAscii.test(text) || lower.includes('xn--') ? domainToASCII(text) : lower;
  const labels = ascii.split('.');
  if (ascii.length > maxDomainChars || labels.length < 2 || digits.test(labels.at(-1)!)) return null;
  const isLabel = (one: string) => one.length <= maxLabelChars && label.test(one) && !one.startsWith('-') && !one.endsWith('-');
  return labels.every(isLabel) ? ascii : null;
}

/** Letters of other widths and fonts count as the plain ones; the Greek sigma at the end of a word as any other. */
function folded(local: string): string {
  return local.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ').normalize('NFKC');
}
