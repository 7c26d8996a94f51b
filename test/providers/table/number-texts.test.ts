/** Numbers that a file stores as text are counted and named. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { numbersOf, profileText } from './tables.ts';

async function told(text: string, name?: string): Promise<string[]> {
  const { remarks } = await profileText(text, name);
  return remarks.filter(({ kind }) => kind === 'unit_cells').map((remark) => remark.text);
}

/** Fees of 20 visits; `written` replaces some of them. */
function visits(written: Record<number, string>, usual = (i: number) => (60.5 + i).toFixed(2)): string {
  return `visit,fee\n${Array.from({ length: 20 }, (_, i) => `V${i + 1},${written[i] ?? usual(i)}`).join('\n')}\n`;
}

test('an apostrophe and blanks between digits are named with their rows, and the numbers are counted', async () => {
  const text = visits({ 2: "'50.00", 7: '1 250.00' });
  assert.deepEqual(await told(text), [
    "fee is written as text in 2 rows, unlike the others: ''50.00' in row 3 (V3) and '1 250.00' in row 8 (V8); they are counted.",
  ]);
  assert.equal(numbersOf(await profileText(text), 'fee').count, 20);
});

test('one number in quotes among the numbers of a JSON file is named', async () => {
  const lines = Array.from({ length: 10 }, (_, i) => JSON.stringify({ id: `L${i}`, qty: i === 4 ? '4' : i + 1 }));
  assert.deepEqual(await told(lines.join('\n'), 'lines.jsonl'), [
    "qty is written as text in 1 row, unlike the others: '4' in row 5 (L4); it is counted as 4.",
  ]);
});

test('the form that most numbers of a column have is no text: blanks in all thousands, quotes in all numbers', async () => {
  assert.deepEqual(await told(visits({}, (i) => `${i + 1} 250.00`)), []);
  assert.deepEqual(await told(visits({}, (i) => `'${i + 1}.50`)), []);
  const lines = Array.from({ length: 10 }, (_, i) => JSON.stringify({ id: `L${i}`, qty: String(i + 1) }));
  assert.deepEqual(await told(lines.join('\n'), 'lines.jsonl'), []);
});

test('a number with blanks around it is named', async () => {
  assert.deepEqual(await told(visits({ 4: ' 24 ', 9: "'30.00" })), [
    "fee is written as text in 2 rows, unlike the others: ' 24 ' (with a blank before and after it) in row 5 (V5) and ''30.00' in row 10 (V10); they are counted.",
  ]);
});
