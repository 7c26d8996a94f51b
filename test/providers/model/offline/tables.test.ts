/**
 * What the offline model says of tables as people have them: the figures of each are computed here by hand or by plain code, and what would be false is
 * named beside what has to be said.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAgent } from './agent-loop.ts';

type Case = {
  says: string;
  prompt: string;
  files: Record<string, string | Uint8Array>;
  expected: RegExp[];
  never?: RegExp[];
};

const dayMs = 86_400_000;
const tenMinutes = Array.from({ length: 100 }, (_, i) => i).filter((i) => i < 50 || i > 52);
const sensor = tenMinutes.map((i) => {
  const time = new Date(Date.UTC(2024, 2, 1) + i * 600_000).toISOString().slice(0, 16).replace('T', ' ');
  return `${time},S-01,${i >= 70 && i < 85 ? 21.4 : ((200 + ((i * 37) % 41)) / 10).toFixed(1)}`;
});
const visits = Array.from({ length: 56 }, (_, i) => {
  const day = new Date(Date.UTC(2024, 0, 1) + i * dayMs);
  return `${day.toISOString().slice(0, 10)},${day.getUTCDay() === 6 ? 300 + (i % 5) : 100 + (i % 7)}`;
});
const orders = {
  generated: '2024-06-01',
  orders: [
    {
      id: 'O1',
      customer: { city: 'Bonn' },
      lines: [
        { sku: 'A', qty: 2, price: 9.5 },
        { sku: 'B', qty: 1, price: 20 },
      ],
      tags: ['vip'],
    },
    { id: 'O2', customer: { city: 'Ulm' }, lines: [{ sku: 'A', qty: 5, price: 9.5 }], tags: [] },
    { id: 'O3', customer: { city: 'Bonn' }, lines: [{ sku: 'C', qty: 1, price: 100 }], tags: ['vip', 'new'] },
  ],
};

const cases: Case[] = [
  {
    says: 'total and subtotal rows are no records, and are checked against their rows',
    prompt: 'Report on donations.csv',
    files: {
      'donations.csv':
        'Campaign,Donor,Amount\nSpring,Ann,100\nSpring,Bob,50\nSubtotal Spring,,150\nAutumn,Cid,200\nAutumn,Dora,25\nSubtotal Autumn,,225\nGrand Total,,460\n',
    },
    expected: [
      /4 rows/,
      /Amount adds up to 375/,
      /"Subtotal Spring".*agrees/,
      /460 but the rows add up to 375 \(difference 85, too high\)/,
    ],
    never: [/7 rows/, /adds up to 1,\d/],
  },
  {
    says: 'numbers written as text are read, and what is none is counted and named',
    prompt: 'Analyse parts.tsv',
    files: {
      'parts.tsv':
        "part\tstock\tvalue\nA\t'12\t1\u00a0234,50\nB\t'8\t(2 000,00)\nC\tn/a\t15,25-\nD\t30\tabout 7\nE\t5\t€ 1,00\nF\t1\t0,50\n",
    },
    expected: [
      /stock adds up to 56/,
      /value adds up to -779\.25/,
      /1 of 6 values in stock are not numbers: 'n\/a' ×1/,
      /1 of 6 values in value are not numbers: 'about 7' ×1/,
    ],
  },
  {
    says: 'identifiers, codes and years are never added up, averaged or grouped by',
    prompt: 'Analyse the staff list',
    files: {
      'staff.csv':
        'employee_id,name,department,birth_year,postcode,phone,salary\n0017,Ann,Sales,1985,01067,030123456,52000\n0018,Bob,IT,1990,10115,0301239999,61000\n0019,Cleo,IT,1979,80331,0891112223,72000\n0020,Dan,Sales,1995,04109,0341555666,43000\n0021,Eve,HR,1988,20095,0401234567,49000\n0021,Fay,HR,1992,50667,0221998877,47000\n',
    },
    expected: [
      /By department, IT has the largest mean salary: 66,500/,
      /0021 occurs 2 times \(rows 5 and 6: name Eve and Fay/,
      /1979 to 1995/,
      /leading zero/,
    ],
    never: [/(?:postcode|phone|birth_year|employee_id|salary) adds/, /By (?:postcode|phone)/, /birth_year goes/],
  },
  {
    says: 'lists within JSON records are tables of their own, and a sum of products is computed where the file has none',
    prompt: 'Analyse orders.json',
    files: { 'orders.json': JSON.stringify(orders, null, 1) },
    expected: [
      /3 rows, 4 columns/,
      /4 rows/,
      /qty adds up to 9/,
      /qty × price adds up to 186\.50/,
      /By sku, C has the largest qty × price: 100/,
      /generated 2024-06-01/,
    ],
    never: [/(?<!× )price adds up/],
  },
  {
    says: 'stock and price list are joined on their key, whatever its header, case and blanks',
    prompt: 'What is our stock worth?',
    files: {
      'stock.csv': 'SKU,Product,Stock\nA-1,Bolt,1200\na-2 ,Nut,800\nA-3,Washer,40\n',
      'pricelist.csv': 'sku;unit_price\nA-1;0,12\nA-2;0,15\nA-9;9,99\n',
    },
    expected: [/Stock × unit_price .* adds up to 264 /, /Only in stock\.csv.*A-3/, /Only in pricelist\.csv.*A-9/, /'a-2' and 'A-2'/],
  },
  {
    says: 'budget and expenses are compared by category',
    prompt: 'Compare budget.csv with expenses.csv',
    files: {
      'budget.csv': 'Category,Budget\nMarketing,5000\nTravel,2000\nTraining,1000\n',
      'expenses.csv':
        'date,category,amount\n2024-01-05,Marketing,2200.50\n2024-01-19,Travel,900\n2024-02-02,marketing,3100\n2024-03-09,Gifts,85\n',
    },
    expected: [
      /Marketing 5,000 − 5,300\.50 = -300\.50/,
      /Budget − amount = 1,714\.50/,
      /Marketing by 300\.50/,
      /Only in expenses\.csv, not in budget\.csv: 1 key \(Gifts \(row 4, amount 85\)\)/,
      /Only in budget\.csv.*Training/,
    ],
  },
  {
    says: 'gaps in time and values that stand still are named',
    prompt: 'What is odd in the log?',
    files: { 'sensor.csv': `timestamp,sensor,temperature\n${sensor.join('\n')}\n` },
    expected: [
      /every 10 minutes, but 3 of 100 are missing: 2024-03-01 08:20 to 2024-03-01 08:40/,
      /stands still at 21\.40 for 15 rows/,
      /sensor is constant: S-01/,
    ],
    never: [/temperature adds up/],
  },
  {
    says: 'a counter is read by its differences, and a fall of it is named',
    prompt: 'Analyse the meter',
    files: {
      'meter.csv': `month,reading_kwh\n${[10000, 10120, 10250, 10390, 10385, 10500].map((value, i) => `2024-0${i + 1}-01,${value}`).join('\n')}\n`,
    },
    expected: [/difference of 500/, /largest step is 140/, /falls by 5/],
    never: [/adds up to/],
  },
  {
    says: 'columns that follow from others are checked row by row',
    prompt: 'Check the invoices',
    files: {
      'invoices.csv':
        'no;net;vat;gross\nRE-1;100,00;19,00;119,00\nRE-2;200,00;38,00;238,00\nRE-3;50,00;9,50;59,50\nRE-5;10,00;1,90;11,90\nRE-6;1.100,00;209,00;1.390,00\nRE-7;30,00;5,70;35,70\nRE-8;40,00;7,60;47,60\n',
    },
    expected: [
      /gross = net \+ vat in 6 of 7 rows, but not in row 5 \(RE-6\): 1,100 \+ 209 = 1,309, written 1,390/,
      /vat = 19 % of net in all 7 rows/,
      /RE-4 is missing/,
    ],
  },
  {
    says: 'currencies are never added together',
    prompt: 'How much did we invoice?',
    files: { 'inv.csv': 'no,client,currency,amount\n1,A,EUR,100.50\n2,B,USD,200\n3,A,EUR,50\n4,C,GBP,75\n' },
    expected: [/EUR 150\.50 \(2 rows\)/, /USD 200/, /not added together/],
    never: [/425\.50/],
  },
  {
    says: 'dates that could be two days are said to be so, and no month is made of them',
    prompt: 'Check visits.csv',
    files: { 'visits.csv': 'visitor,day,spent\nA,03/04/2024,10\nB,01/02/2024,20\nC,05/06/2024,30\nD,02/01/2024,40\n' },
    expected: [/could mean two things/, /spent adds up to 100/],
    never: [/By (?:month|day)/],
  },
  {
    says: 'formulas are text, counted and named, with a warning where they may run',
    prompt: 'Analyse export.csv',
    files: { 'export.csv': 'item,qty,total\nPen,10,15\nPad,4,=B3*3\nInk,2,24\nEvil,1,"=HYPERLINK(""http://x.example"")"\nTape,5,10\n' },
    expected: [/total adds up to 49/, /2 formulas as text/, /=B3\*3/, /formula injection/],
  },
  {
    says: 'free text has topics with counts and quotes word for word',
    prompt: 'Summarise the survey',
    files: {
      'survey.csv':
        'id,rating,comment\n1,1,"The delivery was late again"\n2,5,"Great support team, solved it quickly"\n3,2,"Delivery took too long"\n4,4,"Fast delivery this time"\n5,5,"Friendly support"\n6,44,"The price is too high"\n',
    },
    expected: [
      /Topic delivery in comment: 3 of 6 answers .*“Delivery took too long” \(row 3, rating 2\)/,
      /Topic support in comment: 2 of 6 answers/,
    ],
    never: [/rating adds up/],
  },
  {
    says: 'titles, blank rows, comments and repeated headers are no records; a table may be called .txt',
    prompt: 'Analyse messy.txt',
    files: {
      'messy.txt':
        'Monthly revenue report,,\n,,\nStore,Month,Revenue\nBerlin,2024-01,"1 200,50"\nBERLIN,2024-02,"1 310,00"\n,,\nStore,Month,Revenue\nHamburg,2024-04,"900,25"\nHamburg,2024-05,"100,00"\n# end of data,,\n',
    },
    expected: [
      /4 rows/,
      /Revenue adds up to 3,510\.75/,
      /header is repeated/,
      /By Store, Berlin has the largest Revenue: 2,510\.50/,
      /in 2024-03/,
    ],
  },
  {
    says: 'a pattern of the week is told where the days support it, and whole rows that repeat are named',
    prompt: 'Analyse visits.csv',
    files: { 'visits.csv': `date,visits\n${[...visits, visits[3]].join('\n')}\n` },
    expected: [/Saturdays have most/, /row 57 repeats row 4/],
  },
  {
    says: 'an access log is a table',
    prompt: 'Analyse access.log',
    files: {
      'access.log': Array.from(
        { length: 12 },
        (_, i) => `10.0.0.${i % 3} - - [10/Oct/2023:13:00:${10 + i} +0000] "GET /p${i % 2} HTTP/1.1" ${i === 5 ? 500 : 200} ${i * 10}`,
      ).join('\n'),
    },
    expected: [/12 rows/, /bytes adds up to 660/, /500 1 \(8\.3 %\)/],
    never: [/status adds up/],
  },
  {
    says: 'an empty file gets a report that says what to do',
    prompt: 'Analyse empty.csv',
    files: { 'empty.csv': '' },
    expected: [/The file is empty/, /upload it again/],
  },
  {
    says: 'a header without rows gets a report that says what to do',
    prompt: 'Analyse head.csv',
    files: { 'head.csv': 'a,b,c\n' },
    expected: [/header \(a, b, c\) and no rows/, /at least one row/],
  },
  {
    says: 'amounts of both signs are told as what came in and what went out, by month, and double entries are found beside a running balance',
    prompt: 'Analyse "account.csv": in which month did most go out, and why?',
    files: {
      'account.csv':
        'date,text,amount,balance\n2024-01-02,Pay,1000,1100\n2024-01-05,Rent,-400,700\n2024-02-02,Pay,1000,1700\n2024-02-05,Rent,-400,1300\n2024-02-09,Roof,-900,400\n2024-02-11,Shop,-20,380\n2024-02-11,Shop,-20,360\n',
    },
    expected: [
      /2,000 in \(2 rows above zero/,
      /-1,740 out \(5 rows below zero, largest -900 in row 5, Roof\)/,
      /most went out in 2024-02 \(-1,340; its largest is -900 \(row 5, Roof\)/,
      /rows 6 and 7 .*equal in everything but balance/,
    ],
    never: [/alone is/],
  },
  {
    says: 'what is late and what is open is told by the deadline, with the amount',
    prompt: 'Who paid late?',
    files: {
      'bills.csv':
        'invoice_no,customer,due_date,paid_on,amount\n001,Ann,2024-01-10,2024-01-09,10\n002,Bob,2024-01-10,2024-01-15,20\n003,Cid,2024-01-12,,40\n004,Dan,2024-01-13,2024-01-13,80\n',
    },
    expected: [
      /paid_on is after due_date in 1 of 3 rows with both: 002 Bob \(row 2\) by 5 days/,
      /1 row has no paid_on, together amount 40: 003 Cid/,
    ],
  },
  {
    says: 'times with several offsets are turned to UTC, and the report says so',
    prompt: 'Analyse calls.csv',
    files: {
      'calls.csv':
        'time,caller\n2024-01-01T10:00:00+02:00,a\n2024-01-01T09:00:00Z,b\n2024-01-01T05:00:00-05:00,c\n2024-01-01T13:00:00+02:00,d\n',
    },
    expected: [/2024-01-01T08:00:00Z to 2024-01-01T11:00:00Z/, /time mixes time zones: \+02:00 ×2, UTC ×1, -05:00 ×1/],
  },
  {
    says: 'a promoter score, a scale given in a name, and the share of one count in another are computed; what no column tells is said',
    prompt: 'What is the conversion rate, and how much profit did we make?',
    files: {
      'week.csv': 'week,visits,orders,Recommend us (0-10)\nA,100,10,10\nB,200,10,9\nC,100,30,0\nD,100,5,7\nE,100,5,6\n',
    },
    expected: [
      /orders ÷ visits is 10 % over 5 rows \(60 of 600\); highest in row 3 \(C\): 30 %/,
      /2 promoters \(40 %\).*2 detractors \(40 %\).*score 0 /,
      /no column tells profit/,
    ],
    never: [/outside of the scale/, /no column tells (?!profit)/],
  },
  {
    says: 'a limit that the task names is held against the column of its unit; marks are ranked, and one beyond 100 is called out; an empty list is zero',
    prompt: 'The limit is 30 C, is room.csv fine? Also rank marks.csv, and how many minutes are in calls.json? What will it be next month?',
    files: {
      'room.csv': `time,temp_c\n${[20, 21, 22, 21, 20, 35, 22, 21].map((c, i) => `2024-01-0${i + 1},${c}`).join('\n')}\n`,
      'marks.csv': 'student,Math,Art,Sport\nAnn,50,60,70\nBob,90,80,70\nCid,104,40,60\nDora,55,65,45\n',
      'calls.json': '[{"id":1,"parts":[{"minutes":3},{"minutes":4}]},{"id":2,"parts":[]},{"id":3,"parts":[{"minutes":5}]}]',
    },
    expected: [
      /temp_c is above 30 in 1 row of 8: 35 in row 6 \(2024-01-06\)/,
      /Math 104 in row 3 \(Cid\) is above 100/,
      /In order: Bob 80, Cid 68/,
      /Sum of minutes[^\n]*: 12|Sum of minutes[^\n]*\n\n12/,
      /makes no forecast/,
    ],
    never: [/parts is an empty column/],
  },
  {
    says: 'durations, shares and stock are told by group, with what is below its reorder level',
    prompt: 'Analyse stops.tsv, ads.csv and store.csv: total hours, rates, what to reorder?',
    files: {
      'stops.tsv': 'machine\treason\tduration\nM1\tjam\t0:30\nM2\tjam\t1:15\nM1\ttool\t2:00\nM2\ttool\t0:15\n',
      'ads.csv': 'variant,visitors,orders\nA,100,5\nA,100,7\nB,200,30\nB,200,10\n',
      'store.csv': 'sku,name,on_hand,reorder_level\n001,Pen,5,10\n002,Ink,20,20\n003,Cup,30,10\n004,Box,-1,4\n',
    },
    expected: [
      /4:00 hours \(4\) over 4 rows, 1:00 \(60 minutes\) on average; longest 2:00 in row 3/,
      /duration by machine: M1 2:30 hours \(2\.50\), M2 1:30 hours/,
      /by variant: B 10 % \(40 of 400\), A 6 % \(12 of 200\)/,
      /on_hand is below reorder_level in 2 of 4 rows: .*\(Pen\) 5 of 10 \(5 short\)/,
    ],
    never: [/no numeric column "hours"/],
  },
  {
    says: 'keys are the same whether they are called Artikelnr or article_id, and a Bestand is a quantity',
    prompt: 'Was ist das Lager in bestand.csv mit preise.csv wert?',
    files: {
      'bestand.csv': 'Artikelnr;Bestand\n0101;10\n0102;4\n0103;1\n',
      'preise.csv': 'article_id,supplier,price\n0101,Lux,2.50\n0102,Ohm,5\n0109,Lux,9\n',
    },
    expected: [/adds up to 45 over 2 rows/, /by supplier \(from preise\.csv\): Lux 25 .*Ohm 20/, /Only in bestand\.csv[^\n]*0103/],
  },
  {
    says: 'the total of each group is no record, wherever it stands in the file and in the row',
    prompt: 'Compare the towns in towns.csv over the years',
    files: {
      'towns.csv':
        'year,town,guests\n2022,Ulm,100\n2022,Bonn,200\n2023,Ulm,150\n2023,Bonn,260\n2024,Ulm,90\n2024,Bonn,400\n2022,All,300\n2023,All,410\n2024,All,490\n',
    },
    expected: [
      /6 rows/,
      /3 rows "All" \(rows 7, 8 and 9\) are totals, not records;[^\n]*agree with the sums of their rows/,
      /guests adds up to 1,200/,
      /guests by town over the years: Ulm 100 in 2022 to 90 in 2024 \(−10 %\); Bonn 200 in 2022 to 400 in 2024 \(\+100 %\)/,
    ],
    never: [/2,400/, /All has the largest/],
  },
  {
    says: 'a total of some of the rows is no record; a row called "Total …" that sums up nothing is one',
    prompt: 'Explain costs.csv and audience.csv',
    files: {
      'costs.csv':
        'unit,spring,autumn,whole year\nRoads,120,150,270\nSchools,300,330,630\nParks,60,40,100\nTotal outdoors,180,190,370\nLibrary,25,25,55\nTotal,505,545,1055\n',
      'audience.csv': 'audience,clicks,views\nGuests,50,900\nMen,20,70\nWomen,10,80\nTotal strangers,5,60\n',
    },
    expected: [
      /Row 4 \("Total outdoors"\) is a total[^\n]*agrees/,
      /Row 6 \("Total"\) is a total[^\n]*it agrees with the sum of its rows \(spring 505, autumn 545/,
      /spring adds up to 505 over 4 rows/,
      /audience\.csv: 4 rows/,
      /clicks adds up to 85 over 4 rows/,
    ],
    never: [/does not agree/],
  },
  {
    says: 'every value that is not a number is counted, however many different ones there are',
    prompt: 'Analyse weights.csv',
    files: {
      'weights.csv': `crate,weight\n${Array.from({ length: 50 }, (_, n) => `C${n},${n % 3 === 0 ? `see note ${n}` : n + 20}`).join('\n')}\n`,
    },
    expected: [/17 of 50 values in weight are not numbers/],
  },
  {
    says: 'a placeholder counts as a value that was left out once, and an amount of formulas is computed from quantity and price',
    prompt: 'Sum up offer.csv for me',
    files: {
      'offer.csv':
        'item,qty,price,amount\nDesk,4,310,=B2*C2\nChair,8,95.5,764\nLamp,2,42,-\nRug,1,80,80\nShelf,3,20,60\nMat,2,5,about 10\n',
    },
    expected: [
      /3 of 6 values in amount are not numbers/,
      /qty × price adds up to 2,238 over 6 rows/,
      /\| qty × price \| computed \| 0 \(0 %\) \| 6 \|/,
    ],
    never: [/no numeric column "up"/, /3 of 5 values/],
  },
  {
    says: 'a date that could be two days is read so that the rows are in order, where they are else; otherwise no reason is made up',
    prompt: 'Check visits.csv and mixed.csv',
    files: {
      'visits.csv':
        'date,minutes\n2025-04-01,20\n02.04.2025,15\n2025-04-03,25\n04/05/2025,30\n2025-04-07,5\n2025-04-09,20\n2025-04-12,20\n',
      'mixed.csv': 'date,minutes\n09.04.2025,20\n04/05/2025,30\n02.04.2025,15\n',
    },
    expected: [/the month is read first, because only so the rows are in order of time/, /dates with dots/],
    never: [/numbers of the file have decimal commas/],
  },
  {
    says: 'readings of instruments are averaged, never added up, and a period without a figure is not 0',
    prompt: 'Analyse probes.csv and plots.csv',
    files: {
      'probes.csv': `at,probe,value,unit\n${Array.from({ length: 24 }, (_, i) => `2025-02-0${1 + (i >> 3)} 0${i % 8}:00,${i % 2 ? 'roof' : 'cellar'},${10 + ((i * 7) % 50) / 10},°C`).join('\n')}\n`,
      'plots.csv':
        'plot,acres,leased\nA,10,2018-07-01\nB,n/a,2019-04-01\nC,12,2020-10-01\nD,n/a,2019-05-01\nE,9,2021-01-01\nF,10,2022-03-01\n',
    },
    expected: [/value goes from 10 to/, /acres adds up to 41/],
    never: [/value adds up/, /2019 0 /, /2019 Q2 0/],
  },
  {
    says: 'small whole numbers that are roughly a share of another column are correlated, not computed from it',
    prompt: 'Report on channels.csv',
    files: {
      'channels.csv': `order,items,value\n${Array.from({ length: 24 }, (_, i) => `A${100 + i},${3 + ((i * 5) % 11)},${(3 + ((i * 5) % 11)) * 8 + (i % 3)}`).join('\n')}\n`,
    },
    expected: [/items and value rise together/],
    never: [/items = [\d.]+ % of value/],
  },
  {
    says: 'topics have the rating of the rows that mention them, swapped letters are told, and spellings are one in every comparison',
    prompt: 'What do people say in survey.csv? Does our spend in ads.csv work?',
    files: {
      'survey.csv':
        'id,town,happy,rating,comment\n1,York,yes,1,"The queue was far too long"\n2,york,yes,5,"Friendly staff helped me at once"\n3,York,no,2,"Stood in the queue for ever"\n4,Yrok,no,5,"The staff is lovely"\n5,Hull,no,1,"Awful queue at the till again"\n6,Hull,yes,4,"Staff was fine and quick"\n7,York,no,3,"It was all right I suppose"\n8,Hull,no,3,"Nothing more to say about it"\n',
      'ads.csv': 'day,spend,signups\n2025-01-01,100,10\n2025-01-02,300,20\n2025-01-03,200,30\n',
    },
    expected: [
      /Topic queue in comment: 3 of \d+ answers \([\d.]+ %\), mean rating 1\.33;/,
      /Topic staff in comment: 3 of \d+ answers \([\d.]+ %\), mean rating 4\.67;/,
      /'Yrok' ×1 is close to 'York'/,
      /spend per signups: 10 over 3 rows together \(600 ÷ 60\)/,
    ],
    never: [/york: /],
  },
  {
    says: 'codes with leading zeros are a key, whatever is before their "no"',
    prompt: 'Who has not paid? Compare people.csv and payments.csv',
    files: {
      'people.csv': 'no,name,due\n011,Ann,40\n012,Bob,40\n013,Cid,20\n014,Dee,40\n',
      'payments.csv': "date,member no,amount\n2025-01-03,011,40\n2025-01-09,013,'10\n2025-01-20,012,45\n2025-02-01,099,40\n",
    },
    expected: [/joined on no = member no/, /Only in people\.csv[^\n]*014/, /Only in payments\.csv[^\n]*099/],
  },
  {
    says: 'the delay is told over all rows too, and rents may be added up if that means something',
    prompt: 'Are we on time in deliveries.csv, and what do the flats bring (flats.csv)?',
    files: {
      'deliveries.csv':
        'order,promised,delivered\nD1,2025-07-01,2025-07-01\nD2,2025-07-02,2025-07-06\nD3,2025-07-03,2025-07-03\nD4,2025-07-04,2025-07-06\n',
      'flats.csv': 'flat,rent\n1A,610\n1B,702.50\n2A,615\n2B,720\n',
    },
    expected: [/over all 4, delivered is 1\.50 days after promised on average/, /if they may, they make 2,647\.50/],
  },
  {
    says: 'a text file with columns aligned by blanks is a table, and its notes are named',
    prompt: 'Attached is the seed list (seeds.txt). What must we buy, and what are the seeds worth by shelf?',
    files: {
      'seeds.txt':
        'Seeds in the shed, March 2025\n\nNo.    Seed           Shelf   Stock   Reorder   Unit price\n=======================================================\n' +
        '007    Rye            S1        40        30        2.50\n019    Winter wheat   S2         8        25        3.00\n022    Oats           S1        12        10        1.75\n' +
        '031    Red clover     S2        -2         5        9.00\n044    Flax           S3        30         5        4.00\n\nShelf S3 was damp.\n',
    },
    expected: [
      /5 rows, \d columns \(columns aligned by blanks/,
      /Stock is below Reorder in 2 of 5 rows: .*Winter wheat.*8 of 25 \(17 short\)/,
      /Stock × Unit price adds up to 247/,
      /By Shelf, S1 has the largest Stock × Unit price: 121/,
      /Stock is negative in 1 row of 5: -2 in row 4 \(Red clover\)/,
      /"Shelf S3 was damp\." \(line 11\)/,
    ],
    never: [/does not answer questions/, /No\. adds up/],
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

test('prose in a .txt file is not read as a table', async () => {
  const notes =
    'We met on Monday, and Ann, Bob and Cid were there. The budget was agreed, the plan was not.\nNothing else, as far as known, was said.\nThe room was cold.\n';
  const { workspace } = await runAgent('Summarise notes.txt', { files: { 'notes.txt': notes } });
  assert.ok(workspace.files.has('summary.md'));
});

test('two tables without a common key are not joined', async () => {
  const { workspace } = await runAgent('Report on these files', {
    files: { 'a.csv': 'id,amount\n1,5\n2,6\n3,7\n', 'b.csv': 'id,height\n1,180\n2,170\n3,160\n' },
  });
  assert.doesNotMatch(workspace.text('report.md'), /The files together/);
});

test('64 KiB of equal headers and of nothing but blanks and quotes are read at once', { timeout: 10_000 }, async () => {
  for (const text of [`${'x,'.repeat(16_000)}\n1,2\n`, '"'.repeat(65_536), `a,b\n1${' '.repeat(65_536)}x,2\n`])
    await runAgent('Analyse wide.csv', { files: { 'wide.csv': text } });
});
