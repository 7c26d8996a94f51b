/** Keys of two tables that are written in several ways. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinTables } from '../../../src/providers/table/join.ts';
import { opening } from './tables.ts';

function joined(left: string, right: string) {
  return joinTables({ name: 'boats.csv', open: opening(Buffer.from(left)) }, { name: 'fees.csv', open: opening(Buffer.from(right)) });
}

const boats = 'boat,owner,berth\nGR-LA 7,Rossi,12\nGR-LA 8,Bianchi,14\nGR-MO 21,Conti,3\n';
const fees = 'receipt,boat,fee\nQ1,GR-LA 7,100\nQ2,grla7,40\nQ3,GR-LA 8,90\nQ4,GR MO-21,80\nQ5,GR-LA 8,10\n';

test('keys that differ only in blanks, hyphens or case are one key, and their spellings are named', async () => {
  for (const [left, right] of [
    [boats, fees],
    [fees, boats],
  ] as const) {
    const { common_keys, only_left, only_right, remarks } = await joined(left, right);
    assert.deepEqual([common_keys, only_left.count, only_right.count], [3, 0, 0]);
    const texts = remarks.map(({ text }) => text);
    assert.ok(
      texts.some((text) => /^2 keys are written in several ways and taken as the same, ignoring case, blanks and hyphens: '/.test(text)),
    );
    assert.ok(texts.some((text) => /grla7/i.test(text)));
    assert.ok(
      texts.some((text) => /by owner/i.test(text) && /Rossi 140/.test(text)),
      texts.join('\n'),
    );
  }
});

test('two spellings that are two rows of a list of keys stay two keys', async () => {
  const list = 'boat,owner\nGR-LA 7,Rossi\nGRLA 7,Neri\nGR-MO 21,Conti\n';
  const { common_keys, only_right } = await joined(list, fees.replace('grla7', 'GRLA 7'));
  assert.deepEqual([common_keys, only_right.keys], [3, ['GR-LA 8 (rows 3 and 5, fee 100)']]);
});

test('the sums of a table that writes one key in several ways are told by key, without repeated rows', async () => {
  const { remarks } = await joined(boats, `${fees}Q5,GR-LA 8,10\n`);
  assert.deepEqual(
    remarks.filter(({ kind }) => kind === 'join_by_key').map(({ text }) => text),
    [
      'fee by boat of fees.csv, spellings of one key taken together, without 1 exact duplicate: GR-LA 7 140 (2 rows), GR-LA 8 100 (2 rows) and GR MO-21 80 (1 row).',
    ],
  );
  const byOwner = remarks.find(({ text }) => text.startsWith('fee by owner'))!.text;
  assert.match(byOwner, /^fee by owner \(from boats\.csv, without 1 exact duplicate\): Rossi 140 .*, Bianchi 100 /);
});

test('a hyphen between digits is a part of the key', async () => {
  const { common_keys, only_right } = await joined('room,seats\n1-11,20\n2-05,8\n3-02,9\n', 'room,use\n11-1,5\n2-05,6\n3-02,4\n');
  assert.deepEqual([common_keys, only_right.keys], [2, ['11-1']]);
});

test('a code that has lost its zeros in some rows is the same key, and is named', async () => {
  const members = `member_no,name,due\n${Array.from({ length: 12 }, (_, n) => `00${n + 10},Name ${n},50`).join('\n')}\n`;
  const paid = `member_no,paid_on,fee\n${Array.from({ length: 12 }, (_, n) => `${n === 3 || n === 7 ? '' : '00'}${n + 10},2025-03-${n + 10},50`).join('\n')}\n`;
  const { common_keys, only_left, only_right, remarks } = await joined(members, paid);
  assert.deepEqual([common_keys, only_left.count, only_right.count], [12, 0, 0]);
  assert.match(
    remarks.find(({ kind }) => kind === 'join_written')!.text,
    /^2 keys are written in several ways and taken as the same, ignoring case, blanks, hyphens and zeros in front: '0013' and '13' and '0017' and '17'\.$/,
  );
});

test('codes of a list that differ only in their zeros stay two keys', async () => {
  const members = 'member_no,name\n0026,Ada\n26,Bo\n0027,Cy\n0028,Di\n';
  const { only_right } = await joined(members, 'member_no,fee\n0026,5\n0027,5\n0028,6\n00029,5\n');
  assert.equal(only_right.count, 1);
});

test('the numbers of trips join two tables, and times that happen to be equal do not', async () => {
  const plan = `crossing,pier,leaves\n${Array.from({ length: 8 }, (_, n) => `${301 + n * 2},${n % 2 === 0 ? 'East' : 'West'},${String(7 + n).padStart(2, '0')}:30`).join('\n')}\n`;
  const log = `day,Crossing,left,guests\n${Array.from({ length: 24 }, (_, n) => `2026-06-${String(1 + Math.floor(n / 8)).padStart(2, '0')},${301 + (n % 8) * 2},${String(7 + (n % 8)).padStart(2, '0')}:30,${20 + n}`).join('\n')}\n`;
  const { key, common_keys } = await joined(plan, log);
  assert.deepEqual([key, common_keys], [{ left: 'crossing', right: 'Crossing' }, 8]);
});
