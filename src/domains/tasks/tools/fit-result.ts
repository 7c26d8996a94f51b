/** Makes a tool's result small enough to be recorded, keeping its structure if possible. */

/**
 * `value` as JSON data of at most `maxBytes` when written out. For a value that is too long, first its longest texts are truncated; then it
 * becomes the beginning of its JSON as text. Throws if `value` cannot be JSON.
 */
export function fitResult(value: unknown, maxBytes: number): unknown {
  const json = JSON.stringify(value) ?? 'null';
  if (Buffer.byteLength(json) <= maxBytes) return JSON.parse(json);
  for (let maxChars = maxBytes; maxChars >= 256; maxChars = Math.floor(maxChars / 2)) {
    const shorter = JSON.stringify(value, (_key, part) => (typeof part === 'string' ? cut(part, maxChars) : part));
    if (Buffer.byteLength(shorter) <= maxBytes) return JSON.parse(shorter);
  }
  // JSON within JSON: quotes and backslashes are escaped twice.
  let start = json;
  do start = start.slice(0, Math.min(maxBytes, Math.floor(start.length * 0.7)));
  while (Buffer.byteLength(JSON.stringify(start)) > maxBytes - 200);
  return { truncated: true, note: `The result has ${json.length} characters of JSON; this is its beginning.`, json_start: start };
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}… [cut, ${text.length} characters in all]`;
}
