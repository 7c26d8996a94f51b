/** Text that PostgreSQL can store: no NUL characters and no unpaired surrogates, both of which JSON can express by escapes. */

export const unstorableMessage = 'Text must not hold NUL characters or unpaired surrogates';

/** Whether PostgreSQL can hold the text. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** The text with U+FFFD in place of each character that cannot be stored. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Where a JSON value holds text or names that cannot be stored: at most `max` paths, themselves storable. */
export function unstorablePaths(value: unknown, max: number): string[][] {
  const found: string[][] = [];
  // One shared path for the whole walk: a copy for each value would cost more than the walk.
  const path: string[] = [];
  const take = () => found.push(path.map(storableText));
  const walk = (item: unknown) => {
    if (typeof item === 'string') {
      if (!isStorable(item)) take();
    } else if (typeof item === 'object' && item !== null) {
      for (const [name, part] of Object.entries(item)) {
        if (found.length < max && !isStorable(name)) take();
        if (found.length >= max) return;
        path.push(name);
        walk(part);
        path.pop();
      }
    }
  };
  walk(value);
  return found;
}

/** The JSON value with `storableText` of each text and name. */
export function withStorableText(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(withStorableText);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [storableText(name), withStorableText(part)]));
}
