/** Due against paid by key, in two joined tables. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinTables } from '../../../src/providers/table/join.ts';
import { opening } from './tables.ts';

async function remarksOf(left: [name: string, text: string], right: [name: string, text: string]): Promise<string> {
  const side = ([name, text]: [string, string]) => ({ name, open: opening(Buffer.from(text)) });
  const { remarks } = await joinTables(side(left), side(right));
  return remarks.map(({ kind, text }) => `${kind}: ${text}`).join('\n');
}

const invoices = `Rechnungsnr;Kunde;Datum;Betrag;Status
R-101;Huber;02.01.2025;1.200,50;offen
R-102;Roth;05.01.2025;890,00;offen
R-103;Huber;09.01.2025;300,00;storniert
R-104;Lind;11.01.2025;75,90;offen
R-105;Kern;15.01.2025;2.400,00;offen
R-105;Kern;15.01.2025;2.400,00;offen
R-106;Roth;20.01.2025;410,00;offen
R-107;Blau;21.01.2025;99,99;offen
`;
const receipts = `Eingang;Text;Rechnungsnr;Summe
10.01.2025;Rg 101;R-101;1.200,50
12.01.2025;Rate;R-102;400,00
15.01.2025;Rest;R-102;490,00
18.01.2025;;R-104;75,90
19.01.2025;zurück;R-104;-75,90
25.01.2025;Anzahlung;R-105;1.000,00
26.01.2025;;R-106;410,00
26.01.2025;;R-106;410,00
27.01.2025;unklar;;55,00
28.01.2025;;R-170;20,00
`;

test('for each key it is told whether nothing, a part, all or too much was paid, and what is outstanding', async () => {
  const remarks = await remarksOf(['rechnungen.csv', invoices], ['zahlungseingaenge.csv', receipts]);
  for (const line of [
    'dues_open: Outstanding (Betrag − Summe, where it is positive): 1,875.89 from 4 keys: 475.89 from 3 keys with nothing and 1,400 from 1 key with a part; more than due from others (410) is not set off. Without the one with Status "storniert", from whom perhaps nothing is due, 1,575.89 is outstanding from 3 keys.',
    'dues_nothing: No Summe at all: 1 key, together 99.99: R-107 (Blau) 99.99. Also none, but with Status "storniert", so perhaps nothing is due: 1 key, together 300: R-103 (Huber) 300.',
    'dues_reversed: Rows of Summe that cancel each other out: R-104 (Lind) 75.90 and -75.90 (rows 4 and 5): nothing is left, so 75.90 is unpaid.',
    'dues_part: Summe is only a part of Betrag for 1 key, together 1,400 missing: R-105 (Kern) 1,000 of 2,400, 1,400 missing.',
    'dues_over: Summe is more than Betrag for 1 key, together by 410: R-106 (Roth) 820 of 410, 410 too much (410 in rows 7 and 8: perhaps booked twice).',
    'dues_whole: Summe in several rows that make up all of Betrag: R-102 (Roth) (2 rows).',
    'dues_unassigned: Summe without a key of rechnungen.csv: 2 rows, together 75: 20 in row 10 (28.01.2025, Rechnungsnr R-170) and 55 in row 9 (27.01.2025, no Rechnungsnr).',
    'dues_total: Betrag is 5,376.39 for 7 keys (Status offen 5,076.39 for 6 and Status storniert 300 for 1); Summe is 3,985.50 in 10 rows, of which 3,910.50 belongs to keys of rechnungen.csv. The difference of the two sums, 1,390.89, is therefore not what is outstanding.',
    'dues_total: Counted once in these figures of Betrag: row 6 of rechnungen.csv, exactly like an earlier row.',
  ])
    assert.ok(remarks.split('\n').includes(line), `not told: ${line}\nbut:\n${remarks}`);
});

test('ordered and delivered quantities are compared likewise, whichever file comes first', async () => {
  const orders = 'commande,article,quantité\nC1,Vis,500\nC2,Boulons,300\nC3,Planches,40\nC4,Clous,1000\nC5,Colle,25\n';
  const deliveries =
    'date,commande,quantité livrée\n2025-03-01,C1,500\n2025-03-02,C2,200\n2025-03-05,C2,100\n2025-03-06,C3,25\n2025-03-09,C4,1200\n';
  for (const remarks of [
    await remarksOf(['commandes.csv', orders], ['livraisons.csv', deliveries]),
    await remarksOf(['livraisons.csv', deliveries], ['commandes.csv', orders]),
  ]) {
    assert.match(remarks, /No quantité livrée at all: 1 key, together 25: C5 \(Colle\) 25\./);
    assert.match(remarks, /C3 \(Planches\) 25 of 40, 15 missing/);
    assert.match(remarks, /C4 \(Clous\) 1,200 of 1,000, 200 too much/);
    assert.match(remarks, /Every quantité livrée has a key of commandes\.csv\./);
  }
});

test('a price and sales, or one rent and the payments of several months, are not taken as due and paid', async () => {
  const sales = await remarksOf(
    ['products.csv', 'product,name,price\nP1,Lamp,20\nP2,Desk,150\nP3,Chair,60\nP4,Shelf,80\nP5,Rug,45\n'],
    ['orders.csv', 'order,product,amount\n1,P1,20\n2,P2,150\n3,P3,60\n4,P4,160\n5,P4,80\n'],
  );
  const months = ['01', '02', '03'].map((month) => `2025-${month}-03,Ann,500\n2025-${month}-03,Bob,600\n2025-${month}-04,Cy,550\n`);
  const rents = await remarksOf(
    ['tenants.csv', 'tenant,flat,rent\nAnn,A1,500\nBob,A2,600\nCy,B1,550\nDi,B2,700\n'],
    ['payments.csv', `date,tenant,amount\n${months.join('')}2025-01-04,Di,700\n`],
  );
  assert.doesNotMatch(`${sales}\n${rents}`, /dues_/);
});
