/** Questions that two files answer together. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAgent } from './agent-loop.ts';

async function asked(prompt: string, files: Record<string, string>): Promise<string> {
  const { workspace } = await runAgent(prompt, { files });
  const report = workspace.text('report.md');
  return report.slice(report.indexOf('## What was asked'), report.indexOf('## What stands out'));
}

const members = `member_no,name,team\n${Array.from({ length: 10 }, (_, i) => `0${i + 100},Name ${i},${'ABC'[i % 3]}`).join('\n')}\n`;
const results = [...Array.from({ length: 8 }, (_, i) => `0${i + 100},${40 + i * 5}`), '0777,90'];

test('who on a list is absent, who is not on it, and the mean score by a group of the other file', async () => {
  const report = await asked('Who on the list [members.csv] has not taken part in [results.csv], and how do the scores look by team?', {
    'members.csv': members,
    'results.csv': `member_no,score\n${results.join('\n')}\n`,
  });
  assert.match(
    report,
    /has not taken part .*\*\*\n\n- Only in members\.csv, not in results\.csv: 2 keys \(0108 \(Name 8\) and 0109 \(Name 9\)\)/,
  );
  assert.match(report, /Only in results\.csv, not in members\.csv: 1 key \(0777\)/);
  assert.match(report, /Mean score by team \(from members\.csv\): B 60 \(3 rows\), C 57\.50 \(2 rows\) and A 55 \(3 rows\)/);
});

test('a value from stock and prices has shares, and the articles below zero, at zero and without a price', async () => {
  const stock = [
    'A1,Bolt,10',
    'A2,Nut,20',
    'A3,File,-2',
    'A4,Roll,5',
    'A5,Hat,7',
    'A6,Saw,1',
    'A7,Axe,2',
    'A8,Pin,3',
    'A9,Cap,4',
    'A10,Rod,6',
    'A11,Key,1',
    'A12,Lid,1',
  ];
  const prices = ['A1,10', 'A2,20', 'A3,3', 'A4,0', 'A6,4', 'A7,5', 'A8,6', 'A9,7', 'A10,8', 'A11,2', 'A12,3'];
  const report = await asked('What is stock.csv worth at the prices in prices.csv, and which articles cannot be valued?', {
    'stock.csv': `article,name,quantity\n${stock.join('\n')}\n`,
    'prices.csv': `article,price\n${prices.join('\n')}\n`,
  });
  assert.match(
    report,
    /adds up to 607 over 11 rows: A2 \(Nut\) 400 \(65\.9 %\), A1 \(Bolt\) 100 \(16\.5 %\), A10 \(Rod\) 48 \(7\.9 %\), A9 \(Cap\) 28/,
  );
  assert.match(
    report,
    /- Not in quantity × price, because they have no price: A5 \(Hat\) \(quantity 7 in 1 row\)[\s\S]*cannot be valued\?\*\*\n\nNo further finding answers this; the nearest stand above/,
  );
  assert.match(report, /quantity × price is below zero for A3 \(File\) \(-6\), and zero for A4 \(Roll\)/);
});

test('a question that names no column is answered with the main measure first', async () => {
  const days = Array.from({ length: 60 }, (_, i) => {
    const day = new Date(Date.UTC(2025, 0, 1 + i)).toISOString().slice(0, 10);
    return `${day},${30 - (i % 20)},${500 - i * 3}`;
  });
  const report = await asked('What is the trend in days.csv?', { 'days.csv': `date,temperature_c,takings_eur\n${days.join('\n')}\n` });
  assert.match(report, /trend in days\.csv\?\*\*\n\n- .*takings_eur/);
});

test('a question for what one file has and the other lacks is answered by that side alone', async () => {
  const files = {
    'plants.csv': 'code,plant,pots\n011,Fern,4\n012,Rose,10\n013,Lily,2\n014,Iris,5\n',
    'tariff.csv': 'code,unit_price\n011,2.50\n012,3.00\n013,9.00\n099,8.00\n',
  };
  const report = await asked('Which plants have no price, and which prices belong to no plant?', files);
  assert.match(report, /no price\*\*\n\n- Only in plants\.csv, not in tariff\.csv: 1 key \(014 \(Iris, pots 5\)\)\.\n/);
  assert.match(report, /belong to no plant\?\*\*\n\n- Only in tariff\.csv, not in plants\.csv: 1 key \(099\)\.\n/);
});

test('a German question finds the side by the end of a compound, and the groups that it asks for', async () => {
  const report = await asked(
    'Was kosten die Stunden aus stunden.csv mit den Sätzen aus saetze.csv je Projekt? Welche Personen haben keinen Satz?',
    {
      'stunden.csv': 'Personalnr;Projekt;Stunden\nM1;Bau;4\nM2;Bau;2\nM3;Messe;5\nM1;Messe;3\nM2;Bau;1\n',
      'saetze.csv': 'Personalnr;Name;Stundensatz\nM1;Ada;50\nM2;Bo;60\nM4;Cy;70\n',
    },
  );
  assert.match(report, /je Projekt\?\*\*\n\n[^*]*- Stunden × Stundensatz by Projekt \(from stunden\.csv\): Bau 380/);
  assert.match(report, /keinen Satz\?\*\*\n\n- Only in stunden\.csv, not in saetze\.csv: 1 key \(M3 .*\n\n/);
});

test('a value that no file gives is not computed, and no number of pieces is offered for it', async () => {
  const report = await asked('What is the collection worth?', {
    'coins.csv': 'coin,year,pieces\nA,1901,3\nB,1902,5\nC,1903,1\nD,1904,2\n',
  });
  assert.match(report, /worth\?\*\*\n\nNot computed: no file has an amount of money, and no quantity could be multiplied/);
});

test('what does not match between a plan and the bookings is the keys of one side, and what is over is told without the rest', async () => {
  const report = await asked('Which lines of plan.csv are over budget in spent.csv, and what does not match?', {
    'plan.csv': 'line,title,budget\n01,Hall,900\n02,Music,400\n03,Print,250\n04,Food,600\n',
    'spent.csv':
      'no,date,line,spent\nV1,2024-03-01,01,700\nV2,2024-03-04,02,410\nV3,2024-03-06,04,590\nV4,2024-03-11,77,33\nV5,2024-03-12,01,9\nV6,2024-03-13,01,8\nV7,2024-03-14,04,3\n',
  });
  assert.match(report, /over budget in spent\.csv\*\*\n\n- spent is above budget for 1 key: 02 \(Music\) by 10 \(2\.5 %\)\.\n\n/);
  assert.match(
    report,
    /does not match\?\*\*\n\n- Only in plan\.csv, not in spent\.csv: 1 key .*\n- Only in spent\.csv, not in plan\.csv: 1 key .*\n\n/,
  );
});

const dues = `member_no,name,fee_due\n${Array.from({ length: 16 }, (_, i) => `1${i + 10},Name ${i},${i < 12 ? 40 : 20}`).join('\n')}\n`;
const payments = `member_no,paid_on,amount\n${[
  ...Array.from({ length: 12 }, (_, i) => `1${i + 10},2025-03-0${(i % 9) + 1},40`),
  '122,2025-03-11,20',
  '123,2025-03-12,15',
  '124,2025-03-13,30',
  '199,2025-03-14,20',
].join('\n')}\n`;

test('too little and too much are told with the keys of both, and how many keys agree', async () => {
  const report = await asked('Who in members.csv paid too little or too much according to fees.csv? Who overpaid?', {
    'members.csv': dues,
    'fees.csv': payments,
  });
  const [, first = '', second = ''] = report.split('\n\n**');
  assert.match(first, /amount is below fee_due for 2 keys, together 25: 125 \(Name 15\) by 20 \(nothing at all\) and 123 \(Name 13\) by 5/);
  assert.match(first, /amount is above fee_due for 1 key: 124 \(Name 14\) by 10 \(50 %\)/);
  assert.match(
    second,
    /the nearest stand above, under "Who in members\.csv paid too little or too much[^"]*": amount is above fee_due for 1 key/,
  );
  assert.match(report, /- By key: amount equals fee_due for 13 of 16 keys\./);
});

test('where more was spent than planned is answered by the keys over the plan', async () => {
  const report = await asked('Where did we overspend?', {
    'plan.csv': 'code,title,budget\n01,Hall,900\n02,Music,400\n03,Print,250\n04,Food,600\n',
    'spent.csv': 'no,code,amount\n1,01,950\n2,02,100\n3,03,50\n4,04,10\n5,02,20\n',
  });
  assert.match(report, /overspend\?\*\*\n\n- amount is above budget for 1 key: 01 \(Hall\) by 50/);
});

const shifts = `shift,guide,tour,fee\n${Array.from({ length: 24 }, (_, i) => `S${i},${'Ann Bo Cy'.split(' ')[i % 3]},${'Cave Lake'.split(' ')[i % 2]},${20 + (i % 5)}`).join('\n')}\n`;

test('a figure for each group is answered by that group, not by the whole', async () => {
  for (const prompt of [
    'How much did each guide bring in?',
    'Tell me what stands out: fees by tour and guide.',
    'Wie viel hat jeder Guide eingebracht?',
  ]) {
    const report = await asked(prompt, { 'shifts.csv': shifts });
    assert.match(report, /\*\*\n\n- By (?:guide|tour), /, prompt);
    assert.doesNotMatch(report, /fee adds up to/, prompt);
  }
});

test('whether data is clean is a question on its quality', async () => {
  const report = await asked('Is the data clean?', { 'shifts.csv': `${shifts}S23,Cy,Lake,23\n` });
  assert.match(report, /clean\?\*\*\n\n- Only with care/);
});
