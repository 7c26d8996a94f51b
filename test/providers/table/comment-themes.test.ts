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

const stays = (texts: readonly (readonly [number, string])[]): typeof comments =>
  texts.map(([score, text], i) => [i < 6 ? 'North' : 'South', score, text]);

test('the theme is that of the noun of the clause, not of a word that occurs by the way', async () => {
  const rows = stays([
    [2, 'The noise of the delivery vans starts at five.'],
    [1, 'Delivery vans wake us up, the noise is awful.'],
    [2, 'The wifi was far too slow. We told the manager twice.'],
    [6, 'The staff forgot our wake-up call.'],
    [2, 'The shower drain was blocked. We complained to the staff.'],
    [9, 'Loved the breakfast on the terrace.'],
    [8, 'Good breakfast with plenty of fruit.'],
    [10, 'Helpful staff, they repaired our suitcase.'],
    [3, 'They charged 18 euros without asking.'],
    [2, 'The noise from the team room kept us awake.'],
    [9, 'Breakfast was excellent.'],
    [5, 'Bread and coffee at nine.'],
  ]);
  const [complaints] = await findings('complaints', rows);
  assert.match(complaints!, /: noise 3, prices 1, staff and service 1, wifi and internet 1, toilets and showers 1, slowness 1\. By site/);
  const [praise] = await findings('praise', rows);
  assert.match(praise!, /: breakfast 3, staff and service 1\. By site/);
});

test('a group whose complaints are on other matters is not said to have none', async () => {
  const rows = stays([
    ...Array.from({ length: 6 }, (_, i) => [3, `The queue was too long on day ${i}.`] as const),
    [1, 'My daughter was bitten at night.'],
    [2, 'A lamp fell on the carpet.'],
    ...Array.from({ length: 4 }, (_, i) => [9, `Friendly staff on day ${i}.`] as const),
  ]);
  const [complaints] = await findings('complaints', rows);
  assert.match(
    complaints!,
    /: waiting and queues 6; 2 more answers with a low rating or words of complaint are on other matters\. By site: .*South \(6 answers\): other matters\./,
  );
  assert.match((await findings('praise', rows))[0]!, /North \(6 answers\): none/);
});

const topicsOf = async (rows: typeof comments) =>
  (await profileText(table(rows))).remarks.filter(({ kind }) => /^topic/.test(kind)).map(({ text }) => text);

test('sentences about the writer that stand beside all kinds of answers are no topics', async () => {
  const said = [
    'The lift was out of order.',
    'A lift that stops.',
    'The lift again.',
    'The garden was lovely.',
    'Shade in the garden.',
    'Nice garden.',
  ];
  const led = ['We came for a wedding with two children.', 'I was here on business.'];
  const rows = stays(Array.from({ length: 12 }, (_, i) => [3 + (i % 4), `${led[i % 2]} ${said[i % 6]}`] as const));
  const topics = await topicsOf(rows);
  assert.equal(topics.length, 2);
  assert.match(
    topics[0]!,
    /^Topic garden in comment: 6 of 12 answers \(50 %\), mean score 4\.67; “Shade in the garden\.” \(row 11, score 5\); by site: North 3, South 3\.$/,
  );
  assert.match(
    topics[1]!,
    /^Topic lift in comment: 6 of 12 answers \(50 %\), mean score 4\.33; “A lift that stops\.” \(row 2, score 4\); by site: North 3, South 3\.$/,
  );
});

test('topics are nouns; words that only occur with a topic are a part of it', async () => {
  const rows = stays([
    [2, 'We could not find the remote control of the heating.'],
    [3, 'We had to find the switch of the heating.'],
    [2, 'The heating stopped, far too early.'],
    [8, 'They opened too early, with friendly guides since the last season.'],
    [9, 'Our guide was friendly.'],
    [9, 'A friendly guide with much to tell since the last change.'],
  ]);
  const topics = await topicsOf(rows);
  assert.deepEqual(
    topics.map((text) => text.slice(0, text.indexOf(' in comment'))),
    ['Topic heating', 'Topic guide / guides'],
  );
});

