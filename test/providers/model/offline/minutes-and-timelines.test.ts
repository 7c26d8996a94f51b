/** Facts of minutes and of timelines: each is put under the heading where it belongs, and nothing else is claimed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { summarise } from '../../../../src/providers/model/offline/summary.ts';
import { actionOf } from '../../../../src/providers/model/offline/text/actions.ts';
import { findDates, findDeadline } from '../../../../src/providers/model/offline/text/dates.ts';
import { readFacts } from '../../../../src/providers/model/offline/text/facts.ts';
import { numberOfWord } from '../../../../src/providers/model/offline/text/number-words.ts';
import { statementOf } from '../../../../src/providers/model/offline/text/statements.ts';
import { runAgent } from './agent-loop.ts';

const record = `# Record of the flood, 3 April 2025

**06:10** Pumping of the cellar began. The caretaker Bo Clay was called.

**06:40** Second pump arrived from Borealis at 05:40 UTC. Pumping went on.

**07:05** Water below 10 cm. Cost so far: EUR 900.

[08:00] Short talk with Ann, Orsa and Tilo. Pumping ended.

Agreed:
- Ann checks the drain by 9 April.
- Cellar gets a sensor, Orsa orders it by 12 April.
- Letter to the tenants: Tilo, draft by 5 April.
- The cellar stays locked until the wall is dry.
- Shops must close by 1 May.
`;

test('a negation inside of what was decided is a decision, a decision that was not taken is none', () => {
  for (const sentence of [
    'The group decided that no holidays will be approved in August.',
    'The board agreed that no refunds will be approved.',
    'The committee resolved that visits will not be approved.',
    'Decision: no holidays will be approved in August.',
    'The council decided that the ford remains open.',
    'Der Vorstand hat beschlossen, dass keine Gäste zugelassen sind.',
  ])
    assert.equal(statementOf(sentence).kind, 'decision', sentence);
  for (const sentence of [
    'No decision was taken on the reserve.',
    'The group has not decided that yet.',
    'It has to be decided that or how we move.',
    'The members decided to postpone the fair.',
    'The group agreed that the budget will be approved at the next meeting.',
    'The board agreed that the site will be decided in May.',
    'Decision: deferred to April.',
    'Decision: still to be approved.',
  ])
    assert.equal(statementOf(sentence).kind, 'undecided', sentence);
});

test('an entry below "Decisions" that forbids something is a decision', () => {
  const { decisions, undecided } = readFacts(
    '# Minutes\n\n## Decisions\n- No holidays will be approved in August.\n- Deferred: the reserve.\n',
  );
  assert.deepEqual(decisions, [{ text: 'No holidays will be approved in August.', line: 4 }]);
  assert.deepEqual(undecided, [{ text: 'Deferred: the reserve.', line: 5 }]);
});

test('a date of a subordinate clause is not the deadline of the action', () => {
  for (const [text, written] of [
    ['Petra will ask whether the hall can be kept until 15 October, and reports back at the next meeting.', 'next meeting'],
    ['Bo will ask if the offer is valid until 3 May', undefined],
    ['Ann reviews the contract which ends on 30 June', undefined],
    ['Ann reviews the contract that ends on 30 June by 2 June', '2 June'],
    ['Anna fragt, ob der Saal bis 15. Oktober frei ist', undefined],
    ['Bo sends the plan, if possible by 3 May', '3 May'],
    ['Bo confirms that he pays by 3 May', '3 May'],
    ['Because the lease ends on 30 September, Bo orders it by 17 May', '17 May'],
  ] as const)
    assert.equal(findDeadline(text)?.written, written, text);
});

test('words that begin a sentence or an entry are no names, nor are currencies and time zones', () => {
  assert.deepEqual(
    readFacts(record).otherNames.map(({ text }) => text),
    ['Bo Clay', 'Borealis', 'Ann', 'Orsa', 'Tilo'],
  );
});

test('a text whose paragraphs begin with times is a timeline, and its agreed tasks are actions', () => {
  const { kind, actions, decisions } = readFacts(record);
  assert.equal(kind, 'timeline');
  assert.deepEqual(
    actions.map(({ who, iso }) => [who, iso]),
    [
      ['Ann', '2025-04-09'],
      ['Orsa', '2025-04-12'],
      ['Tilo', '2025-04-05'],
    ],
  );
  assert.deepEqual(
    decisions.map(({ line }) => line),
    [15, 16],
  );
});

test('an action that has no deadline or for which nobody is named is one, as the text says so', () => {
  const { actions, decisions } = readFacts(
    '# Minutes\n\nPresent: Ann Berg, Paul Clay\n\nAnn draws up a plan. (No deadline was set.) Paul thanks the guests. No date was set for the fair.\n\nAgreed:\n- The limit is to be lowered; nobody named yet.\n- The gate stays shut.\n',
  );
  assert.deepEqual(
    actions.map(({ who, what, due }) => [who, what, due]),
    [
      ['Ann', 'Ann draws up a plan.', null],
      [null, 'The limit is to be lowered; nobody named yet.', null],
    ],
  );
  assert.deepEqual(
    decisions.map(({ text }) => text),
    ['The gate stays shut.'],
  );
});

test('frequent words are told with their true counts, none that is as frequent is left out, and rare ones are not told', () => {
  const text = `# Sales of boats\n\nBoats sold well. Boats, boats and oars: sales rose. Sales of oars rose in May.\n\n| Oars | 3 |\n| --- | --- |\n| oars | 4 |\n`;
  assert.deepEqual(summarise(text).keywords, [
    ['boats', 4],
    ['oars', 4],
    ['sales', 3],
  ]);
  const many = 'abcdefghi'.split('').map((letter) => `${letter.repeat(3)} ${letter.repeat(3)} ${letter.repeat(3)}`);
  assert.deepEqual(summarise(`Water water water water. ${many.join(' ')}.`).keywords, [['water', 4]]);
  assert.deepEqual(summarise('The sea is wide. The sea is deep.').keywords, []);
});

test('the report tells the form of a timeline', async () => {
  const { workspace } = await runAgent('Summarise flood.md', { files: { 'flood.md': record } });
  const report = workspace.text('summary.md');
  assert.match(report, /Read by its form as a timeline: entries with their times\./);
});

test('a number after a month that counts what follows is no day of that month', () => {
  for (const sentence of ['At the end of April 14 households were behind.', 'In May 3 pumps failed.', 'Ende April 12 Mieter im Rückstand.'])
    assert.deepEqual(
      findDates(sentence).filter(({ monthDay, iso }) => monthDay !== null || iso !== null),
      [],
      sentence,
    );
  for (const sentence of ['The board met on April 14 in Lund.', 'Send it by May 3.', 'In the week of April 14 the pumps failed.'])
    assert.equal(findDates(sentence).filter(({ monthDay }) => monthDay !== null).length, 1, sentence);
});

test('a thing that is to start is no person with an action', () => {
  for (const sentence of ['Work is to start on 1 September.', 'Scaffolding is to stay until 3 May.'])
    assert.equal(actionOf(sentence, 1, null, null), null, sentence);
  assert.equal(actionOf('Yusuf is to start the survey by 1 September.', 1, null, null)?.who, 'Yusuf');
  assert.equal(actionOf('Facilities is to order the pumps by 3 May.', 1, null, null)?.who, 'Facilities');
});

test('the own date of a text is that of its draft or heading, not that of what it tells', () => {
  const told = 'Summary\nOn Friday 7 March 2025 nobody could open the lock of the northern gate.\n';
  const draft = readFacts(`Report on the northern gate\nAuthor: Bo Clay, operations. Draft of 12 March 2025. Local time.\n\n${told}`);
  assert.deepEqual([draft.date?.iso, draft.date?.line], ['2025-03-12', 2]);
  assert.equal(readFacts(`Report on the northern gate\n\n${told}`).date, null);
  assert.equal(readFacts(`# Report on the northern gate, 12 March 2025\n\n${told}`).date?.iso, '2025-03-12');
});

const club = `Sailing club
Committee meeting, Tuesday 11 March 2025, 19:00, clubhouse

Present: Ann Berg, Paul Clay

1. Fees
The committee discussed the fee for 2026. Ann was against, Paul in favour of £180. No decision was taken; the point comes back in May.
The crane check is due. Nobody knows whether the insurance covers it.

2. Youth week
A second helper is still needed. No name was found.

3. Opening day
It was first planned for 5 April. Because of the works the committee moved it to Saturday 10 May.
Paul, who voted against the plan, called the sum too high. The committee moved to the next item.
`;

test('a moved date is a decision, with what was planned before; what a relative clause tells of one person is none', () => {
  const { decisions, objections } = readFacts(club);
  assert.deepEqual(
    decisions.map(({ text }) => text),
    ['It was first planned for 5 April. Because of the works the committee moved it to Saturday 10 May.'],
  );
  assert.deepEqual(
    objections.map(({ text }) => text),
    ['Paul, who voted against the plan, called the sum too high.'],
  );
});

test('what is still needed, not found or not decided is open, with the sentence that names the subject', () => {
  const { undecided, questions } = readFacts(club);
  assert.deepEqual(
    undecided.map(({ text }) => text),
    [
      'The committee discussed the fee for 2026. Ann was against, Paul in favour of £180. No decision was taken; the point comes back in May.',
    ],
  );
  assert.deepEqual(
    questions.map(({ text }) => text),
    ['The crane check is due. Nobody knows whether the insurance covers it.', 'A second helper is still needed. No name was found.'],
  );
});

test('an article says what is open in its statements, and the question what is not settled is answered with them', async () => {
  const article = `# Tower to reopen

The tower will open to visitors again in May, almost four years after it was closed. "Who will pay?" a visitor asked.

Councillor Declan Roche called it dear. He has asked for a review of the costs; the council will decide on this request on 20 October 2025. Still open is who will run the site. The trust has shown interest, but no contract has been signed.
`;
  const { workspace } = await runAgent('What is not settled yet in tower.md?', { files: { 'tower.md': article } });
  const report = workspace.text('summary.md');
  const answer = report.slice(report.indexOf('**What is not settled'), report.indexOf('in its own sentences'));
  assert.match(answer, /will decide on this request on 20 October 2025\. \(Declan Roche\)/);
  assert.match(answer, /Still open is who will run the site/);
  assert.match(answer, /no contract has been signed/);
  assert.doesNotMatch(answer, /Who will pay/);
});

test('lines at the top of a text are not joined: the date keeps its line, and no name runs over two lines', () => {
  const { date, otherNames } = readFacts(
    `${club}\nThe board met at Harbour House and it was warm in there, as it was in the last year of the club.\n`,
  );
  assert.deepEqual([date?.iso, date?.line], ['2025-03-11', 2]);
  assert.equal(
    otherNames.some(({ text }) => /Committee/.test(text)),
    false,
  );
});

test('a person who will decide on a day has a task', () => {
  const { actions } = readFacts(`${club}\nPaul will decide on 12 May which pump is bought.\n`);
  assert.deepEqual(
    actions.map(({ who, iso }) => [who, iso]),
    [['Paul', '2025-05-12']],
  );
});

const garden = `Minutes of the garden committee
Date: Thursday, 18 September 2025
Present: Marta Klein (chair), Jonas Reuter, Hanna Berg

1. Fees
Nine members still owe the fee, 1,260 euros in all. Jonas sends them a reminder by 30 September.

2. Plots
Hanna will measure the plot and bring a drawing to the next meeting.

3. Working day
Hanna orders the skip (price still unknown). Ruben asked for a shredder for about 900 euros. The matter was put off until November. The insurance of the hut ends on 31 December; nobody has taken this on yet. The council votes on a grant on 22 May.

Next meeting: Thursday, 16 October 2025, 19:00. The meeting closed at 21:10.
`;

test('a task in the present tense is an action, one with a pronoun is quoted with its noun, and the next meeting is a deadline', () => {
  const { actions } = readFacts(garden);
  assert.deepEqual(
    actions.map(({ who, what, iso }) => [who, what, iso]),
    [
      ['Jonas', 'Nine members still owe the fee, 1,260 euros in all. Jonas sends them a reminder by 30 September.', '2025-09-30'],
      ['Hanna', 'Hanna will measure the plot and bring a drawing to the next meeting.', '2025-10-16'],
      ['Hanna', 'Hanna orders the skip (price still unknown).', null],
    ],
  );
});

test('what is unknown, taken on by nobody or put to a later vote is open; a matter that was put off is quoted with its noun', () => {
  const { undecided, questions, fields } = readFacts(garden);
  assert.deepEqual(
    undecided.map(({ text }) => text),
    ['Ruben asked for a shredder for about 900 euros. The matter was put off until November.'],
  );
  assert.deepEqual(
    questions.map(({ text }) => text),
    [
      'Hanna orders the skip (price still unknown).',
      'The insurance of the hut ends on 31 December; nobody has taken this on yet.',
      'The council votes on a grant on 22 May.',
    ],
  );
  assert.equal(fields.find(({ key }) => key === 'Next meeting')?.text, 'Thursday, 16 October 2025, 19:00.');
});

test('numbers in words are figures, and are read as the same numbers by every rule', () => {
  const { figures } = readFacts(
    'Twenty-two children are registered, there is room for thirty. Eleven of its nineteen windows are cracked, and three have fallen.\n',
  );
  assert.deepEqual(
    figures.map(({ written }) => written),
    ['Twenty-two children', 'thirty', 'Eleven', 'nineteen windows', 'three'],
  );
  assert.deepEqual(['zweiundzwanzig', 'Sixty-four', 'twelve', '17', 'many'].map(numberOfWord), [22, 64, 12, 17, null]);
});

test('what is not known, not concluded or still sought is open, in English and German', () => {
  for (const [text, kind] of [
    ['It is not known who would pay for it.', 'question'],
    ["I don't know yet who will connect the power.", 'question'],
    ['Für das Konzert wird noch ein Moderator gesucht.', 'question'],
    ['The talks on night shifts have not been concluded.', 'undecided'],
  ] as const)
    assert.equal(statementOf(text).kind, kind, text);
});

test('a task in a later part of a sentence has its person, also after "so"', () => {
  const { actions } = readFacts(`${garden}\nThe shed is full, so Jonas has to clear it by 28 September.\n`);
  assert.deepEqual(actions.at(-1)?.who, 'Jonas');
});

test('an entry that says that no date was set is an action without a deadline and no open question', () => {
  const { actions, questions } = readFacts(`${garden}\n- Jonas asks the school whether the hall can be used. No date was set.\n`);
  assert.deepEqual(
    actions.map(({ who, what, due }) => [who, what, due]).filter(([, what]) => what!.includes('school')),
    [['Jonas', 'Jonas asks the school whether the hall can be used.', null]],
  );
  assert.equal(
    questions.some(({ text }) => text.includes('school')),
    false,
  );
});

test('where money comes from is open, and so is a post for which nobody volunteered', () => {
  const { questions } = readFacts(
    'The group needs a second leader. Nobody volunteered. Where the money will come from is open; a plan follows.\n',
  );
  assert.deepEqual(
    questions.map(({ text }) => text),
    ['The group needs a second leader. Nobody volunteered.', 'Where the money will come from is open; a plan follows.'],
  );
});
