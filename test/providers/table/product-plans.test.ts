/** Which quantity is multiplied by which price: the unit in the name decides, and a doubt is stated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { column, numbersOf, profileText } from './tables.ts';

const products: { says: string; table: string; name: string; sum: number }[] = [
  {
    says: 'MWh and a price with a currency in its name',
    table: 'Werk;MWh;Tarif_EUR\nOst;10,5;80\nWest;4;82\nOst;6;80\nWest;5,5;82\n',
    name: 'MWh × Tarif_EUR',
    sum: 2099,
  },
  {
    says: 'an amount of money in each unit of the quantity',
    table: 'site,used_kWh,EUR/kWh\nA,100,0.3\nB,200,0.31\nC,50,0.32\nD,90,0.3\n',
    name: 'used_kWh × EUR/kWh',
    sum: 135,
  },
  {
    says: 'gallons and a price per gallon',
    table: 'van,gallons,price_per_gallon\nA,12,3.5\nB,20,3.4\nA,10,3.6\nB,18,3.3\n',
    name: 'gallons × price_per_gallon',
    sum: 205.4,
  },
  {
    says: 'days and a day rate, although days alone are no quantity',
    table: 'Berater;Tage;Tagessatz\nA;2;800\nB;3;950\nC;5;700\nD;1;1200\n',
    name: 'Tage × Tagessatz',
    sum: 9150,
  },
  {
    says: 'the quantity with the unit of the price, beside another one',
    table: 'item,kg,pallets,price_per_kg\nA,100,2,3\nB,50,1,4\nC,80,2,2\nD,70,2,2.5\n',
    name: 'kg × price_per_kg',
    sum: 835,
  },
  {
    says: 'a number of pieces and the price of one',
    table: 'Artikel;Anzahl;Einzelpreis\nA;3;2,50\nB;4;1,20\nC;9;0,99\nD;2;5,00\n',
    name: 'Anzahl × Einzelpreis',
    sum: 31.21,
  },
];
for (const { says, table, name, sum } of products)
  test(`multiplied: ${says}`, async () => {
    const profile = await profileText(table);
    assert.equal(column(profile, name).derived, true);
    assert.ok(Math.abs(numbersOf(profile, name).sum - sum) < 1e-9, String(numbersOf(profile, name).sum));
    const group = profile.groups.find(({ values }) => values.some(({ figures }) => figures[name] !== undefined));
    if (profile.groups.length > 0) assert.ok(group, 'the product has a figure for each group');
  });

const none: { says: string; table: string; warning?: RegExp }[] = [
  {
    says: 'beside an amount in each row',
    table: 'Ort;m3;Preis_pro_m3;Rechnungsbetrag\nA;100;2;200\nB;20;2;40\nC;50;2;100\nD;10;2;20\n',
  },
  { says: 'a cost in each row', table: 'job,hours,cost\nA,10,120\nB,20,310\nC,5,90\nD,7,70\n' },
  { says: 'a rate that is no price', table: 'runner,hours,heart_rate\nA,1,150\nB,2,160\nC,5,140\nD,3,155\n' },
  {
    says: 'a price that varies with the quantity may be the price of the row',
    table: 'car,litres,price\nA,20.5,36.80\nB,35,63.75\nC,41,74.82\nD,30,51.70\n',
    warning: /do not say whether price applies to each unit of litres or to the whole row; litres × price is not computed/,
  },
  {
    says: 'two quantities and a price that fits both',
    table: 'Anlage;Betriebsstunden;kWh;Preis\nA;100;500;0,30\nB;200;700;0,31\nC;300;900;0,30\nD;150;400;0,29\n',
    warning: /Several amounts are possible \(Betriebsstunden × Preis, kWh × Preis\) and no name decides; none is computed/,
  },
];
for (const { says, table, warning } of none)
  test(`not multiplied: ${says}`, async () => {
    const profile = await profileText(table);
    assert.deepEqual(
      profile.columns.filter(({ derived }) => derived === true),
      [],
    );
    if (warning === undefined) assert.deepEqual(profile.warnings, []);
    else assert.match(profile.warnings.join('\n'), warning);
  });

test('a measured quantity that is 0 in a row is not multiplied by a price without a unit', async () => {
  const rows = Array.from({ length: 12 }, (_, i) => `C${i},${['Quick', 'Wool'][i % 2]},${i === 4 ? 0 : 40 + i},${3 + (i % 2)}`);
  const { columns, warnings } = await profileText(`cycle,programme,water_l,price_gbp\n${rows.join('\n')}\n`);
  assert.ok(columns.every(({ derived }) => derived !== true));
  assert.match(warnings.join(), /do not say whether price_gbp applies to each unit of water_l or to the whole row/);
});