test('words of one meaning in several languages are one topic', async () => {
  const rows = stays([
    [9, 'Das Frühstück war sehr gut.'],
    [8, 'The breakfast was good.'],
    [3, 'El desayuno era frío.'],
    [2, 'Le bruit de la rue est insupportable.'],
    [3, 'Der Lärm im Hof.'],
    [7, 'Alles war in Ordnung hier.'],
  ]);
  const topics = await topicsOf(rows);
  assert.match(
    topics[0]!,
    /^Topic frühstück \/ breakfast \/ desayuno in comment: 3 of 6 answers \(50 %\), mean score 6\.67; “The breakfast was good\.”/,
  );
  assert.match(topics[1]!, /^Topic bruit \/ lärm in comment: 2 of 6 answers \(33\.3 %\), mean score 2\.50;/);
});

test('a comment on harm is quoted with what identifies it, a denied or well rated one is not', async () => {
  const rows = stays([
    [1, 'My son was injured by a loose step and had to see a nurse.'],
    [2, 'There were no insects, but it was dull.'],
    [9, 'I would trust them with a refund any time.'],
    ...Array.from({ length: 9 }, (_, i) => [5 + (i % 4), `The guide of group ${i} told us a lot.`] as const),
  ]);
  assert.deepEqual(await findings('serious', rows), [
    'Serious, by its words (harm, danger or crime): “My son was injured by a loose step and had to see a nurse.” (row 1, site North, score 1).',
  ]);
});

test('two words that always stand together are one topic, which answers what is praised or complained about by its mean rating', async () => {
  const rows = stays([
    [1, 'Audio guide broken again.'],
    [2, 'The audio guide battery was empty.'],
    [2, 'Audio guide in French was missing.'],
    [9, 'Our workshop was fun.'],
    [10, 'The workshop is brilliant.'],
    [5, 'We saw a film about whales.'],
  ]);
  const [low] = await findings('topic_low', rows);
  assert.match(low!, /^Topic audio guide in comment: 3 of 6 answers \(50 %\), mean score 1\.67;/);
  const [high] = await findings('topic_high', rows);
  assert.match(high!, /^Topic workshop in comment: 2 of 6 answers \(33\.3 %\), mean score 9\.50;/);
});

const rides: typeof comments = [
  ...Array.from({ length: 4 }, (_, i): [string, number, string] => ['L1', 1, `Arrived ${12 + i} minutes late at Milltown, no apology.`]),
  ...Array.from({ length: 3 }, (_, i): [string, number, string] => [
    'L2',
    2,
    `Delay of ${20 + i} minutes in coach ${i}, we missed our connection.`,
  ]),
  ['L2', 2, 'No heating in coach 4 for two hours.'],
  ['L1', 2, 'We sat in our coats in coach 6.'],
  ['L1', 1, 'The toilet in coach 2 was locked.'],
  ['L2', 2, 'No seat in coach 3.'],
  ['L2', 5, 'Clean coach and a friendly conductor.'],
  ['L1', 1, 'Refund my ticket NOW!'],
  ['L2', 1, 'Refund my ticket NOW!'],
  ['L1', 1, 'A door opened while the train was moving near Milltown. Somebody could have been killed.'],
];

test('delays are one theme, told first with its count and a quote; a heating that does not work is cold', async () => {
  const told = (await profileText(table(rides))).remarks.filter(({ kind }) => kind.startsWith('topic_')).map(({ text }) => text);
  assert.match(
    told[0]!,
    /^Complaint: delays in comment: 7 of 15 answers \(46\.7 %\), mean score 1\.43; “Arrived 12 minutes late at Milltown, no apology\.” \(row 1, score 1\)\.$/,
  );
  assert.match(told[1]!, /^Complaint: cold or heating in comment: 2 of 15 answers/);
  const [complaints] = await findings('complaints', rides);
  assert.match(complaints!, /: delays 7, cold or heating 2, toilets and showers 1, seats and space 1; /);
});

test('names of places and words in answers of several themes are no topics', async () => {
  const topics = await topicsOf(rides);
  assert.deepEqual(
    topics.filter((text) => /^Topic (?:milltown|coach|apology)/.test(text)),
    [],
  );
});

