/** A budget with a column for each month or quarter against dated bookings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinTables } from '../../../src/providers/table/join.ts';
import { opening } from './tables.ts';

async function compared(budget: [name: string, text: string], spent: string, period?: { from: string; to: string }): Promise<string[]> {
  const { remarks } = await joinTables(
    { name: budget[0], open: opening(Buffer.from(budget[1])) },
    { name: 'ausgaben.csv', open: opening(Buffer.from(spent)) },
    undefined,
    period === undefined ? {} : { period },
  );
  return remarks.filter(({ kind }) => kind === 'budget_months' || kind === 'join_difference').map(({ text }) => text);
}

const months = 'Posten;Jan;Feb;Mär;Apr\nMiete;900;900;900;900\nStrom;80;80;60;60\nWerbung;0;300;300;0\nReparatur;50;50;50;50\n';
const spent = `Beleg;Datum;Posten;Betrag
A1;03.01.2025;Miete;900,00
A2;20.01.2025;Strom;92,50
A3;03.02.2025;Miete;900,00
A4;19.02.2025;Strom;81,00
A5;21.02.2025;Werbung;250,00
A6;03.03.2025;Miete;900,00
A7;12.03.2025;Werbung;410,00
A8;14.03.2025;Blumen;35,00
A7;28.03.2025;Werbung;410,00
A9;03.04.2025;Miete;900,00
A10;08.04.2025;Strom;75,00
`;

test('the budget of the months asked for is compared with the bookings of these months, by line and in all', async () => {
  assert.deepEqual(await compared(['etat_2025.csv', months], spent, { from: '2025-01-01', to: '2025-03-31' }), [
    'Actual against budget, January to March 2025 (Betrag of ausgaben.csv against Jan to Mär of etat_2025.csv): 3,568.50 against 3,670, −101.50 (−2.8 %), below the budget. 35 of it has no line in the budget: Blumen 35. Probably booked twice and counted once here: row 9 (28.03.2025) repeats A7 of row 7 (12.03.2025) with the same Betrag 410; with it the sum would be 3,978.50.',
    'By Posten, January to March 2025: over budget: Werbung 660 against 600, +60 (+10 %). below budget: Strom 173.50 against 220, −46.50 (−21.1 %). exactly as budgeted: Miete 2,700. budgeted and nothing booked: Reparatur 150. booked without a budget line: Blumen 35.',
    'Strom has no Betrag in March 2025, although 60 is budgeted; its bill may not be booked yet. Up to February it has 173.50 against 160, +13.50 (+8.4 %).',
  ]);
});

test('without a period the complete months of the bookings are compared, and whole quarters only for quarters', async () => {
  const [total] = await compared(['etat_2025.csv', months], spent);
  assert.match(total!, /^Actual against budget, January to March 2025 /);
  const quarters = 'Posten,Q1,Q2,Q3,Q4\nMiete,2700,2700,2700,2700\nStrom,220,180,150,220\n';
  const [quarter] = await compared(['Budget.csv', quarters], spent, { from: '2025-01-01', to: '2025-03-31' });
  assert.match(quarter!, /against Q1 of Budget\.csv\): 3,568\.50 against 2,920, /);
  assert.deepEqual(await compared(['Budget.csv', quarters], spent, { from: '2025-01-01', to: '2025-02-28' }), []);
});

test('bookings that end before the months asked for are told, and no bill is called missing', async () => {
  const lines = await compared(
    ['etat_2025.csv', `Posten;Jan;Feb;Mär;Apr;Mai;Jun\nMiete;900;900;900;900;900;900\nStrom;80;80;60;60;60;60\n`],
    spent,
    {
      from: '2025-01-01',
      to: '2025-06-30',
    },
  );
  assert.match(lines[0]!, / The bookings end on 2025-04-08, before these months do\.$/);
  assert.equal(lines.length, 2);
});

test('the budget of another year, and a table that no name calls a budget, are not compared with bookings by month', async () => {
  assert.deepEqual(await compared(['etat_2024.csv', months], spent), []);
  assert.deepEqual(await compared(['werte.csv', months], spent), []);
});
