/** Minutes and articles: votes of single people, what is called off, what has not happened yet, who is involved, parts of a sum, and dates. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { summarise } from '../../../../src/providers/model/offline/summary.ts';
import { runAgent } from './agent-loop.ts';

const minutes = `# Allotment society – minutes of the committee meeting

Date: Tuesday 3 February 2026
Present: Hilda Brandt (chair), Ravi Menon, Sue Aldous
Apologies: Tom Frith

## 1. Last minutes
The minutes of 4 November 2025 were approved without changes. Ravi was asked in November to paint the shed.

## 2. Water pump
Two offers were on the table: Holt £1,100 and Crane £1,380. The committee decided, by two votes to one, to take the offer from Holt. Sue voted against because Crane gives a longer guarantee.

## 3. Plots
The seed swap of 14 March is cancelled because the hall is closed. The key of plot 9 has not been returned. Whether dogs are allowed is not clear yet; Ravi will ask the council.
`;
const article = `Old dairy to become a bakery school

By Ida Moor, Fenland Post, 12 May 2026

The town council of Fenley approved the plan by 11 votes to 6. The conversion is to cost 2.1 million euros. Of this the county will pay 900,000 and the trust 750,000. The remaining 450,000 euros have yet to be found. "We have asked a bank, but nothing is signed," said Marc Tull, head of the school.

Residents of Mill Lane fear noise. A petition started by Odo Venn, who lives next door, has 412 signatures. The heritage office has not yet given its permission. The school should open in March 2028.
`;
const read = async (prompt: string, text: string) => (await runAgent(prompt, { files: { 'text.md': text } })).workspace.text('summary.md');
/** What stands below the question, up to the next one. */
const under = (report: string, question: string) => report.split(`**${question}**`)[1]!.split('\n**')[0]!.split('\n## ')[0]!;