test('danger is told before claims, and a comment that is repeated is one entry', async () => {
  assert.deepEqual(await findings('serious', rides), [
    'Serious, by its words (harm, danger or crime): “A door opened while the train was moving near Milltown. Somebody could have been killed.” (row 15, site L1, score 1).',
    'Claims (money back, compensation, a lawyer): “Refund my ticket NOW!” (2 times: rows 13, 14).',
  ]);
});

test('an answer that also stands alone is no stock sentence, and a topic counts every answer with its word', async () => {
  const led = ['Same as last term.', 'See you in spring.', 'This was my second course.', 'Otherwise fine.'];
  const rows = stays([
    [5, 'Wonderful teacher, I will book again.'],
    [2, 'I could not hear the others, the audio is bad.'],
    ...led.map((sentence) => [5, `Wonderful teacher, I will book again. ${sentence}`] as const),
    ...led.map((sentence) => [2, `I could not hear the others, the audio is bad. ${sentence}`] as const),
    ...led.map((sentence) => [3, `Homework was never corrected. ${sentence}`] as const),
  ]);
  const topics = await topicsOf(rows);
  assert.match(topics.find((text) => text.includes('teacher'))!, /: 5 of 14 answers \(35\.7 %\), mean score 5; .*; by site: North 5\.$/);
  assert.match(topics.find((text) => text.includes('audio'))!, /: 5 of 14 answers \(35\.7 %\), mean score 2;/);
  assert.equal(
    topics.some((text) => /spring|term/.test(text)),
    false,
  );
});

test('a mention without a tone of its own counts in the usual tone of its theme, and a rating outside of the scale says nothing', async () => {
  const rows = stays([
    [2, 'The showers were cold again.'],
    [1, 'Showers dirty, the drain is blocked.'],
    [2, 'No warm showers.'],
    [1, 'The showers are broken.'],
    [3, 'Only one of the showers works.'],
    [9, 'Showers lukewarm after six.'],
    [2, 'Far too crowded, no free bench.'],
    [3, 'Crowded at six every Monday.'],
    [1, 'Two bikes broken at six.'],
    [5, 'Great class.'],
    [4, 'Great class at six.'],
    [5, 'Friendly staff.'],
    [4, 'Friendly staff.'],
    [4, 'A free weights area.'],
    [4, 'I liked it at six.'],
    [5, 'I liked it.'],
    [4, 'All was fine.'],
    [5, 'All was fine.'],
    [4, 'All was good.'],
    [5, 'All was good here.'],
    [3, 'It was as always.'],
  ]).map(([site, score, text]): [string, number, string] => [site, score, text]);
  const { remarks } = await profileText(table(rows).replace('score', 'rating'));
  const told = remarks.filter(({ kind }) => kind.startsWith('topic')).map(({ text }) => text);
  assert.match(told[0]!, /^Complaint: toilets and showers in comment: 6 of 21 answers \(28\.6 %\), mean rating 1\.80 \(5 rated\);/);
  assert.match(told.join('\n'), /Complaint: seats and space in comment: 2 of 21 answers/);
  assert.doesNotMatch(told.join('\n'), /Topic (?:showers?|six|free)/);
});

test('slowness is a theme, a noun of two themes stays a topic, and answers that come again are quoted with their number', async () => {
  const rows = stays([
    [2, 'Too slow for video.'],
    [1, 'Very slow in the evening.'],
    [2, 'The line is slow again.'],
    ...Array.from({ length: 4 }, (): [number, string] => [1, 'The engineer did not come, I waited all morning.']),
    ...Array.from({ length: 4 }, (): [number, string] => [9, 'The engineer was friendly.']),
    [3, 'The bill has a mistake.'],
  ]);
  const { remarks } = await profileText(table(rows));
  const told = remarks.map(({ text }) => text).join('\n');
  assert.match(told, /Complaint: slowness in comment: 3 of 12 answers \(25 %\), mean score 1\.67;/);
  assert.match(told, /Topic engineer in comment: 8 of 12 answers/);
  assert.match(
    told,
    /Most repeated in comment, word for word: “The engineer did not come, I waited all morning\.” \(4 times\); “The engineer was friendly\.” \(4 times\)\./,
  );
});
