/** How a text is divided: what begins a list, a field, a heading or a sentence, and what only looks so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentencesOf } from '../../../../src/providers/model/offline/sentences.ts';
import { readUnits } from '../../../../src/providers/model/offline/text/units.ts';

const texts = (text: string) => readUnits(text).map(({ kind, text: words }) => `${kind}: ${words}`);

test('a day and a month at the beginning of a line are no number of a list', () => {
  assert.deepEqual(texts('- Der Flohmarkt wird auf Sonntag,\n  14. September, verlegt. Der Ort bleibt.\n- Die Plakate sind bestellt.\n'), [
    'item: Der Flohmarkt wird auf Sonntag, 14. September, verlegt. Der Ort bleibt.',
    'item: Die Plakate sind bestellt.',
  ]);
  assert.deepEqual(texts('Heute war es kalt. Das Lager steht bis\n30. August offen und schließt dann.\n'), [
    'sentence: Heute war es kalt.',
    'sentence: Das Lager steht bis 30. August offen und schließt dann.',
  ]);
});

test('an abbreviation before a figure and initials with a hyphen end no sentence', () => {
  assert.deepEqual(sentencesOf('Jede Gruppe hat zwei Tische, zusammen max. 12 Plätze (einstimmig). Das gilt ab Mai.'), [
    'Jede Gruppe hat zwei Tische, zusammen max. 12 Plätze (einstimmig).',
    'Das gilt ab Mai.',
  ]);
  assert.deepEqual(sentencesOf('Dagegen war H.-J. Brandes. Er blieb dabei.'), ['Dagegen war H.-J. Brandes.', 'Er blieb dabei.']);
});

test('the list of those present is a field with a remark in brackets and over several lines', () => {
  const [field, next] = readUnits(
    'Anwesend (mit Stimmrecht): Gisela Rohr (Vorsitz), Ewald Timm,\nH.-J. Brandes, Rosi Maul\nBeginn 19 Uhr, der Raum war kalt.\n',
  );
  assert.deepEqual(
    [field!.kind, field!.key, field!.text],
    ['field', 'Anwesend', 'Gisela Rohr (Vorsitz), Ewald Timm, H.-J. Brandes, Rosi Maul'],
  );
  assert.equal(next!.text, 'Beginn 19 Uhr, der Raum war kalt.');
});

test('the result of a vote is a field with its counts, and nobody who speaks', () => {
  const units = readUnits('Abstimmung: Der Stand kostet 12 Euro.\n7 ja, 2 nein.\nDann Pause im Hof.\n\nAbstimmung: Neue Lampen, 9 ja.\n');
  assert.deepEqual(
    units.map(({ kind, text }) => [kind, text]),
    [
      ['field', 'Der Stand kostet 12 Euro. 7 ja, 2 nein.'],
      ['sentence', 'Dann Pause im Hof.'],
      ['field', 'Neue Lampen, 9 ja.'],
    ],
  );
});

test('the lines of a quoted paragraph make sentences, and its headers stay lines', () => {
  assert.deepEqual(
    texts(
      '> From: Ada Moss\n> Date: 3 May 2025\n>\n> The boiler was only checked on\n> the left side. The rest is open.\n>> Older words.\n',
    ),
    [
      'quote: From: Ada Moss',
      'quote: Date: 3 May 2025',
      'quote: The boiler was only checked on the left side.',
      'quote: The rest is open.',
      'quote: Older words.',
    ],
  );
});

test('lines of a bill are units, and the line under them makes no heading of the last', () => {
  const text =
    'We ask for:\n\n   roof tiles and nails           310.00\n   two days of work               480.00\n   -------------------------------------\n                                  790.00\n\nThe rest follows.\n';
  assert.deepEqual(texts(text), [
    'sentence: We ask for:',
    'sentence: roof tiles and nails 310.00',
    'sentence: two days of work 480.00',
    'sentence: 790.00',
    'sentence: The rest follows.',
  ]);
});

test('after an indented list a line at the margin is a paragraph of its own', () => {
  assert.deepEqual(texts('Bring these:\n  1. the form\n  2. the key\nPlease note that the gate closes at six.\n'), [
    'heading: Bring these',
    'item: the form',
    'item: the key',
    'sentence: Please note that the gate closes at six.',
  ]);
});
