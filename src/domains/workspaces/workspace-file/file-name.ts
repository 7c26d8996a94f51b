/** Valid names of a file in a workspace: one plain name, the same on every system, in Unicode's composed form. */

const maxNameBytes = 255;

/** The stored name, or an error text for the caller. */
export function checkFileName(raw: string): { name: string } | { problem: string } {
  if (!raw.isWellFormed()) return { problem: 'A file name must be well-formed Unicode' };
  const name = raw.normalize('NFC');
  if (name.trim() === '') return { problem: 'A file name must not be empty' };
  if (/[/\\]/.test(name)) return { problem: 'A file name must not hold a path separator' };
  if (/[\p{Cc}\u2028\u2029]/u.test(name)) return { problem: 'A file name must not hold control characters' };
  // Bidirectional controls reverse text, so that a name displays another extension than its real one.
  if (/[\u202a-\u202e\u2066-\u2069]/.test(name))
    return { problem: 'A file name must not hold characters that change the writing direction' };
  if (name === '.' || name === '..') return { problem: `A file cannot be called ${name}` };
  if (Buffer.byteLength(name) > maxNameBytes) return { problem: `A file name may have at most ${maxNameBytes} bytes` };
  return { name };
}

/** What follows the last dot, in lower case; empty for a name without one. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot < 1 ? '' : name.slice(dot + 1).toLowerCase();
}
