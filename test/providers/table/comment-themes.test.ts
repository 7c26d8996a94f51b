/** Themes of free-text answers: words of one meaning are counted together, complaints and praise apart, and by group. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { profileText } from './tables.ts';

const comments: [string, number, string][] = [
  ['Plant', 4, 'The queue is far too long.'],
  ['Plant', 5, 'Die Schlange ist zu lang.'],
  ['Plant', 9, 'Too much waiting. Friendly staff, thank you!'],
  ['Plant', 3, "La file d'attente est trop longue."],
  ['Plant', 6, 'Zu teuer geworden.'],
  ['Office', 6, 'Please offer more vegan dishes.'],
  ['Office', 7, 'No vegetarian choice on Fridays.'],
  ['Office', 10, 'The staff at the counter are always kind.'],
  ['Office', 9, 'Really good curry last week.'],
  ['Office', 8, 'No queue at one, but prices are too high.'],
  ['Office', 8, 'Nothing moved since the ceiling was painted.'],
  ['Depot', 10, 'Personal muy amable, gracias.'],
];
const table = (rows: typeof comments) =>
  `site,score,comment\n${rows.map(([site, score, text]) => `${site},${score},"${text}"`).join('\n')}\n`;
const findings = async (kind: string, rows = comments) =>
  (await profileText(table(rows))).remarks.filter((finding) => finding.kind === kind).map(({ text }) => text);

test('words of one meaning in four languages are one theme, and each part of an answer has its own tone', async () => {
  const [complaints] = await findings('complaints');
  assert.match(complaints!, /\(12 answers with text\): waiting and queues 4, prices 2, vegetarian and vegan food 2, choice 1\./);
  const [praise] = await findings('praise');
  assert.match(praise!, /: staff and service 3, waiting and queues 1, taste of the food 1\./);
});

test('themes are counted by group, and a group with few answers is named as too small', async () => {
  const [complaints] = await findings('complaints');
  assert.match(
    complaints!,
    /By site: Office \(6 answers\): vegetarian and vegan food 2, prices 1, choice 1; Plant \(5 answers\): waiting and queues 4, prices 1; Depot \(1 answer, too few to judge\): none\./,
  );
});

test('texts that are no answers on such themes have no complaints', async () => {
  const rows = comments.map(([site, score], i): [string, number, string] => [
    site,
    score,
    `Part ${i} was moved to the second shelf on the left.`,
  ]);
  assert.deepEqual([...(await findings('complaints', rows)), ...(await findings('praise', rows))], []);
});
