/** JavaScript for the sandbox that computes one figure by group from a CSV file, for figures that the profile does not contain. */
import type { FigureKind } from './requests.ts';

export type GroupedFigure = { path: string; delimiter: string; column: string; by: string; kind: FigureKind };

const formulas: Record<FigureKind, string> = {
  sum: 'values.reduce((total, value) => total + value, 0)',
  mean: 'values.reduce((total, value) => total + value, 0) / values.length',
  median: '(values[(values.length - 1) >> 1] + values[values.length >> 1]) / 2',
  count: 'values.length',
  min: 'values[0]',
  max: 'values[values.length - 1]',
};

/** Names are passed to the code as JSON, so that none can become code. The answer is a list of [group, figure], largest first. */
export function groupedFigureCode({ path, delimiter, column, by, kind }: GroupedFigure): string {
  return `const text = readFile(${JSON.stringify(path)}).replace(/^\\uFEFF/, '');
const rows = [];
let row = [], cell = '', quoted = false;
for (let i = 0; i < text.length; i++) {
  const char = text[i];
  if (quoted) {
    if (char !== '"') cell += char;
    else if (text[i + 1] === '"') { cell += char; i++; }
    else quoted = false;
  } else if (char === '"' && cell === '') quoted = true;
  else if (char === ${JSON.stringify(delimiter)}) { row.push(cell); cell = ''; }
  else if (char === '\\n' || char === '\\r') {
    if (cell !== '' || row.length > 0) { row.push(cell); rows.push(row); }
    row = []; cell = '';
  } else cell += char;
}
if (cell !== '' || row.length > 0) { row.push(cell); rows.push(row); }
// Titles may stand above the header.
const header = rows.findIndex((cells) => [${JSON.stringify(column)}, ${JSON.stringify(by)}].every((name) => cells.some((cell) => cell.trim() === name)));
const names = rows.splice(0, header + 1).at(-1)?.map((name) => name.trim()) ?? [];
const at = names.indexOf(${JSON.stringify(column)}), by = names.indexOf(${JSON.stringify(by)});
if (at < 0 || by < 0) throw new Error('column not found');
const groups = new Map();
for (const cells of rows) {
  const key = (cells[by] ?? '').trim(), plus = (cells[at] ?? '').replace(/[^0-9.,()-]/g, ''), written = /\\d-$/.test(plus) ? '-' + plus.slice(0, -1) : plus;
  if (/^(?:(?:grand |sub)?total|sum|summe|gesamt|zwischensumme|subtotal)\\b/i.test(key)) continue;
  const decimalComma = /,\\d{1,2}\\)?$/.test(written);
  const plain = decimalComma ? written.replaceAll('.', '').replace(',', '.') : written.replaceAll(',', '');
  const value = plain.startsWith('(') ? -Number(plain.replace(/[()]/g, '')) : Number(plain);
  if (key === '' || !/\\d/.test(plain) || Number.isNaN(value)) continue;
  // Spellings that differ in case or blanks are one group, as in the profile.
  const folded = key.toLowerCase().replace(/\\s+/g, ' ');
  if (!groups.has(folded)) groups.set(folded, { values: [], spellings: new Map() });
  const group = groups.get(folded);
  group.values.push(value);
  group.spellings.set(key, (group.spellings.get(key) ?? 0) + 1);
}
const figures = [...groups.values()].map(({ values, spellings }) => {
  const [[key]] = [...spellings].sort((a, b) => b[1] - a[1]);
  values.sort((a, b) => a - b);
  return [key, Number((${formulas[kind]}).toPrecision(15))];
}).sort((a, b) => b[1] - a[1]).slice(0, 100);
console.log(JSON.stringify(figures));
figures;`;
}
