/** Valid names of a file in a workspace: plain names, the same on every system, in Unicode's composed form; with folders, several of them. */

const maxNameBytes = 255;
export const maxPathBytes = 1_024;

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

/** As `checkFileName`, for a name that may begin with folders: plain names with `/` between them. */
export function checkFilePath(raw: string): { name: string } | { problem: string } {
  const names: string[] = [];
  for (const segment of raw.split('/')) {
    if (segment === '' && raw.includes('/')) return { problem: 'A path must be plain names with one / between them' };
    const checked = checkFileName(segment);
    if ('problem' in checked) return checked;
    names.push(checked.name);
  }
  const name = names.join('/');
  if (Buffer.byteLength(name) > maxPathBytes) return { problem: `A path may have at most ${maxPathBytes} bytes` };
  return { name };
}
