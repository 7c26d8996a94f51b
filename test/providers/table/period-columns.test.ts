/** Tables whose columns are months: one series, in any of several languages, compared with their row of totals. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinTables } from '../../../src/providers/table/join.ts';
import { numbersOf, opening, profileText } from './tables.ts';

const months = 'poste,janv,févr,mars,avr,mai\nLoyer,700,700,700,700,700\nAchats,120,90,210,60,80\nPrimes,0,0,0,40,0\n';

async function textsOf(text: string, kind: string): Promise<string[]> {
  return (await profileText(text)).remarks.filter((each) => each.kind === kind).map((each) => each.text);
}

test('columns of months in another language are one series, none of them left out', async () => {
  const [columns] = await textsOf(months, 'period_columns');
  assert.match(columns!, /^The columns janv to mai are periods: mars has the largest sum \(910\), mai the smallest \(780\)/);
  assert.match(columns!, /All of them together are 4,100\. Sums: janv 820, févr 790, mars 910, avr 800, mai 780\.$/);
  assert.equal(numbersOf(await profileText(months), 'avr').sum, 800);
});

test('a word that is the short name of a month elsewhere is no month beside other columns', async () => {
  const stock = 'item,in,out,set\nBolt,700,650,4\nNut,120,90,9\nScrew,300,310,2\n';
  assert.deepEqual(await textsOf(stock, 'period_columns'), []);
});

test('a month that is not read as numbers is named, and a value that is no number is counted as lacking', async () => {
  const rows = 'team,Jan,Feb,Mar,Apr\nNorth,10,11,quiet,5\nSouth,20,21,slow,n/a\nWest,30,31,busy,7\nEast,40,42,calm,9\n';
  const [columns] = await textsOf(rows, 'period_columns');
  assert.match(columns!, /^The columns Jan to Apr are periods: without Mar \(not read as numbers of one unit\), /);
  assert.match(columns!, /Apr 21 \(1 without a number\)\.$/);
  const [sums] = await textsOf(rows, 'period_rows');
  assert.match(sums!, /^Over Jan to Apr without Mar \(not read as numbers of one unit\), East has the largest sum \(91\)/);
});

test('each column of a row of totals is compared, and the one that differs is named', async () => {
  const [total] = await textsOf(`${months}TOTAL,820,790,910,1800,780\n`, 'total_wrong');
  assert.match(total!, /it agrees with the sum of its rows \(janv 820, févr 790, mars 910 and mai 780\)/);
  assert.match(
    total!,
    /it does not agree with the rows: avr is written as 1,800 but the rows add up to 800 \(difference 1,000, too high\)/,
  );
  const unknown = 'room,lower,upper,rear\nA,412,100,7\nB,251,300,8\nC,130,250,9\nTotal,793,650,31\n';
  assert.match(
    (await textsOf(unknown, 'total_wrong'))[0]!,
    /does not agree with the rows: rear is written as 31 but the rows add up to 24/,
  );
});

test('columns that are no whole months of the bookings are not compared with what was spent', async () => {
  const spent =
    'date,poste,montant\n03/01/2025,Loyer,700.00\n14/01/2025,Achats,95.00\n03/02/2025,Loyer,700.00\n20/02/2025,Achats,133.00\n25/02/2025,Primes,20.00\n';
  for (const names of ['Q1,Q2,Q3,Q4,Q5', 'Budget Jan,Budget Feb,Budget Mar,Budget Apr,Budget May']) {
    const budget = months.replace('janv,févr,mars,avr,mai', names);
    const { key, remarks } = await joinTables(
      { name: 'budget_2025.csv', open: opening(Buffer.from(budget)) },
      { name: 'depenses.csv', open: opening(Buffer.from(spent)) },
    );
    assert.notEqual(key, null);
    const compared = remarks.filter(({ kind }) => kind.startsWith('budget_') || kind === 'join_difference');
    assert.deepEqual(compared, [], names);
  }
});
