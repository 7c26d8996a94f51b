/** What the offline model says of groups over time, joined groups, ratings with comments, bank statements and minutes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAgent } from './agent-loop.ts';

type Case = { says: string; prompt: string; files: Record<string, string>; expected: RegExp[]; never?: RegExp[] };

const dayOf2023 = (i: number) => new Date(Date.UTC(2023, 0, 1) + i * 86_400_000).toISOString().slice(0, 10);

const cases: Case[] = [
  {
    says: 'a month with a few days is not compared with complete ones; entries at the end of each month are complete',
    prompt: 'Report on visits.csv and bookings.csv',
    files: {
      'visits.csv': `date,visits\n${Array.from({ length: 96 }, (_, i) => `${dayOf2023(i)},${i < 31 ? 10 : 20}`).join('\n')}\n`,
      'bookings.csv': `posted,item,cost\n${['01-31', '02-28', '03-31', '04-30', '05-31'].map((day, i) => `2023-${day},item ${i},${100 + 10 * i}`).join('\n')}\n`,
    },
    expected: [
      /From 2023-01 \(310\) to 2023-03 \(620\) visits changes by \+100 %/,
      /may be incomplete months: 2023-04 ends on 2023-04-06\./,
      /From 2023-01 \(100\) to 2023-05 \(140\)/,
    ],
    never: [/2023-01 begins on/],
  },
  {
    says: 'whole years are compared with each other for every quantity, with the month that leads each year, and not January with December',
    prompt: 'How did ferry.csv develop?',
    files: {
      'ferry.csv': `month,cars,lorries\n${Array.from({ length: 24 }, (_, i) => `${2022 + Math.floor(i / 12)}-${String((i % 12) + 1).padStart(2, '0')},${100 + (i % 12 === 6 ? 50 : i % 12) + (i >= 12 ? 10 : 0)},${40 - Math.floor(i / 12) * 2}`).join('\n')}\n`,
    },
    expected: [
      /By year: cars 2022 1,310, 2023 1,430 \(2022 to 2023 \+9\.2 %\); lorries 2022 480, 2023 456 \(2022 to 2023 −5 %\)\./,
      /In each year cars is highest in July \(2022 150, 2023 160\) and lowest in January \(2022 100, 2023 110\)\./,
    ],
    never: [/From 2022-01 \(/, /In each year lorries/, /The last 12 months together/],
  },
  {
    says: 'months of several years are compared with the same month where no two years are whole',
    prompt: 'Report on ferry.csv',
    files: {
      'ferry.csv': `month,cars\n${Array.from({ length: 16 }, (_, i) => `${2022 + Math.floor(i / 12)}-${String((i % 12) + 1).padStart(2, '0')},${100 + i}`).join('\n')}\n`,
    },
    expected: [/From 2022-04 \(103\) to 2023-04 \(115\) cars changes by \+11\.7 %/],
  },
  {
    says: 'each group is compared from the first month to the last, and the largest rise and fall are named',
    prompt: 'Which region grew most from January to March in sales.csv?',
    files: {
      'sales.csv':
        'date,region,revenue\n2024-01-05,North,100\n2024-01-09,South,300\n2024-01-20,East,50\n2024-02-05,North,120\n2024-02-11,South,280\n2024-02-12,East,60\n2024-03-02,North,180\n2024-03-05,South,250\n2024-03-28,East,110\n',
    },
    expected: [
      /revenue by region, from 2024-01 to 2024-03 \(date\): North \+80 \(100 to 180, \+80 %\); East \+60 \(50 to 110, \+120 %\); South −50 \(300 to 250, −16\.7 %\)/,
      /North rises most; South falls most\. By share, East rises most \(120 %\)/,
      /East: 2024-01 50, 2024-02 60, 2024-03 110/,
    ],
  },
  {
    says: 'a group without a row at one end has no change',
    prompt: 'Report on tickets.csv',
    files: {
      'tickets.csv':
        'opened,team\n2024-01-05,Blue\n2024-01-06,Red\n2024-01-20,Blue\n2024-02-05,Blue\n2024-02-11,Red\n2024-02-12,Green\n2024-02-13,Red\n2024-02-18,Green\n',
    },
    expected: [
      /rows by team, from 2024-01 to 2024-02 .*Red \+1 \(1 to 2, \+100 %\); Blue −1 \(2 to 1.*Green no row in 2024-01, 2 in 2024-02/,
    ],
    never: [/Green \+2/],
  },
  {
    says: 'measures of a short table are grouped by the columns of the other, and its numbers get names',
    prompt: 'Compare staff.csv and leave.csv',
    files: {
      'staff.csv':
        'No,Name,Department,Entry date,Salary\n001,Ann,Sales,2015-04-01,52000\n002,Bo,Sales,2019-09-15,47500\n003,Cy,IT,2021-01-01,64000\n004,Di,IT,2023-06-01,58000\n005,Ed,HR,2010-02-01,71000\n',
      'leave.csv': 'No;taken;left\n001;22;8\n002;30;0\n003;12,5;17,5\n004;4;26\n005;20;10\n',
    },
    expected: [
      /taken \(if its values may be added up\) by Department .*Sales 52 .*HR 20 .*IT 16\.50/,
      /002 \(Bo\) 30/,
      /taken \+ left = 30 in every row/,
    ],
    never: [/Salary goes from 71,000 \(2010/, /From 2010 /],
  },
  {
    says: 'one incoming payment among many expenses is told apart from them, and the expenses have shares',
    prompt: 'What did I spend in bank.csv?',
    files: {
      'bank.csv':
        'Date,Payee,Category,Amount,Balance\n2024-08-01,Opening,,,500.00\n2024-08-01,Landlord,Rent,-400.00,100.00\n2024-08-05,Employer,Salary,1000.00,1100.00\n2024-08-06,Shop,Food,-30.00,1070.00\n2024-08-07,Shop,Food,-20.00,1050.00\n2024-08-09,Train,Travel,-50.00,1000.00\n2024-08-31,Total,,=SUM(D3:D7),\n',
    },
    expected: [
      /1,000 in .* and -500 out/,
      /Rent -400 \(80 %\).*Food -50 \(10 %\)/,
      /Row 7 \("Total"\) is a total.*formulas, which are not computed/,
      /starts at 500 in its first row and ends at 1,000/,
    ],
    never: [/NaN/, /Mean Balance by/],
  },
  {
    says: 'ratings are counted, and comments of low and high ratings are quoted apart',
    prompt: 'What do people complain about in survey.csv?',
    files: {
      'survey.csv':
        'id,date,score,comment\n1,2024-05-01,1,Delivery was far too late\n2,2024-05-02,5,Great quality and friendly people\n3,2024-05-03,2,Delivery came late again\n4,2024-05-04,5,The quality is great\n5,2024-05-05,3,no comment\n6,2024-05-06,1,Nobody answered the phone\n7,2024-05-07,4,Good quality for the price\n',
    },
    expected: [
      /score is given as 5 ×2 \(28\.6 %\), 4 ×1 .*1 ×2/,
      /1 more says nothing, such as “no comment”/,
      /Topic delivery in comment: 2 of \d+ answers \([\d.]+ %\), mean score 1\.50; “Delivery was far too late” \(row 1, score 1\)/,
      /3 answers in comment with score 2 or less mention delivery \(2\); some write, without these topics: “Nobody answered the phone” \(row 6, score 1\)/,
      /3 answers in comment with score 4 or more mention quality \(3\)/,
    ],
    never: [/score goes from 1 \(2024/, /highest in 2024-05/],
  },
  {
    says: 'each topic of comments without a rating has its count and a quote',
    prompt: 'Topics of feedback.csv?',
    files: {
      'feedback.csv':
        'id,feedback\n1,The lift is broken again\n2,Coffee in the canteen is cold\n3,Please repair the lift soon\n4,The canteen needs better coffee\n5,More parking for bicycles\n',
    },
    expected: [/Topic lift in feedback: 2 of \d+ answers \([\d.]+ %\); “The lift is broken again” \(row 1\)/],
  },
  {
    says: 'the months that a task names are the ends of the comparison',
    prompt: 'Which region grew most from February to April in sales.csv?',
    files: {
      'sales.csv':
        'date,region,revenue\n2024-01-05,North,100\n2024-01-09,South,300\n2024-02-05,North,120\n2024-02-11,South,280\n2024-03-02,North,180\n2024-03-05,South,250\n2024-04-02,North,200\n2024-04-05,South,380\n2024-05-02,North,900\n2024-05-05,South,10\n',
    },
    expected: [/from 2024-02 to 2024-04 \(date\): South \+100 \(280 to 380, \+35\.7 %\); North \+80 \(120 to 200, \+66\.7 %\)/],
    never: [/from 2024-01 to 2024-05 \(date\)/],
  },
  {
    says: 'plan and actual of several periods are compared by row and by period, without a period that lacks one of them',
    prompt: 'Who is over budget in departments.json?',
    files: {
      'departments.json': JSON.stringify({
        departments: [
          { name: 'Sales', budget: { Q1: 100, Q2: 120 }, actual: { Q1: 90, Q2: 150 } },
          { name: 'IT', budget: { Q1: 200, Q2: 200 }, actual: { Q1: 180, Q2: 190 } },
          { name: 'HR', budget: { Q1: 50, Q2: 50 }, actual: { Q1: 60, Q2: null } },
        ],
      }),
    },
    expected: [
      /Over budget in all: Sales by 20 \(9\.1 %\), HR by 10 \(20 %\)\./,
      /Sales: budget 220, actual 240, over by 20 \(9\.1 %\); above in Q2 by 30\. IT: budget 400, actual 370, under by 30 \(7\.5 %\)\. HR: .*over by 10 \(20 %\); above in Q1 by 10; Q2 has only one of the two/,
      /budget 720, actual 670; by period \(budget and actual\): Q1 350 and 330, Q2 370 and 340/,
    ],
  },
  {
    says: 'a single date far from all others is named, and dates at which people started are no development',
    prompt: 'Check staff.csv for mistakes',
    files: {
      'staff.csv':
        'ID,Name,Team,Start,Monthly pay\n1,Ann,Ops,2019-03-01,3800\n2,Bo,Ops,2020-04-15,3040\n3,Cy,Dev,2021-07-01,5200\n4,Di,Dev,2022-09-01,4900\n5,Ed,HR,2023-02-01,1950\n6,Flo,Ops,2031-01-01,3700\n',
    },
    expected: [/Row 6 \(Flo\) has Start 2031-01-01, 7\.92 years after all others/],
    never: [/By year, /, /From 2019/],
  },
  {
    says: 'an access log tells the share of failed requests and its longest pause',
    prompt: 'Errors in access.log?',
    files: {
      'access.log': Array.from({ length: 30 }, (_, i) => {
        const time = new Date(Date.UTC(2024, 5, 3, 9, 0, i * 20 + (i >= 15 ? 1800 : 0))).toISOString().slice(11, 19);
        return `10.0.0.${i % 3} - - [03/Jun/2024:${time} +0000] "GET /${i % 4} HTTP/1.1" ${i % 10 === 3 ? 500 : 200} ${100 + i}`;
      }).join('\n'),
    },
    expected: [
      /3 of 30 requests \(10 %\) failed with a status of 400 or more: 500 ×3; 3 of them with 500/,
      /longest pause in time is 30\.33 minutes/,
    ],
  },
  {
    says: 'the figures of a list are compared with the estimate in its record',
    prompt: 'What is over the estimate in project.json?',
    files: {
      'project.json': JSON.stringify({
        tasks: [
          {
            id: 'A1',
            title: 'Design',
            estimate_h: 40,
            entries: [
              { person: 'Ina', hours: 8 },
              { person: 'Leo', hours: 11.5 },
            ],
          },
          {
            id: 'A2',
            title: 'Build',
            estimate_h: 20,
            entries: [
              { person: 'Leo', hours: 25 },
              { person: 'Max', hours: 30 },
            ],
          },
          { id: 'A3', title: 'Docs', estimate_h: 10, entries: [] },
        ],
      }),
    },
    expected: [
      /hours of entries against estimate_h: A1 \(Design\) 19\.50 of 40 \(under by 20\.50\), A2 \(Build\) 55 of 20 \(over by 35\) and A3 \(Docs\) none of 10/,
    ],
  },
  {
    says: 'a cell that is no number is named with its row, and a price that belongs to its group is told',
    prompt: 'Check subs.csv',
    files: {
      'subs.csv': `signup,plan,fee,score\n${Array.from({ length: 12 }, (_, i) => `2024-0${1 + (i % 3)}-1${i % 9},${['Basic', 'Pro'][i % 2]},${[9.9, 29][i % 2]},${i === 7 ? 'ERR' : 3 + (i % 5)}`).join('\n')}\n`,
    },
    expected: [
      /Not a number in score: 'ERR' in row 8/,
      /fee is the same in all rows of a plan: Basic 9\.90 and Pro 29\./,
      /rows by plan|fee by plan, from 2024-01/,
    ],
  },
  {
    says: 'a damaged workbook is not read, and the report says what to do',
    prompt: 'Summarise report.xlsx and empty.csv',
    files: { 'report.xlsx': 'PK', 'empty.csv': '' },
    expected: [/report\.xlsx: not read\. report\.xlsx is damaged.*save it anew, and upload that/, /The file is empty/],
  },
  {
    says: 'the date of the next meeting is no risk, and single events on a few days have no development',
    prompt: 'Summarise notes.txt and orders.csv',
    files: {
      'notes.txt':
        'Product sync - Tue 4 June 2024\nAttendees: Hugo, Aisha\n\nRisks\n- The only engineer leaves in July.\n\nNext sync: Tue 11 June 2024, 10:00\n',
      'orders.csv': 'order,customer,placed,total\n1,C1,2024-02-01,120\n2,C2,2024-02-03,80.5\n3,C1,2024-02-10,45\n4,C3,2024-02-19,300\n',
    },
    expected: [/\| Next sync \| Tue 11 June 2024, 10:00 \|/, /By day, total was highest in 2024-02-19/],
    never: [/From 2024-02-01/, /### Risks and blockers[^#]*Next sync/],
  },
  {
    says: 'the sentences of numbered minutes are read one by one',
    prompt: 'Summarise board.md',
    files: {
      'board.md':
        '# Board meeting 5 Nov 2024\n\nIn attendance: Dr. Helen Osei (Chair), Viktor Lund, Amara Diallo, Piotr Zielinski\n\n1. Recruitment. It was agreed that the post be advertised. Amara to brief the agency by 15 November.\n2. Premises. The proposal was withdrawn. Piotr is to obtain two quotes by the end of November.\n3. Strategy day. Viktor abstained. The date of 22 January 2025 was approved.\n4. Other business. Whether to renew the insurance was left open.\n',
    },
    expected: [
      /\| Amara \| Amara to brief the agency by 15 November\. \| 15 November \| 2024-11-15/,
      /\| Piotr \| Piotr is to obtain two quotes/,
      /### Objections and abstentions\s[^#]*Viktor abstained/,
      /### Open questions\s[^#]*Whether to renew the insurance was left open/,
      /\| Dr\. Helen Osei \|/,
    ],
    never: [/\| Dr \|/],
  },
  {
    says: 'a record with an empty list is named, years of purchase are years, and blocks of rows by device are in order',
    prompt: 'Check pumps.json and machines.csv',
    files: {
      'pumps.json': JSON.stringify({
        devices: ['pump-1', 'pump-2', 'pump-3'].map((id, n) => ({
          id,
          model: 'XYX'[n],
          readings:
            n === 2
              ? []
              : Array.from({ length: 12 }, (_, h) => ({ t: `2024-05-01T${String(h).padStart(2, '0')}:00`, bar: 4 + ((h * 7) % 5) / 10 })),
        })),
      }),
      'machines.csv': 'machine,hall,bought,hours\nM1,A,2015,12400\nM2,A,2019,8150\nM3,B,2021,4020\nM4,B,2012,20330\n',
    },
    expected: [/No readings at all: row 3 \(pump-3\)/, /X is the most frequent model: 2 of 3 rows/],
    never: [/Mean bought/, /bought goes from/, /goes back in time/],
  },
  {
    says: 'items of an agenda are headings, and a known person who asks somebody by a date has an action',
    prompt: 'Fasse protokoll.txt zusammen',
    files: {
      'protokoll.txt':
        'Protokoll Sitzung\nDatum: 06.03.2024\nAnwesend: Uwe Sommer, Torsten Reh\n\nTOP 1 Fest\nDer Vorstand beschließt ein Budget von 2.500 Euro.\nTorsten fragt bei der Feuerwehr nach Zelten, bis Ende März.\nTOP 2 Verschiedenes\nWer übernimmt die Jugendleitung? Bleibt offen.\n',
    },
    expected: [
      /\| Torsten \| Torsten fragt bei der Feuerwehr nach Zelten, bis Ende März\. \| Ende März \| 2024-03-31 /,
      /\| Wer übernimmt die Jugendleitung\? \|/,
    ],
  },
  {
    says: 'minutes have refusals, objections, absent people and actions in the middle of a sentence',
    prompt: 'Summarise minutes.md',
    files: {
      'minutes.md':
        '# Board meeting, 12 September 2024\nPresent: Priya Nair (chair), Marek Dvořák. Apologies: Sue Lindqvist.\n\n## Budget\nIt was agreed to freeze hiring until 1 November. Marek disagreed with this.\nThe board did not approve the new ticket system.\nNo conclusion on the phone line, Sue to come back on this by Friday.\nMarek to ask the landlord for an extension by 20 September.\n',
    },
    expected: [
      /### Objections and abstentions\s[^#]*Marek disagreed with this\./,
      /### Decisions\s[^#]*did not approve the new ticket system/,
      /\| Sue \| No conclusion on the phone line, Sue to come back on this by Friday\. \| Friday \| 2024-09-13/,
      /\| Marek \| Marek to ask the landlord/,
      /\| Marek Dvořák \|/,
    ],
    never: [/\| Marek Dvořák\. Apologies/],
  },
];

for (const { says, prompt, files, expected, never } of cases)
  test(says, async () => {
    const { workspace, calls } = await runAgent(prompt, { files });
    const written = calls.filter(({ name, args }) => name === 'write_file' && String(args.path).endsWith('.md'));
    const report = written.map(({ args }) => workspace.text(args.path)).join('\n');
    for (const pattern of expected) assert.match(report, pattern);
    for (const pattern of never ?? []) assert.doesNotMatch(report, pattern);
  });
