/** Keys of stored files: names made by this service, never by a user; any other key is a defect and must not reach a disk or a bucket. */

const segment = '[A-Za-z0-9_-][A-Za-z0-9_.-]*';
const wellFormed = new RegExp(`^${segment}(/${segment})*$`);
const maxChars = 512;

/** Returns the key. Throws if it is empty, too long or could leave its folder (`..`, a leading `/` or `.`, unexpected characters). */
export function checkedKey(key: string): string {
  if (key.length > maxChars || !wellFormed.test(key)) throw new Error(`not a file key: ${JSON.stringify(key.slice(0, 80))}`);
  return key;
}
