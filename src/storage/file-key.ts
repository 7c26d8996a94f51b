/** Keys of stored files: our own names, never a user's, so anything else is a defect that must not reach a disk or a bucket. */

const segment = '[A-Za-z0-9_-][A-Za-z0-9_.-]*';
const wellFormed = new RegExp(`^${segment}(/${segment})*$`);
const maxChars = 512;

/** The key itself. Throws where it is empty, too long or could lead out of its place (`..`, a leading `/` or `.`, odd characters). */
export function checkedKey(key: string): string {
  if (key.length > maxChars || !wellFormed.test(key)) throw new Error(`not a file key: ${JSON.stringify(key.slice(0, 80))}`);
  return key;
}
