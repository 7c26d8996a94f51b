/** Spellings of one value in a column are one value in all figures, if exactly one other value of the column fits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { profileText } from './tables.ts';

/** A table with a row for each value, and how many rows each group of the column has. */
async function groups(name: string, counts: Record<string, number>): Promise<Record<string, number>> {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const rows = Object.entries(counts).flatMap(([value, count]) => Array.from({ length: count }, () => value));
  const text = [
    `day,${name},crates`,
    ...rows.map((value, i) => `2031-04-${String((i % 28) + 1).padStart(2, '0')},${quoted(value)},${(i * 7) % 23}`),
  ];
  const profile = await profileText(text.join('\n'));
  const group = profile.groups.find(({ by }) => by === name);
  return Object.fromEntries((group?.values ?? []).map(({ value, rows: count }) => [value, count]));
}

test('spellings that differ in punctuation, accents, hyphens or a title are one value', async () => {
  assert.deepEqual(await groups('orchard', { 'Müllers-Hof': 9, 'Mullers Hof': 2, Muellerei: 6, 'MÜLLERS HOF': 1 }), {
    'Müllers-Hof': 12,
    Muellerei: 6,
  });
  assert.deepEqual(await groups('grower', { 'Dr Vasko': 8, VASKO: 2, 'Prof. Ilves': 5, Ilves: 1 }), { 'Dr Vasko': 10, 'Prof. Ilves': 6 });
});

test('results written with a colon, a hyphen or a fraction are one value, and decimals stay apart', async () => {
  assert.deepEqual(await groups('score', { '2-1': 6, '2:1': 2, '½-½': 5, '0.5-0.5': 1, '1/2-1/2': 2, '21': 4, '2.1': 4 }), {
    '2-1': 8,
    '½-½': 8,
    '21': 4,
    '2.1': 4,
  });
});

test('signs that have a meaning keep values apart', async () => {
  const counts = { 'C#': 4, C: 5, 'C++': 6, '60+': 5, '60': 4, 'A-': 4, A: 3 };
  assert.deepEqual(await groups('kind', counts), counts);
});

test('an abbreviation joins the only value that it fits', async () => {
  assert.deepEqual(await groups('state', { Dispatched: 20, DISP: 4, Returned: 9, 'ret.': 1, Kept: 6 }), {
    Dispatched: 24,
    Returned: 10,
    Kept: 6,
  });
  assert.deepEqual(await groups('variety', { 'Winter Russet': 12, 'Wntr Russet': 1, 'Early Pippin': 8 }), {
    'Winter Russet': 13,
    'Early Pippin': 8,
  });
  assert.deepEqual(await groups('outcome', { 'left at gate': 7, LAG: 3, signed: 9 }), { 'left at gate': 10, signed: 9 });
});

test('an abbreviation that fits two values joins neither', async () => {
  const counts = { Dispatched: 20, Displayed: 9, DISP: 4 };
  assert.deepEqual(await groups('state', counts), counts);
});

test('a whole word at the beginning of another value is another value', async () => {
  const counts = { Plum: 12, 'Plum jam': 9, Car: 8, Caravan: 30, North: 7, 'North East': 6 };
  assert.deepEqual(await groups('goods', counts), counts);
});

test('single letters are initials only if each fits exactly one word', async () => {
  assert.deepEqual(await groups('mark', { R: 30, ripe: 6, G: 12, green: 2, S: 5, spoilt: 3 }), { R: 36, G: 14, S: 8 });
  const grades = { A: 9, B: 8, C: 7, absent: 3 };
  assert.deepEqual(await groups('grade', grades), grades);
});

test('names of persons are one value in any order, with an initial, or by the last name alone if it is the only one', async () => {
  assert.deepEqual(
    await groups('picker', {
      'Kovač, Ana': 6,
      'Kovac A.': 2,
      'KOVAC Ana': 1,
      'Lind, Per': 5,
      Lind: 1,
      'Moss, Ida': 4,
      'Moss, Tor': 4,
      Moss: 1,
    }),
    {
      'Kovač, Ana': 9,
      'Lind, Per': 6,
      'Moss, Ida': 4,
      'Moss, Tor': 4,
      Moss: 1,
    },
  );
});

test('a last name alone is the only person of that name, however often the initial is written', async () => {
  const counts = { 'Nora Haug': 12, 'N. Haug': 7, HAUG: 5, 'Haug, Nora': 2, 'Ivo Pell': 9 };
  assert.deepEqual(await groups('inspector', counts), { 'Nora Haug': 26, 'Ivo Pell': 9 });
});

test('rows that count group as the whole table does, though they are fewer', async () => {
  const rows = Array.from(
    { length: 60 },
    (_, i) =>
      `P${i},${i % 10 === 0 ? 'Wntr Russet' : i % 2 === 0 ? 'Winter Russet' : 'Early Pippin'},${i % 4 === 0 && i % 10 !== 0 ? 'void' : 'sold'},${10 + i}`,
  );
  const profile = await profileText(['pallet,variety,status,amount', ...rows].join('\n'));
  assert.ok(profile.basis!.left_out.length > 0);
  assert.deepEqual(
    profile.groups
      .find(({ by }) => by === 'variety')!
      .values.map(({ value }) => value)
      .sort(),
    ['Early Pippin', 'Winter Russet'],
  );
});

test('persons with other initials stay apart, also where an initial begins a part of a double name', async () => {
  const counts = { 'P. Hale-Reid': 5, 'R. Hale': 4, 'T. Moss': 6 };
  assert.deepEqual(await groups('keeper', counts), counts);
});

test('numbers with twelve digits and more in every row are codes, whatever the column is called', async () => {
  const { columns } = await profileText(
    ['crate,seal,weight']
      .concat(Array.from({ length: 30 }, (_, i) => `C${i % 4},${972105761153949 + i * 7_919_333},${20 + (i % 5)}`))
      .join('\n'),
  );
  assert.equal(columns[1]!.role, 'identifier');
});

test('one slip in a rare value joins a value that is far more frequent, and a close pair of frequent values stays apart', async () => {
  assert.deepEqual(await groups('depot', { Ferrybank: 30, Ferybank: 1, Contract: 14, Contact: 9 }), {
    Ferrybank: 31,
    Contract: 14,
    Contact: 9,
  });
});

test('similar names in a list of different things are different things', async () => {
  const people = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`Guest ${String.fromCharCode(65 + (i % 26))}${i}`, 1]));
  const profile = await profileText(
    ['guest,seats', ...Object.keys(people).map((name) => `${name},2`), 'A. Berg,1', '"Berg, Anna",3'].join('\n'),
  );
  assert.equal(profile.columns[0]!.distinct, 32);
});

test('a status that begins or ends with a word for cancelled does not count', async () => {
  const rows = Array.from(
    { length: 40 },
    (_, i) => `T${i},${i % 9 === 0 ? 'Late cancellation' : i % 7 === 0 ? 'CANC' : i % 5 === 0 ? 'cancelled' : 'held'},${20 + i}`,
  );
  const { basis } = await profileText(['tour,status,fee'].concat(rows).join('\n'));
  assert.match(basis!.left_out.map(({ what, count }) => `${count} ${what}`).join('; '), /5 rows with status Late cancellation/);
  assert.doesNotMatch(basis!.left_out.map(({ what }) => what).join('; '), /CANC,|status CANC$/);
});
