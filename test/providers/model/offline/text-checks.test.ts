/** Figures of a text are checked against those that they follow from; what is right, and what a rule is unsure of, is not told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amountsIn } from '../../../../src/providers/model/offline/text/amounts.ts';
import { readFacts } from '../../../../src/providers/model/offline/text/facts.ts';

const found = (text: string) => readFacts(text).contradictions.map(({ text: told }) => told);
const meeting = (present: string, sentence: string) =>
  `Minutes of the meeting\nDate: Monday, 3 March 2025\n${present}\n\n1. Roof\n${sentence}\n`;
const people = 'Present: Ann Berg (chair), Bo Clay, Cem Kaya, Dora Lind';

test('amounts are read with their unit and their scale', () => {
  assert.deepEqual(
    amountsIn('Costs of EUR 1,250.50, $3 million, 184,600 euros and 12 % on 3 May.').map(({ value, unit }) => [value, unit]),
    [
      [1250.5, 'EUR'],
      [3_000_000, 'USD'],
      [184_600, 'EUR'],
      [12, '%'],
    ],
  );
});

test('votes are compared with the people present', () => {
  const told = 'The votes (3 in favour + 1 against + 1 abstentions) are 5 in all, but 4 people are named as present (line 3).';
  assert.deepEqual(found(meeting(people, 'The roof was approved (3 votes in favour, 1 against, 1 abstention).')), [told]);
  assert.deepEqual(found(meeting(people, 'The roof was approved with three votes in favour, one against and one abstention.')), [told]);
  assert.deepEqual(found(meeting('Present: 9 members', 'The roof was approved by 7 votes to 3.')), [
    'The votes (7 in favour + 3 against) are 10 in all, but 9 people are named as present (line 3).',
  ]);
  for (const [present, sentence] of [
    [people, 'The roof was approved (3 votes in favour, no votes against, 1 abstention).'],
    [people, 'The roof was approved by 2 votes to 1.'],
    [`${people}; guest: Eva Holm`, 'The roof was approved (4 in favour, 1 against).'],
    ['Chair: Eva Holm\nPresent: Ann Berg, Bo Clay', 'The roof was approved (2 in favour, 1 against).'],
    [people, 'There are 12 chairs for the hall and 3 against the wall.'],
  ] as const)
    assert.deepEqual(found(meeting(present, sentence)), [], sentence);
});

test('listed amounts are compared with their total, in a sentence and in lines', () => {
  assert.deepEqual(found('Plan\n\nRopes 200, paint 150, lamps 300; in total 750 euros.\n'), [
    'The 3 amounts of line 3 (200, 150, 300) add up to 650 euros; the text says 750 euros, 100 euros too much.',
  ]);
  assert.deepEqual(found('Plan\n\n- Ropes: 200 euros\n- Paint: 150 euros\nTotal: 300 euros\n'), [
    'The 2 amounts of line 3 (200 euros, 150 euros) add up to 350 euros; the text says 300 euros, 50 euros too little.',
  ]);
  for (const sound of [
    'Ropes 200, paint 150, lamps 300; in total 650 euros.',
    '2 pumps for 300 euros, 3 lamps for 90 euros and 4 ropes for 10 euros, in total 400 euros.',
    'Ann offers 100 euros, Bo offers 200 euros and Cem offers 300 euros. The scaffold would come to 900 euros.',
    'Of 300 euros, 200 euros and 50 euros 70 euros are left, in total 9 euros.',
    'In April 14 households were behind with 18,340 euros in total, in January it was 11 with 12,100 euros.',
  ])
    assert.deepEqual(found(`Plan\n\n${sound}\n`), [], sound);
});

test('stated changes, products and shares are computed again', () => {
  for (const [sentence, told] of [
    [
      'Sales fell from 410,000 euros to 369,000 euros in February, down 12 percent.',
      'The change from 410,000 euros to 369,000 euros is 10 %; the text says 12 percent.',
    ],
    [
      'It rose from 200 to 260 members, an increase of 50 members.',
      'The difference from 200 to 260 members is 60 members; the text says 50 members.',
    ],
    ['The coach takes 12 rowers at 45 euros each, in total 560 euros.', '12 × 45 euros is 540 euros; the text says 560 euros.'],
    ['9 of 36 spaces (30 %) were wet.', '9 of 36 is 25 %; the text says 30 %.'],
  ] as const)
    assert.deepEqual(found(`Report\n\n${sentence}\n`), [told], sentence);
  for (const sound of [
    'Sales rose from 1.8 million to 2.4 million euros, an increase of 33 percent.',
    'Sales rose from 200 to 250 euros; costs are up 12 percent.',
    'The rooms cost 12 times 45 euros, that makes 540 euros.',
    '9 of 36 spaces (25 %) were wet, 3 of them (33 %) twice.',
    'It rose from 300 to 410 euros, up by nearly 40 percent.',
  ])
    assert.deepEqual(found(`Report\n\n${sound}\n`), [], sound);
});

test('a weekday without a year is checked against the year of the text, and a near day of the next year is found', () => {
  assert.deepEqual(found('Minutes of the meeting\nDate: 20 May 2025\n\nAnn calls Bo by Friday, 5 June.\n'), [
    '"Friday, 5 June": 2025-06-05 is a Thursday.',
  ]);
  const { dates, contradictions } = readFacts('Minutes of the meeting\nDate: 8 November 2025\n\nThe next talk is on Friday, 16 January.\n');
  assert.deepEqual([dates.at(-1)?.iso, contradictions], ['2026-01-16', []]);
});

test('a deadline before the date of the text is one of the next year, and the next meeting has its day', () => {
  const { actions } = readFacts(
    'Minutes of the meeting\nDate: 8 December 2025\nPresent: Ann Berg, Bo Clay\n\nAnn will call Bo by 15 January. Bo will send the plan by the next meeting.\n\nNext meeting: Monday, 19 January 2026\n',
  );
  assert.deepEqual(
    actions.map(({ iso, note }) => [iso, note]),
    [
      ['2026-01-15', 'year counted from line 2'],
      ['2026-01-19', 'the day of the next meeting, line 7'],
    ],
  );
});

test('a sentence that leaves its subject to the sentence before is quoted with it', () => {
  const { decisions, undecided } = readFacts(
    'Minutes of the meeting\nDate: 8 December 2025\n\nThe fair is on 3 May. Budget: 900 euros, approved unanimously.\nBo asked for a new door. No decision; topic for the next meeting.\nThe hall is cold. It was agreed that the door stays shut.\n',
  );
  assert.deepEqual(
    [...decisions, ...undecided].map(({ text }) => text),
    [
      'The fair is on 3 May. Budget: 900 euros, approved unanimously.',
      'It was agreed that the door stays shut.',
      'Bo asked for a new door. No decision; topic for the next meeting.',
    ],
  );
});

test('tasks for which nobody is named are actions, rules and conditions are none', () => {
  const actions = (sentence: string) =>
    readFacts(`Minutes of the meeting\nDate: 8 December 2025\n\n${sentence}\n`).actions.map(({ who, what }) => [who, what]);
  for (const sentence of [
    'Someone has to order the tent.',
    'An expert is to look at it; offers should be obtained soon.',
    'The roof needs to be repaired.',
    'Das Dach muss noch repariert werden.',
  ])
    assert.deepEqual(actions(sentence), [[null, sentence]], sentence);
  for (const sentence of [
    'Shoes must be worn in the hall.',
    'If the pump fails, it must be replaced.',
    'A ticket should cost 5 euros.',
    'Das muss noch beschlossen werden.',
  ])
    assert.deepEqual(actions(sentence), [], sentence);
  assert.deepEqual(actions('Ingo will ask three roofers by 15 December.'), [['Ingo', 'Ingo will ask three roofers by 15 December.']]);
});