test('the vote of one person is an objection, and an approval of minutes and a cancelled event are decisions', async () => {
  const report = await read('Summarise the minutes: what was decided, who has to do what, and what is still open?', minutes);
  const decided = under(report, 'What was decided');
  assert.equal(decided.match(/take the offer from Holt/g)!.length, 1);
  assert.match(decided, /The minutes of 4 November 2025 were approved/);
  assert.match(decided, /The seed swap of 14 March is cancelled/);
  assert.doesNotMatch(decided, /paint the shed|voted against/);
  assert.match(report, /### Objections and abstentions\n\n.*\n.*\n\| Sue voted against/);
});

test('what has not happened is open, and a person in a later part of an open question has a task', async () => {
  const report = await read('Summarise the minutes: what was decided, who has to do what, and what is still open?', minutes);
  assert.match(under(report, 'What is still open'), /The key of plot 9 has not been returned/);
  assert.match(under(report, 'Who has to do what'), /\| Ravi \| Whether dogs are allowed is not clear yet; Ravi will ask the council\. \|/);
});

test('an article: who is involved, the parts of a sum, dates in a list of wishes, and what is missing', async () => {
  const report = await read('Summarise the article: who is involved, what it costs, the dates, and what is still unsettled.', article);
  const involved = under(report, 'Who is involved');
  assert.match(involved, /\| Marc Tull \| .*head of the school/);
  assert.match(involved, /\| Odo Venn \| A petition started by Odo Venn/);
  assert.match(under(report, 'What it costs'), /Of this the county will pay 900,000 and the trust 750,000\./);
  assert.match(under(report, 'The dates'), /\| March 2028 \| The school should open in March 2028\. \|/);
  const open = under(report, 'What is still unsettled');
  for (const point of [/450,000 euros have yet to be found/, /nothing is signed/, /has not yet given its permission/])
    assert.match(open, point);
  assert.match(
    report,
    /### Objections and fears\n\n.*\n.*\n\| Residents of Mill Lane fear noise\. \|.*\n\| A petition started by Odo Venn/,
  );
});

test('a number with separators and an abbreviation with points are one word each, and a name without a mark is no sentence', () => {
  const { words, sentenceCount } = summarise(
    'By Ida Moor\n\nIt cost 415,000 euros or 1.4 million at 7 p.m. on 30/09/2025. Nobody – so far – paid.',
  );
  assert.deepEqual([words, sentenceCount], [3 + 12 + 4, 2]);
});

const river = `River bath to return after forty years

By Oskar Lind, Marlow Gazette, 3 February 2026

The town council voted by 14 to 9 for a floating river bath. The bath is to reopen on 1 June 2027.

Construction will cost 1.85 million euros. The state contributes 740,000 euros. The town pays the rest.

The opposition criticised the plan. Anglers fear for the grayling; their chairman, Udo Sallert, has announced a complaint.

How many lifeguards will be needed is still unclear. A decision on the entrance fee is expected in April. The contract with the shipyard has not been signed yet. The water must be checked daily.
`;

test('an article that mentions a contract is no contract; it tells what is planned, who pays, who is against it, and what is expected', async () => {
  const report = await read(
    'Read the article: what is planned, what does it cost and who pays, who is against it, and what is not decided?',
    river,
  );
  assert.match(report, /Read by its form as a plain text/);
  assert.match(under(report, 'What is planned'), /floating river bath/);
  const payers = under(report, 'Who pays');
  assert.match(payers, /The state contributes 740,000 euros/);
  assert.match(payers, /The town pays the rest/);
  assert.doesNotMatch(payers, /entrance fee/);
  assert.match(under(report, 'Who is against it'), /The opposition criticised the plan\. \|.*\n\| Anglers fear for the grayling/);
  assert.match(under(report, 'What is not decided'), /A decision on the entrance fee is expected in April/);
  assert.match(report, /\| Udo Sallert \| 9 \|/);
});

const orchestra = `MINUTES
Board meeting of the orchestra
Monday, 9 March 2026, parish hall

In attendance: Gwen Parry, Ivo Stanek, Bridget O'Dowd
Apologies: Samir Haddad

1. Timpani
Repair would cost $1,350. The decision was adjourned; Samir is to obtain a second estimate.

2. Concert
- Gwen still has to find a page turner.
- Bridget and Gwen are going to visit the fire station on 21 March.

3. Workshop
Dropped for this year for lack of volunteers.
`;

test('minutes: tasks with "still has to" and of several people, also of an absent one, what is dropped, and money that was talked about', async () => {
  const report = await read(
    'Summarise the minutes: what did the board decide, who takes care of what, and what money was talked about?',
    orchestra,
  );
  assert.match(under(report, 'What did the board decide'), /Dropped for this year for lack of volunteers\. \| Workshop/);
  const tasks = under(report, 'Who takes care of what');
  for (const each of [
    /\| Samir \| The decision was adjourned/,
    /\| Gwen \| Gwen still has to/,
    /\| Bridget and Gwen \| Bridget and Gwen are going to/,
  ])
    assert.match(tasks, each);
  assert.match(under(report, 'What money was talked about'), /Repair would cost \$1,350/);
});

const allotments = `# Committee of the allotments, 5 May 2025
Present: Nora Quist, Emil Darr, Sofia Behn. Apologies: Bashir Khan.

## Fence
Emil asks the carpenter for a price (end of May). Planning consent to be requested by Sofia this week.
ACTION Bashir: two insurers compared, by 30 June.

## Water
The key of the pump house is missing, whoever has it brings it back. The day of the clean-up stays open: 7 or 14 June.
Nora steps down in autumn; a successor is wanted.

Next meeting: 2 June, 18:30, shed.
`;

test('minutes: tasks by the name after "ACTION", by "to be … by" and with a time in brackets; open points and the next meeting, asked in a list', async () => {
  const report = await read('Summarise the minutes: who does what by when, open points, next meeting.', allotments);
  const tasks = under(report, 'Who does what by when');
  for (const each of [
    /\| Emil \| Emil asks the carpenter for a price \(end of May\)\. \| end of May/,
    /\| Sofia \| Planning consent to be requested by Sofia this week\. \| this week/,
    /\| Bashir \| Bashir: two insurers compared, by 30 June\. \| 30 June/,
  ])
    assert.match(tasks, each);
  const open = under(report, 'Open points');
  for (const each of [/The key of the pump house is missing/, /The day of the clean-up stays open/, /a successor is wanted/])
    assert.match(open, each);
  assert.match(under(report, 'Next meeting'), /2 June, 18:30, shed/);
});
