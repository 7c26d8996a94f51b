/** Questions of a task: how it is divided into them, and which findings come first in the report as their answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asksCoverage } from '../../../../src/providers/model/offline/coverage.ts';
import { questionsIn } from '../../../../src/providers/model/offline/questions.ts';
import { runAgent } from './agent-loop.ts';

test('a task is divided into its questions and orders, without its statements', () => {
  assert.deepEqual(
    questionsIn(
      'Here are the bills (bills.csv). What is the total, which site and which month cost most, how often was it late, and is anything paid twice? Amounts are net.\nPlease list what is missing.',
    ),
    [
      'What is the total',
      'Which site and which month cost most',
      'How often was it late',
      'Is anything paid twice?',
      'List what is missing.',
    ],
  );
  assert.deepEqual(questionsIn('Which host fails, how often, and why?'), ['Which host fails, how often, why?']);
  assert.deepEqual(questionsIn('Which site collects the most and which the least, and how many are there?'), [
    'Which site collects the most, which the least',
    'How many are there?',
  ]);
  assert.deepEqual(questionsIn('Tell me which ticket type and which month matter most, and whether the subtotals are right.'), [
    'Tell me which ticket type and which month matter most',
    'Whether the subtotals are right.',
  ]);
  assert.deepEqual(questionsIn('bills.csv holds our bills.'), []);
});

test('a task of many commas is divided in bounded time into few questions', () => {
  assert.equal(questionsIn(', what is the total'.repeat(5000)).length, 12);
  assert.equal(questionsIn(`what ${'and '.repeat(5000)}`).length, 1);
});

const rentals =
  'id,Datum,Standort,Betrag,status\nr1,2025-01-03,Ulm,100,paid\nr2,2025-01-09,Bonn,80,paid\nr3,2025-01-20,Ulm,90,open\nr4,2025-02-02,Ulm,110,paid\nr5,2025-02-10,Bonn,85,open\nr6,2025-02-11,Bonn,95,paid\nr6,2025-02-11,Bonn,95,paid\nr7,2025-03-01,Ulm,,paid\n';

test('each question of the task is answered first, with the findings on its columns and its topic', async () => {
  const prompt =
    'rentals.csv has our rentals. How much came in, which site earns most, is anything entered twice, and what is missing? Can I trust the file?';
  const { workspace } = await runAgent(prompt, { files: { 'rentals.csv': rentals } });
  const report = workspace.text('report.md');
  const asked = report.slice(report.indexOf('## What was asked'), report.indexOf('## What stands out'));
  assert.match(
    asked,
    /\*\*How much came in\*\*\n\n- Betrag adds up to 560 over 6 rows \(.*\), without 1 exact duplicate; 655 over all 7 rows/,
  );
  assert.match(
    asked,
    /\*\*Which site earns most\*\*\n\n- By Standort, Ulm has the largest Betrag: 300 of 560 .* With what the figures leave out: Bonn 355/,
  );
  assert.match(
    asked,
    /\*\*Is anything entered twice\*\*\n\n- 1 row is an exact duplicate of an earlier row: row 7 repeats row 6 \(r6, 2025-02-11, Bonn, 95, paid\)/,
  );
  assert.match(asked, /\*\*What is missing\?\*\*\n\n- .*Betrag is missing in row 8 \(r7\)/);
  assert.match(asked, /\*\*Can I trust the file\?\*\*\n\n- Only with care: 3 kinds of findings question the data\.\n- /);
});

test('a question that no rule reads is named as such', async () => {
  const prompt = 'Compare the months. Who will win the election? Where is the total highest?';
  const { workspace } = await runAgent(`${prompt} See rentals.csv`, { files: { 'rentals.csv': rentals } });
  const report = workspace.text('report.md');
  assert.match(report, /\*\*Who will win the election\?\*\*\n\nNo rule of the offline model reads this question/);
  assert.match(report, /\*\*Compare the months\.\*\*\n\n- By day, Betrag was highest/);
});

test('a column is found by a synonym in another language, and a total in one currency of several is refused with the reason', async () => {
  const bySite = await runAgent('What is the total per site in rentals.csv?', { files: { 'rentals.csv': rentals } });
  assert.match(
    bySite.workspace.text('report.md'),
    /\*\*Sum of Betrag by Standort \(rentals\.csv\), without 1 exact duplicate\*\*\n\n.*\n.*\n\| Ulm \| 300 \|\n\| Bonn \| 260 \|/,
  );
  const mixed = 'id,amount,currency\n1,10,EUR\n2,20,USD\n3,30,EUR\n4,5,USD\n';
  const inEuros = await runAgent('Give me the total in euros of trips.csv', { files: { 'trips.csv': mixed } });
  assert.match(inEuros.workspace.text('report.md'), /There is no total in euros: amount is in EUR and USD \(trips\.csv\)/);
});

test('a Spanish file is read by its words, and a question about odd values of a sound file is answered', async () => {
  const rows = Array.from(
    { length: 10 },
    (_, i) => `2025-05-${String(i + 1).padStart(2, '0')},${i % 2 === 0 ? 'Madrid' : 'Sevilla'},${50 + i}`,
  );
  const { workspace } = await runAgent('ventas.csv: which location sells more, and is there any odd value?', {
    files: { 'ventas.csv': `fecha,sede,importe\n${rows.join('\n')}\n` },
  });
  const report = workspace.text('report.md');
  assert.match(report, /\*\*Which location sells more\*\*\n\n- By sede, Sevilla has the largest importe: 275 of 545/);
  assert.match(report, /\*\*Is there any odd value\?\*\*\n\nThe rules of the offline model found nothing that questions the data/);
});

test('a subject is not called absent if a column names, abbreviates or translates it, or the task explains a column', async () => {
  const absent = async (prompt: string, header: string) => {
    const rows = Array.from({ length: 6 }, (_, i) => `2024-01-0${i + 1},v${i % 2},${i}`).join('\n');
    const { workspace } = await runAgent(`${prompt} See data.csv.`, { files: { 'data.csv': `${header}\n${rows}\n` } });
    return /no column tells ([^(]+) \(/.exec(workspace.text('report.md'))?.[1] ?? null;
  };
  assert.equal(await absent('Which departments spend most?', 'Datum,Département,Montant'), null);
  assert.equal(await absent('Which departments spend most?', 'Fecha,DEPARTAMENTO,Importe'), null);
  assert.equal(await absent('Are customers satisfied?', 'date,team,csat'), null);
  assert.equal(await absent('Are customers satisfied?', 'date,team,Évaluation'), null);
  assert.equal(await absent('Are customers satisfied (zx is 1 to 5)?', 'date,team,zx'), null);
  assert.equal(await absent('zx means the satisfaction. What is the satisfaction by team?', 'date,team,zx'), null);
  assert.equal(await absent('Are customers satisfied?', 'date,team,zx'), 'satisfaction or rating');
  assert.equal(await absent('Which departments spend most?', 'date,sensor,zx'), 'department or team');
});

test('a question on the promoter score is answered over all and by group, without values beyond the scale and repeated rows', async () => {
  const scores = { Sales: [9, 10, 9, 6, 7, 8], Plant: [3, 6, 10, 5, 8, 2, 12], IT: [9, 9] };
  const rows = Object.entries(scores).flatMap(([team, values]) => values.map((value, i) => `${team}-${i},${team},${value}`));
  const survey = `id,team,recommend_0_10\n${[...rows, rows[0]].join('\n')}\n`;
  const { workspace } = await runAgent('What is our eNPS, and how do the teams compare in survey.csv?', {
    files: { 'survey.csv': survey },
  });
  const report = workspace.text('report.md');
  // 6 of 14 answers with 9 or 10, 5 with 0 to 6; the answer 12 and the repeated row are left out.
  assert.match(
    report,
    /\*\*What is our eNPS\*\*\n\n- recommend_0_10, .*6 promoters \(42\.9 %\).*5 detractors.*score 7\.14 .*over 14 answers/,
  );
  assert.match(report, /no whole number from 0 to 10: 12 in row 13 \(Plant-6\)\./);
  assert.match(report, /The figures leave out 1 exact duplicate \(row 16\): 15 of 16 rows count/);
  const compared = report.slice(report.indexOf('**How do the teams compare'), report.indexOf('## What stands out'));
  assert.match(compared, /by team: IT 100 \(2 answers.*; Sales 33\.33 \(6 answers.*; Plant -50 \(6 answers/);
  assert.match(compared, /Fewer than 5 answers, .*: IT \(2\)\./);
});

test('a column of recommendations on a shorter scale has no promoter score', async () => {
  const rows = Array.from({ length: 8 }, (_, i) => `p${i},${(i % 7) + 1}`).join('\n');
  const { workspace } = await runAgent('What is the NPS in survey.csv?', { files: { 'survey.csv': `id,likely to recommend\n${rows}\n` } });
  assert.doesNotMatch(workspace.text('report.md'), /promoter score/);
});

test('a question on the period is answered with the first and last date of each file and the months between them', async () => {
  const booked = ['01', '02', '03', '05', '06'].flatMap((month) => [`2024-${month},Ulm,10`, `2024-${month},Bonn,12`]).join('\n');
  const files = {
    'booked.csv': `month,site,amount\n${booked}\n`,
    'budget.csv': 'site,budget\nUlm,90\nBonn,80\nKiel,70\n',
    'rentals.csv': rentals,
  };
  const { workspace, summary } = await runAgent('Please say how far the year is covered.', { files });
  const asked = workspace.text('report.md').split('## What stands out')[0]!;
  assert.match(
    asked,
    /- booked\.csv: month runs from January to June 2024, 6 months, 6 of the 12 months of 2024; no rows in April 2024\.\n/,
  );
  assert.match(asked, /- budget\.csv has no column of dates\.\n/);
  assert.match(asked, /- rentals\.csv: Datum runs from 2025-01-03 to 2025-03-01 \(January to March 2025, 3 months/);
  assert.match(summary, /covered.*: booked\.csv: month runs from January to June 2024/);
});

test('only a question on time asks for the period', () => {
  const asks = (question: string) =>
    asksCoverage(
      question
        .toLowerCase()
        .split(/[^\p{L}]+/u)
        .filter((word) => word !== ''),
    );
  for (const question of [
    'How far is the year covered?',
    'Which months are covered by the data?',
    'What period does the file cover?',
    'Wie weit ist das Jahr abgedeckt?',
  ])
    assert.ok(asks(question), question);
  for (const question of ['Do the fees cover the cost of each month?', 'Which claims are covered?', 'What is the total of the year?'])
    assert.ok(!asks(question), question);
});

test('a change from before to after is told over the same rows, by group, and without the rows that have a note', async () => {
  const rows = [
    'Aa,yes,100,110,',
    'Bb,yes,200,230,',
    'Cc,yes,100,190,rebuilt',
    'Dd,yes,300,,',
    'Ee,no,50,51,',
    'Ff,no,60,60,',
    'Gg,no,40,43,',
    'Hh,no,50,50,',
  ].join('\n');
  const files = { 'shops.csv': `shop,training,sales before,sales after,note\n${rows}\n` };
  const { workspace } = await runAgent('Did the training in shops.csv work, by how much?', { files });
  const [asked, found] = workspace.text('report.md').split('## What stands out') as [string, string];
  assert.match(found, /over 7 rows \(600 to 734, \+22\.3 %\).* Left out, because one of the two is missing: row 4 \(Dd\)\./);
  assert.match(
    asked,
    /by training: yes 400 to 530, \+32\.5 %, 43\.33 on average \(3 rows\); no 200 to 204, \+2 %, 1 on average \(4 rows\)\./,
  );
  assert.match(
    asked,
    /Without the rows that have a note \(row 3 \(Cc\)\): yes 300 to 340, \+13\.3 %, 20 on average \(2 rows\); no 200 to 204/,
  );
  assert.match(asked, /no proof of its cause/);
  assert.doesNotMatch(asked, /adds up to/, '"by how much" does not ask for a total');
});

test('complaints and praise of free-text answers each answer their own question', async () => {
  const said = ['The queue is too long.', 'Too expensive.', 'Friendly staff, thank you!', 'Tasty soup every day.'];
  const rows = Array.from(
    { length: 12 },
    (_, i) => `${i % 2 === 0 ? 'Plant' : 'Office'},${5 + (i % 4)},"${said[i % 4]} Seen on day ${i}."`,
  );
  const files = { 'survey.csv': `site,score,comment\n${rows.join('\n')}\n` };
  const { workspace } = await runAgent('survey.csv: what do people complain about most, and what do they praise?', { files });
  const report = workspace.text('report.md');
  assert.match(
    report,
    /complain about most\*\*\n\n- Complaints and wishes in comment by theme, .*: waiting and queues 3, prices 3\. By site: .*\n- Complaint: waiting and queues in comment: 3 of \d+ answers \([\d.]+ %\), mean score 5; “The queue is too long\.” .*\n- Complaint: prices in comment: 3 of .*\n\n/,
  );
  assert.match(
    report,
    /they praise\?\*\*\n\n- Praise in comment by theme, .*: staff and service 3, taste of the food 3\. By site: .*\n- Praise: staff and service in comment: 3 of .*\n- Praise: taste of the food in comment: 3 of \d+ answers \([\d.]+ %\), mean score 8; “Tasty soup every day\.” .*\n- 3 answers in comment with score 8 or more mention taste of the food \(3\)\.\n\n/,
  );
});

test('a list of wishes or of things to give is one request each, and an apposition is none', () => {
  assert.deepEqual(
    questionsIn('What did we sell in (a.json)? I would like the total value, the best products and customers, and anything odd in it.'),
    ['What did we sell in (a.json)?', 'The total value', 'The best products and customers', 'Anything odd in it.'],
  );
  assert.deepEqual(questionsIn('Show me the total by region, the best month and any gaps.'), [
    'Show me the total by region',
    'The best month and any gaps.',
  ]);
  assert.deepEqual(questionsIn('What did we earn in May, the last month?'), ['What did we earn in May, the last month?']);
  assert.deepEqual(questionsIn('We need a report on a.csv, the file of May.'), []);
});

test('a question with a preposition after "and" is one of its own, with and without a comma', () => {
  for (const prompt of [
    'Who baked most and on which weekday did we sell least?',
    'Who baked most, and in which month did we sell least?',
    'Wer hat am meisten gebacken und in welchem Monat war es am wenigsten?',
    'Qui a cuit le plus et à quelle heure vend-on le moins ?',
    'Quién horneó más y en qué mes se vendió menos?',
    'Chi ha sfornato di più e in quale mese si è venduto meno?',
    'Quem assou mais e em que mês vendemos menos?',
    'Wie bakte het meest en in welke maand verkochten we het minst?',
  ])
    assert.equal(questionsIn(prompt).length, 2, `${prompt} ${questionsIn(prompt).join(' | ')}`);
});
