/** One cell of a table, and the checks that every column makes first: whether it is empty, and whether it is a boolean. */

/** CSV gives texts; JSON also gives numbers and booleans. `null` is a missing cell. */
export type Cell = string | number | boolean | null;

const missingWords = new Set([
  '',
  '-',
  '--',
  '–',
  '—',
  'na',
  'n/a',
  'n.a.',
  'k.a.',
  '#n/a',
  'nan',
  'null',
  'none',
  '?',
  '#ref!',
  '#div/0!',
  '#value!',
  '#name?',
  '#num!',
  '#null!',
]);
const maxMissingWordChars = 7;

export function isMissing(cell: Cell): boolean {
  if (cell === null) return true;
  if (typeof cell !== 'string') return false;
  if (cell.length === 0) return true;
  if (cell.length > maxMissingWordChars + 16) return false;
  const word = cell.trim();
  // "none" in lower case is a person's answer (diagnosis: none); programs write "None" and "NONE".
  return word !== 'none' && word.length <= maxMissingWordChars && missingWords.has(word.toLowerCase());
}

/** A missing cell with a text, such as n/a. */
export function isPlaceholder(cell: Cell): boolean {
  return typeof cell === 'string' && isMissing(cell) && cell.trim() !== '';
}

/** A cell that a spreadsheet would compute or treat as a command: =SUM(A1:A3), @SUM(…), +cmd|…. */
export function isFormula(cell: Cell): boolean {
  if (typeof cell !== 'string' || cell.length < 2) return false;
  const text = cell[0] === ' ' || cell[0] === "'" ? cell.trimStart().replace(/^'/, '') : cell;
  const next = text[1] ?? '';
  if (text[0] === '=') return /[A-Za-z0-9(+\-"'$]/.test(next);
  if (text[0] === '@') return /^@[A-Z]+\(/.test(text.slice(0, 40));
  return (text[0] === '+' || text[0] === '-') && /^[+-][A-Za-z]+[(|!]/.test(text.slice(0, 40));
}

const truths = new Map<string, boolean>([
  ['true', true],
  ['yes', true],
  ['y', true],
  ['ja', true],
  ['wahr', true],
  ['false', false],
  ['no', false],
  ['n', false],
  ['nein', false],
  ['falsch', false],
]);

/** The boolean of a cell in English or German; null for any other text. */
export function parseBoolean(cell: Cell): boolean | null {
  if (typeof cell === 'boolean') return cell;
  if (typeof cell !== 'string' || cell.length > 12) return null;
  return truths.get(cell.trim().toLowerCase()) ?? null;
}

/** A text in quotes as it stands, with its blanks, which are named since they are hard to see. */
export function quoted(cell: Cell, maxChars: number): string {
  const text = String(cell ?? '');
  const blanks = [...(/^\s/.test(text) ? ['before'] : []), ...(/\s$/.test(text.slice(-1)) ? ['after'] : [])];
  const shown = text.length > maxChars ? `${text.slice(0, maxChars - 1)}…` : text;
  return `'${shown}'${blanks.length === 0 ? '' : ` (with a blank ${blanks.join(' and ')} it)`}`;
}

/** The cell as displayed text, truncated to `maxChars`. */
export function cellText(cell: Cell, maxChars: number): string {
  if (cell === null) return '';
  const text = typeof cell === 'string' ? cell.trim() : String(cell);
  return text.length > maxChars ? `${text.slice(0, maxChars - 1)}…` : text;
}
