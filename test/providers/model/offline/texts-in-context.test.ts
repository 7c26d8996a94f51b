/** Statements of texts with what they refer to: nouns of the sentence before, offers and reasons of a decision, differences of two figures. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAgent } from './agent-loop.ts';

const minutes = `# Minutes of the allotment club

Date: Monday, 2 February 2026
Chair: Marek Dolan
Present: Marek Dolan, Hana Price, Jiri Syl, Petra Vale

## 1. Money

Income in 2025 was 27,900 EUR, spending 24,350 EUR. The club has 64 plots, after 51 in 2024.

## 2. New pump

Three offers were received: Rosen 11,800 EUR, Ziegler 12,650 EUR, Vanek 10,990 EUR. Jiri Syl pointed out that the Vanek pump can only be delivered in September. After discussion the committee decided to buy the Rosen pump for 11,800 EUR. Vote: 5 in favour, 1 against (Vale).

## 3. Youth group

The youth group needs a second leader. Nobody volunteered. Hana Price will put a notice on the web site by 1 March 2026.

## 4. Any other business

Petra Vale mentioned that the heating in the shed fails regularly. It is not clear who pays for the repair. Marek Dolan will clarify this before the next meeting.

Next meeting: Monday, 9 March 2026.
`;
const article = `Tram to the quay two years late

By Ruth Calder, 14 May 2026

The tram to the quay will open in 2028 and will cost 212 million pounds instead of 148 million. The city council approved the money by 31 votes to 24.

"The council is writing a blank cheque," said councillor Moira Tennant, who demanded an audit. Her motion was rejected by 29 votes to 30. Mayor Daniel Osgood defended the decision: stopping the works now would cost 61 million pounds.

The city's share grows from 58 million to 122 million pounds. The tram runs from 6 to 23 each day. "Trade is down," said baker Colin Marsh.
`;
const report = async (prompt: string, file: string) =>
  (await runAgent(prompt, { files: { 'text.md': file } })).workspace.text('summary.md');

test('a decision between offers is told with the offers, what was said of them, and the vote', async () => {
  assert.match(
    await report('What was decided in text.md?', minutes),
    /\| Three offers were received: .* Jiri Syl pointed out that the Vanek pump can only be delivered in September\. After discussion .* for 11,800 EUR\. Vote: 5 in favour, 1 against \(Vale\)\. \| (?:2\. )?New pump \|/,
  );
});

test('a task is told with the need that it answers', async () => {
  const told = await report('Who has to do what by when in text.md?', minutes);
  assert.match(
    told,
    /\| Hana Price \| The youth group needs a second leader\. Nobody volunteered\. Hana Price will put a notice .* \| 2026-03-01 \|/,
  );
  assert.match(
    told,
    /\| Marek Dolan \| Petra Vale mentioned that the heating in the shed fails regularly\. It is not clear who pays for the repair\. Marek/,
  );
});

test('an open point and a decision take the sentence before with a noun that only it explains', async () => {
  assert.match(
    await report('What stays open in text.md?', minutes),
    /\| Petra Vale mentioned that the heating in the shed fails regularly\. It is not clear who pays for the repair\. \| open/,
  );
  assert.match(
    await report('What was decided in text.md?', article),
    /\| "The council is writing a blank cheque," said councillor Moira Tennant, who demanded an audit\. Her motion was rejected by 29 votes to 30\. \|/,
  );
});

test('what changes between two figures of a sentence is computed, the ends of a range are not', async () => {
  const told = await report('Summarise text.md', article);
  assert.match(told, /\| 148 million to 212 million pounds: \+64 million pounds, \+43\.2 % \|/);
  assert.match(told, /\| 58 million to 122 million pounds: \+64 million pounds, \+110\.3 % \|/);
  assert.doesNotMatch(told, /6 to 23:/);
  const money = await report('Summarise text.md', minutes);
  assert.match(money, /\| Income 27,900 EUR, spending 24,350 EUR: 3,550 EUR more received than spent \|/);
  assert.match(money, /\| 51 to 64: \+13, \+25\.5 % \|/);
});

test('a person who takes a position without a quotation says something too', async () => {
  const told = await report('Who says what in text.md?', article);
  assert.match(told, /\| Mayor Daniel Osgood defended the decision: stopping the works now would cost 61 million pounds\. \| 7 \|/);
  assert.match(told, /\| Colin Marsh \| 9 \|/);
});

const choir = `# Minutes of the choir

Date: Tuesday 14 October 2025
Present: Ruth Adey, Colin Barr

## Concert

A proposal to hire a quartet for £950 was rejected as too expensive. It was decided to scan the 140 oldest scores. No one has been named for this task yet.

Action: Ruth to survey the members by 18 November 2025.
`;

test('a rejected proposal is a decision, and a task for which no one has been named is open', async () => {
  const told = await report('List the decisions in text.md, and what is still open.', choir);
  assert.match(told, /decisions.*\*\*\n\n(?:.*\n){2}\| A proposal to hire a quartet for £950 was rejected as too expensive\. \|/);
  assert.match(told, /\| It was decided to scan the 140 oldest scores\. No one has been named for this task yet\. \| open \|/);
});

test('what the text answers is not said to be impossible because a table beside it is empty', async () => {
  const { workspace } = await runAgent(
    'Read text.md: who has to do what by when, and what is still open? Then compare with the list in actions.csv.',
    { files: { 'text.md': choir, 'actions.csv': '' } },
  );
  const told = workspace.text('report.md');
  assert.equal(told.split('This cannot be computed').length - 1, 1);
  assert.match(told, /\*\*Compare with the list in actions\.csv\.\*\*\n\nThis cannot be computed: actions\.csv has no rows/);
  assert.equal(told.split('| Ruth | Ruth to survey').length - 1, 1);
});

const station = `Harbour radio is back

By Nadia Fell, 12 May 2025

Leo Marsh complained that he was not consulted. The town council will hear his objection on 17 June 2025. A spokesman for the council, Piet Vandam, said the mast is 24 metres high and that the planners are examining whether a permit is needed.

The station will apply for a renewal by 30 September 2025. It is still open who will pay for the second transmitter.
`;

test('an article: what will be decided later and what is examined is open, and the speaker after a comma is a person', async () => {
  const told = await report('What is open in text.md?', station);
  assert.match(
    told,
    /\| Leo Marsh complained that he was not consulted\. The town council will hear his objection on 17 June 2025\. \| open/,
  );
  assert.match(told, /\| A spokesman .* examining whether a permit is needed\. \| open/);
  assert.match(told, /\| It is still open who will pay for the second transmitter\. \| open/);
  assert.match(told, /\| Piet Vandam \| 5 \|/);
});
