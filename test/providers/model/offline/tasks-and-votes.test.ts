/** Tasks in the forms of minutes and notes, with initials, brackets and several people, and decisions by vote or by a new day. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFacts } from '../../../../src/providers/model/offline/text/facts.ts';

const german = `# Protokoll der Sitzung des Gartenvereins, Montag, 3. Februar 2025

Anwesend (mit Stimmrecht): Gisela Rohr (Vorsitz), Ewald Timm (Kasse),
Hans-Jürgen Brandes, Rosi Maul (Schrift)
Entschuldigt: Arno Beil

### TOP 1 Zaun

E. Timm bringt die Rechnung bis 20. Februar zur Gemeinde.
H.-J. Brandes fragt Tischler Korn wegen der Latten, bis Ende Februar.
G. Rohr fragt, ob bis Ostern alles fertig ist.
Abstimmung: Zaun aus Lärche, 4 ja, 1 nein (Timm).

### TOP 2 Fest

* Kein Beschluss zum Zelt, R. Maul spricht mit dem Wirt Herrn Seib.
* G. Rohr und E. Timm führen ein Gespräch mit dem Nachbarn.
* Einladung geht am 4. März an alle Pächter (R. Maul).
* R. Maul fällt auf: am 9. Mai ist Markt, die Straße ist bis 18 Uhr gesperrt. Damit wird das Fest auf Samstag,
  16. Mai, verlegt.
* E. Timm muss die Zahl vom letzten Mal berichtigen: es waren 14 Gäste.
`;
const tasks = (text: string) => readFacts(text).actions.map(({ who, due }) => `${who}: ${due ?? 'not said'}`);

test('people of the list of those present have tasks under their initials, and nobody who notices or corrects something has one', () => {
  assert.deepEqual(tasks(german), [
    'E. Timm: 20. Februar',
    'H.-J. Brandes: Ende Februar',
    'R. Maul: not said',
    'G. Rohr und E. Timm: not said',
    'R. Maul: 4. März',
  ]);
});

test('the count of a vote and a thing that is moved to a day are decisions', () => {
  const told = readFacts(german).decisions.map(({ text }) => text);
  assert.equal(told.length, 2);
  assert.match(told[0]!, /^Zaun aus Lärche, 4 ja, 1 nein \(Timm\)\.$/);
  assert.match(told[1]!, /Damit wird das Fest auf Samstag, 16\. Mai, verlegt\./);
  assert.deepEqual(
    readFacts(
      '# Minutes of the rowing club, 3 May 2025\n\nThe boat race is moved to Sunday, 8 June.\nThe matter was postponed.\n',
    ).decisions.map(({ text }) => text),
    ['The boat race is moved to Sunday, 8 June.'],
  );
});

test('notes of a meeting under a heading have tasks of people with a day, also in brackets', () => {
  const notes = `# Choir notes

## What we have

- The old robes are in the loft

## Staff meeting 12 November 2024 (short)

- Corin asks the laundry for a price, until 6 December
- Spring: chairs must be there in time (Ilka, with Mr Dorn, by 9 January); scores in one go (Hilde, office, by 4 February)
- Robes: nobody knows what they cost
`;
  assert.deepEqual(tasks(notes), ['Corin: 6 December', 'Ilka: 9 January', 'Hilde: 4 February']);
});

test('a task is done when an addition says that what the person was to ask is promised, and a confidential part is named', () => {
  const facts = readFacts(`# Protokoll der Sitzung, Montag, 3. Februar 2025

Anwesend: Gisela Rohr, Ewald Timm

### TOP 1 Ausflug

E. Timm fragt Wirtin Seibold wegen der Scheune, bis Ende Februar.
G. Rohr fragt Förster Lang wegen der Hütte, bis Ende Februar.

### TOP 2 Beschwerde - VERTRAULICH

G. Rohr schreibt dem Nachbarn bis 10. Februar.

> Nachtrag 9.2.: Wirtin Seibold hat Timm zugesagt, die Scheune ist am
> 5. Juli frei.
`);
  assert.deepEqual(
    facts.actions.map(({ who, done }) => [who, done]),
    [
      ['E. Timm', true],
      ['G. Rohr', false],
      ['G. Rohr', false],
    ],
  );
  assert.deepEqual(
    facts.confidential.map(({ line }) => line),
    [10],
  );
});
