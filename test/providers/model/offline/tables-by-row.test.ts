/** What the offline model says of single rows, of chains of tables and of what a file's own form tells; the figures are computed by hand. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAgent } from './agent-loop.ts';

type Case = { says: string; prompt: string; files: Record<string, string>; expected: RegExp[]; never?: RegExp[] };

const hours = Array.from(
  { length: 30 },
  (_, i) => `0${1 + Math.floor(i / 24)}.05.2024 ${String(i % 24).padStart(2, '0')}:00\t${1 + (i % 7)},${200 + i}`,
);

const requests = Array.from({ length: 40 }, (_, i) => {
  const failed = i >= 20 && i < 24;
  return `2024-03-09 10:${String(i).padStart(2, '0')}:00,${failed || i % 5 === 0 ? '/cart' : '/home'},${failed ? 500 : 200}`;
});
const trees = Array.from({ length: 20 }, (_, i) => `T${i},${['Oak', 'Lime'][i % 2]},${10 + 2 * i},${i === 7 ? 300 : 5 + i},${1 + (i % 4)}`);
const orders = [
  ['A1', 12, 2],
  ['A2', 7, 2],
  ['A3', 20, 0],
  ['A4', 9, 2],
].map(([no, total, shipping]) => ({
  order_no: no,
  shipping,
  total,
  lines: [{ sku: 'X', qty: 1, unit_price: no === 'A3' ? 15 : Number(total) - Number(shipping) }],
}));

const cases: Case[] = [
  {
    says: 'the price of a booking is an amount; a stay of no night is named',
    prompt: 'Analyse bookings.csv',
    files: {
      'bookings.csv': `booking,arrival,departure,room,price\n${Array.from({ length: 12 }, (_, i) => `B${i},2024-03-${10 + i},2024-03-${i === 4 ? 14 : 12 + i},${i % 3 ? 'single' : 'double'},${100 + i}`).join('\n')}\n`,
    },
    expected: [
      /price adds up to 1,266/,
      /By room, single has the largest price: 848/,
      /arrival and departure are the same day in 1 row: row 5 \(B4\)/,
    ],
  },
  {
    says: 'what rows of a rare status have in common is told',
    prompt: 'Analyse requests.csv',
    files: { 'requests.csv': `time,path,status\n${requests.join('\n')}\n` },
    expected: [
      /status 500 \(4 rows, 10 %\): path \/cart in all of them \(which 11 rows have\); all between 2024-03-09 10:20:00 \(row 21\) and 2024-03-09 10:23:00/,
    ],
  },
  {
    says: 'sizes are not added up, conditions are groups, and a correlation that one row hides is found',
    prompt: 'Analyse trees.csv',
    files: { 'trees.csv': `tree_id,species,diameter_cm,height_m,condition\n${trees.join('\n')}\n` },
    expected: [/Without row 8, diameter_cm and height_m rise together \(correlation 1\.00 over 19 rows/, /By condition, /],
    never: [/diameter_cm adds up/, /condition adds up/],
  },
  {
    says: 'minutes late are no money; rows beyond what is asked are counted, by the words for a unit too; a state is counted by group',
    prompt: 'How many flights in flights.csv were more than 30 minutes late?',
    files: {
      'flights.csv': `flight,date,to,delay_min,status,meal\n${[5, -5, 40, 0, -3, 90, 12, -1, 31, ''].map((delay, i) => `F${i % 5},2024-06-${10 + i},${i % 2 ? 'VIE' : 'OSL'},${delay},${delay === '' ? 'cancelled' : 'flown'},${i % 3 ? 'none' : 'snack'}`).join('\n')}\n`,
    },
    expected: [
      /delay_min is above 30 in 3 rows of 9: 40 in row 3 \(2024-06-12, F2\), 90 in row 6/,
      /status by to: OSL flown 5 \(100 %\); VIE flown 4 \(80 %\), cancelled 1 \(20 %\)/,
      /"none" is the most frequent meal: 6 of 10/,
    ],
    never: [/delay_min has both signs/, /Different values of flight/],
  },
  {
    says: 'a product of two files is told by month; a row that is equal in all but its number is a possible double entry',
    prompt: 'Sales from orders.csv and products.csv; also flats.csv',
    files: {
      'orders.csv': 'order_no,date,product_id,qty\nO1,2024-01-05,P1,2\nO2,2024-02-05,P2,1\nO3,2024-02-09,P1,1\nO4,2024-03-01,P2,4\n',
      'products.csv': 'product_id,product,price\nP1,Desk,100\nP2,Lamp,10\n',
      'flats.csv': `id,district,sqm,rooms,rent\n${[31, 45, 45, 60, 72, 80].map((sqm, i) => `${i + 1},${i < 3 ? 'Nord' : 'Hafen'},${sqm},2,${sqm * 10}`).join('\n')}\n`,
    },
    expected: [
      /qty × price by month \(date of orders\.csv\): 2024-01 200, 2024-02 110, 2024-03 40/,
      /Possible double entries: rows 2 and 3/,
    ],
    never: [/rooms stands still/, /by order_no/],
  },
  {
    says: 'hours × rate of two files is held against the budget of a third, and hours are not',
    prompt: 'What did each project cost? hours.csv, people.csv, projects.csv',
    files: {
      'hours.csv':
        'date,project_id,person_id,hours\n2024-02-01,P1,e1,5\n2024-02-02,P1,e2,2\n2024-02-03,P2,e1,10\n2024-02-04,P2,e2,4\n2024-02-05,P1,e1,1\n',
      'people.csv': 'person_id,name,hourly_rate\ne1,Lin,50\ne2,Max,100\n',
      'projects.csv': 'project_id,project,budget\nP1,Web,1000\nP2,App,800\n',
    },
    expected: [/budget − hours × hourly_rate by key: P1 \(Web\) 1,000 − 500 = 500; P2 \(App\) 800 − 900 = -100; 1 key is above budget/],
    never: [/budget − hours =/],
  },
  {
    says: 'occupancy is told where a row is overbooked; a fee is the price of one; a lower end above the upper one is named; an odometer is no sum',
    prompt: 'Analyse courses.csv and log.csv',
    files: {
      'courses.csv': `course,topic,capacity,booked,fee\n${[10, 5, 8, 23, 0, 10, 4, 9, 10, 7].map((booked, i) => `C${i},${i % 2 ? 'Yoga' : 'Art'},20,${booked},${50 + 10 * (i % 3)}`).join('\n')}\n`,
      'log.csv': `date,tmin,tmax,odometer_km\n${[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((i) => `2024-03-${10 + i},${i === 4 ? 30 : i},${i + 9},${1000 + 40 * i}`).join('\n')}\n`,
    },
    expected: [
      /booked ÷ capacity is 43 % over 10 rows \(86 of 200\).*; above capacity in row 4 \(C3\): 23 of 20/,
      /booked × fee adds up to 5,000/,
      /tmin is above tmax in 1 row: row 4 .*: 30 and 13/,
    ],
    never: [/odometer_km adds up/, /(?<!× )fee adds up/, /Means of the columns/],
  },
  {
    says: 'a time that a task speaks of is no limit',
    prompt: 'How did sales and visits in shop.csv develop over 3 months, and over 30 days?',
    files: { 'shop.csv': 'date,sales,visits\n2024-01-05,10,100\n2024-02-05,20,90\n2024-03-05,40,80\n2024-03-20,50,70\n' },
    expected: [/sales adds up to 120/],
    never: [/is above 3/, /never above/],
  },
  {
    says: 'the totals of orders are checked against their lines',
    prompt: 'Analyse orders.json',
    files: { 'orders.json': JSON.stringify({ orders }) },
    expected: [
      /total = sum of qty × unit_price of its lines \+ shipping in 3 of 4 rows, but not in row 3 \(A3\): 15, written 20 \(difference 5\)/,
    ],
  },
  {
    says: 'of mixed currencies, the figures of the one that most rows have are told by group and by month; late payers are counted',
    prompt: 'Analyse invoices.csv',
    files: {
      'invoices.csv':
        'invoice_no,customer,date,due,paid_on,amount,currency\n1001,Ann,2024-01-03,2024-02-02,2024-02-09,100,EUR\n1002,Bob,2024-01-09,2024-02-08,2024-02-01,50,EUR\n1003,Ann,2024-02-03,2024-03-04,2024-03-20,70,EUR\n1004,Bob,2024-02-09,2024-03-10,2024-03-30,999,CHF\n',
    },
    expected: [
      /amount in EUR by customer: Ann 170 \(77\.3 %\), Bob 50/,
      /amount in EUR by month \(date\): 2024-01 150, 2024-02 70/,
      /amount in EUR only: largest in row 1 .*: 100/,
      /by customer: Ann 2, Bob 1/,
    ],
  },
  {
    says: 'files to be put together are read; a row of two ids that comes twice is a duplicate, and so is an address',
    prompt: 'Please put people.csv and courses.csv together',
    files: {
      'people.csv': `person_id,email\n${Array.from({ length: 9 }, (_, i) => `P${i},p${i === 8 ? 3 : i}@example.org`).join('\n')}\n`,
      'courses.csv':
        'person_id,course_id,grade\nP1,C1,2\nP1,C2,3\nP2,C1,1\nP2,C2,1\nP3,C1,2\nP3,C2,2\nP4,C1,4\nP4,C2,1\nP5,C1,1\nP5,C2,2\nP1,C1,2\n',
    },
    expected: [/row 11 repeats row 1/, /email has the same value in several rows: p3@example\.org \(rows 4 and 9\)/, /joined on person_id/],
    never: [/email is free text/],
  },
  {
    says: 'a broken line among JSON lines is left out and named',
    prompt: 'Summarise calls.jsonl',
    files: {
      'calls.jsonl':
        '{"id":1,"minutes":5}\n{"id":2,"minutes":7}\n{"id":3,"min\n{"id":4,"minutes":9}\n{"id":5,"minutes":1}\n{"id":6,"minutes":2}\n',
    },
    expected: [/5 rows/, /minutes adds up to 24 /, /1 of 6 lines is not valid JSON and left out: line 3/],
  },
  {
    says: 'where dates are written 31.12.2024, the comma of 2,387 is the decimal mark',
    prompt: 'Analyse meter.tsv',
    files: { 'meter.tsv': `time\tkwh\n${hours.join('\n')}\n` },
    expected: [/kwh adds up to 121\.435 over 30 rows/, /the comma is read as the decimal mark/],
  },
  {
    says: 'concentrations and pH are not added up; a limit is counted by row, for the column that it names',
    prompt: 'The limit for nitrate is 50 mg/l. Is it kept in water.csv?',
    files: {
      'water.csv':
        'sample,site,nitrate_mg_l,lead_mg_l,pH\nA1,Mill,12,1,7\nA2,Mill,55,2,7.5\nA3,Lake,49,3,7.2\nA4,Lake,61,70,7.1\nA5,Lake,,5,7.4\nA6,Mill,50,4,7\n',
    },
    expected: [
      /nitrate_mg_l is above 50 in 2 rows of 5: 55 in row 2 \(A2\), 61 in row 4 \(A4\); that is 40 %/,
      /nitrate_mg_l is missing in row 5 \(A5\)/,
    ],
    never: [/(?:nitrate_mg_l|pH) adds up/, /lead_mg_l is above/],
  },
  {
    says: 'three tables are followed as a chain: stock by the price list and the supplier that it names',
    prompt: 'What is the stock worth by supplier? stock.csv, prices.csv, suppliers.csv',
    files: {
      'stock.csv': 'item_no,warehouse,quantity\n0001,Kiel,10\n0001,Lahr,5\n0002,Kiel,4\n0003,Lahr,1\n0009,Kiel,3\n0004,Kiel,0\n',
      'prices.csv': 'item_no,supplier_id,unit_price\n0001,S1,2\n0002,S2,10\n0003,S9,7\n0004,S2,1\n',
      'suppliers.csv': 'supplier_id,supplier,lead_time_days\nS1,Nord,5\nS2,Sued,9\nS3,West,2\n',
    },
    expected: [
      /adds up to 77 over 5 rows/,
      /quantity × unit_price by supplier \(from prices\.csv with suppliers\.csv\): Sued 40 .*Nord 30 .*; without a supplier 7 \(1 row\)/,
      /quantity × unit_price by warehouse \(from stock\.csv\): Kiel 60 .*Lahr 17/,
      /quantity is 0 in 1 row: row 6/,
    ],
    never: [/Sum of lead_time_days by supplier/],
  },
  {
    says: 'what is due is held against what was paid, key by key',
    prompt: 'Who has not paid? members.csv and payments.csv',
    files: {
      'members.csv': 'member_no,name,fee\n01,Ann,50\n02,Bob,50\n03,Cid,80\n04,Dora,80\n',
      'payments.csv': 'date,member_no,amount\n2024-01-02,01,50\n2024-01-03,03,30\n2024-01-04,04,100\n2024-01-05,77,9\n',
    },
    expected: [
      /Outstanding \(fee − amount, where it is positive\): 100 from 2 keys: 50 from 1 key with nothing and 50 from 1 key with a part/,
      /No amount at all: 1 key, together 50: 02 \(Bob\) 50/,
      /amount is only a part of fee for 1 key, together 50 missing: 03 \(Cid\) 30 of 80, 50 missing/,
      /amount is more than fee for 1 key, together by 20: 04 \(Dora\) 100 of 80, 20 too much/,
      /amount without a key of members\.csv: 1 row, together 9: 9 in row 4 \(2024-01-05, member_no 77\)/,
    ],
  },
  {
    says: 'rows over months: what is far from a row, constant, rising or missing is named',
    prompt: 'Review costs.csv',
    files: {
      'costs.csv':
        'Account,Jan,Feb,Mar,Apr,May,Jun,Jul\nRent,900,900,900,900,900,900,900\nPay,100,110,120,130,140,150,160\nAds,50,52,51,400,49,50,53\nPower,30,31,,30,29,31,30\n',
    },
    expected: [
      /Ads 400 in Apr \(median 51\)/,
      /The same value in all of these columns: Rent 900/,
      /Pay rises with every column, from 100 to 160/,
      /Mar is missing in row 4 \(Power\)/,
    ],
  },
  {
    says: 'rows without a name are told by date and group',
    prompt: 'Check hours.csv',
    files: {
      'hours.csv':
        'Date,Name,From,Hours,Note\n2024-09-02,Ann,08:00,8,\n2024-09-02,Bob,08:05,7,\n2024-09-03,Ann,07:55,8,\n2024-09-03,Bob,,,sick\n2024-09-04,Ann,08:10,8,\n2024-09-04,Bob,08:01,6,\n2024-09-05,Ann,08:02,8,\n',
    },
    expected: [
      /From and Hours are missing in row 4 \(2024-09-03, Bob\)/,
      /Note has a value in 1 row only: 'sick' in row 4 \(2024-09-03, Bob\)/,
    ],
  },
  {
    says: 'names of months are in order of time, and what grows and shrinks is given in per cent',
    prompt: 'Which branch grows and which shrinks from the first to the last month in branches.csv?',
    files: {
      'branches.csv':
        'Month,Branch,Visits\nApr,Ulm,40\nApr,Bonn,60\nFeb,Ulm,20\nFeb,Bonn,80\nJan,Ulm,10\nJan,Bonn,90\nMar,Ulm,30\nMar,Bonn,75\n',
    },
    expected: [
      /Visits by Branch, from Jan to Apr \(Month\): Ulm \+30 \(10 to 40, \+300 %\); Bonn −30 \(90 to 60, −33\.3 %\)/,
      /\| Jan \| 2 .*\n\| Feb \| 2 .*\n\| Mar \| 2 .*\n\| Apr \| 2 /,
    ],
  },
];

for (const { says, prompt, files, expected, never } of cases) {
  test(says, async () => {
    const { summary, workspace } = await runAgent(prompt, { files });
    const text = `${workspace.text('report.md')}\n${summary}`.replace(/\\([|<>[\]`*])/g, '$1');
    for (const fact of expected) assert.match(text, fact);
    for (const falsehood of never ?? []) assert.doesNotMatch(text, falsehood);
  });
}

test('the report on a log has its longest gap, its sources and the largest figure of a message', async () => {
  const line = (minute: number, text: string) =>
    `2024-06-11 0${Math.floor(minute / 60)}:${String(minute % 60).padStart(2, '0')}:00 ${text}`;
  const log = [
    ...Array.from({ length: 12 }, (_, i) => line(i, `[INFO] ${i % 2 ? 'web' : 'api'}: request took ${10 + i}ms`)),
    line(12, '[ERROR] api: db refused'),
    line(70, '[INFO] web: started'),
    line(71, '[INFO] web: request took 900ms'),
  ];
  const { workspace } = await runAgent('Something went wrong. Can you look at service.log and tell me what happened?', {
    files: { 'service.log': `${log.join('\n')}\n` },
  });
  const text = workspace.text('summary.md');
  assert.match(text, /No entry for 58 minutes, from 2024-06-11 00:12:00 \(line 13\) to 2024-06-11 01:10:00 \(line 14/);
  assert.match(text, /Entries by source: web 8, api 7/);
  assert.doesNotMatch(text, /share most words/);
  assert.match(text, /11 to 900 \(line 15\)/);
});
