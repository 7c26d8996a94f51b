/** Chats: of what is decided the last message counts, tasks have the person who is asked, and who took one over from whom is told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFacts } from '../../../../src/providers/model/offline/text/facts.ts';
import { runAgent } from './agent-loop.ts';

const chat = `[02/11/2026, 17:30] Hedda: Shall we rent the minibus for the trip to the quarry?
[02/11/2026, 17:41] Osman: Yes, good idea.
[02/11/2026, 17:50] Hedda: @Lene please book the guide by 20 November.
[02/11/2026, 17:55] Hedda: @Osman @Pia can you bring the helmets?
[03/11/2026, 08:15] Hedda: Decided: the deposit is 25 euros.
[03/11/2026, 09:20] Lene: I can't book the guide, I have no phone this week.
[03/11/2026, 09:33] Pia: I'll take over the guide from Lene.
[04/11/2026, 19:02] Osman: The minibus is too small. Let's take the train instead of the minibus.
[04/11/2026, 19:10] Hedda: Fine.
[04/11/2026, 19:12] Pia: Agreed, the train instead of the minibus.
[05/11/2026, 07:00] Hedda: Forget the 25 euros, we make it 15 euros.
[05/11/2026, 07:30] Osman: I cancelled my dentist, so I can come to the quarry too.
[05/11/2026, 07:40] Pia: Maybe we should call off the guide?
`;

test('a decision that a later message replaces does not hold any more and is told with what replaced it', () => {
  const { decisions, replaced } = readFacts(chat);
  assert.deepEqual(
    replaced.map(({ line, by }) => [line, by.line]),
    [
      [1, 8],
      [5, 11],
    ],
  );
  assert.deepEqual(
    decisions.map(({ line }) => line),
    [8, 10, 11],
  );
});

test('a wish, a question and a message on something else replace no decision', () => {
  const open = chat
    .replace("Let's take the train instead of the minibus.", "I'd rather take the train instead of the minibus.")
    .replace(/.*Agreed, the train.*\n/, '');
  assert.deepEqual(
    readFacts(open).replaced.map(({ line }) => line),
    [5],
  );
});

test('whom a message asks by name has the task, and a task that is taken over has the other person', () => {
  const { actions, handovers } = readFacts(chat);
  assert.deepEqual(
    actions.map(({ who, line }) => [who, line]),
    [
      ['Pia (took over from Lene, line 7)', 3],
      ['Osman, Pia', 4],
    ],
  );
  assert.equal(actions[0]!.iso, '2026-11-20');
  assert.deepEqual(
    handovers.map(({ from, to, line }) => [from, to, line]),
    [['Lene', 'Pia', 7]],
  );
});

test('questions on changed decisions and on handovers are answered', async () => {
  const prompt = 'Which decisions in chat.txt were changed? Who took over what from whom? What was decided?';
  const told = (await runAgent(prompt, { files: { 'chat.txt': chat } })).workspace.text('summary.md');
  assert.match(
    told,
    /Which decisions in chat\.txt were changed\*\*\n\n.*\n.*\n\| Hedda: Shall we rent the minibus .* \| 1 \| Osman: The minibus is too small/,
  );
  assert.match(told, /Who took over what from whom\*\*\n\n.*\n.*\n\| Pia \| Lene \|/);
  assert.match(told, /What was decided\*\*(?:.*\n)+?Decided first and replaced by a later message:/);
});

test('a German chat: a date that is moved replaces the first one, and the task has the person who took it', () => {
  const { decisions, replaced, undecided, actions } = readFacts(`03.09.26, 20:01 - Jana: Wollen wir das Konzert am 5. Dezember machen?
03.09.26, 20:05 - Timo: Ja, passt.
03.09.26, 20:09 - Jana: @Rolf bitte bis 1. Oktober die Stühle reservieren
06.09.26, 10:00 - Rolf: Ich kann die Stühle leider nicht reservieren.
06.09.26, 10:04 - Timo: Ich übernehme die Stühle von Rolf.
09.09.26, 18:30 - Jana: Planänderung: das Konzert ist auf den 12. Dezember verschoben.
`);
  assert.deepEqual([decisions.map(({ line }) => line), replaced.map(({ line }) => line), undecided], [[6], [1], []]);
  assert.deepEqual(
    actions.map(({ who, iso }) => [who, iso]),
    [['Timo (took over from Rolf, line 5)', '2026-10-01']],
  );
});

test('two decisions on one matter with different figures: the later one counts', () => {
  const { decisions, replaced } = readFacts(`[02/03/2026, 10:00] Ana: Decided: the stall costs 40 euros.
[02/03/2026, 10:05] Bo: Decided: we meet at the mill.
[14/03/2026, 10:00] Ana: Decided: the stall costs 55 euros.
`);
  assert.deepEqual([decisions.map(({ line }) => line), replaced.map(({ line }) => line)], [[2, 3], [1]]);
});
