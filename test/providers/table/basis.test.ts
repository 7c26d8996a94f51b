/** The rows that figures rest on: what is left out of them, and what is not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { profileTable } from '../../../src/providers/table/profile.ts';
import { numbersOf, opening, profileText } from './tables.ts';

const bookings = (status: readonly string[]) =>
  `Buchung;Datum;Haus;Betrag;Status\n${status.map((each, i) => `B${i + 1};${1 + i}.03.2025;${i % 2 ? 'Nord' : 'Süd'};${100 + i},50;${each}`).join('\n')}\n`;

test('cancelled rows are left out of sums, groups and months, and each figure stands beside that of all rows', async () => {
  const profile = await profileText(bookings(['bezahlt', 'storniert', 'bezahlt', 'bezahlt', 'storniert', 'bezahlt', 'bezahlt', 'bezahlt']));
  assert.deepEqual(profile.basis, { rows: 6, left_out: [{ kind: 'status', what: 'rows with Status storniert', count: 2, rows: [2, 5] }] });
  const { sum, count, all } = numbersOf(profile, 'Betrag');
  assert.deepEqual({ sum, count, all }, { sum: 626, count: 6, all: { sum: 832, count: 8, mean: 104 } });
  const houses = profile.groups.find(({ by }) => by === 'Haus')!;
  assert.deepEqual(
    houses.values.map(({ value, rows, figures, all: whole }) => [value, rows, figures.Betrag!.sum, whole!.figures.Betrag!.sum]),
    [
      ['Nord', 3, 316.5, 418],
      ['Süd', 3, 309.5, 414],
    ],
  );
  const statuses = profile.groups.find(({ by }) => by === 'Status')!;
  assert.equal(statuses.is_status, true);
  assert.deepEqual(
    statuses.values.map(({ value, rows }) => [value, rows]),
    [
      ['bezahlt', 6],
      ['storniert', 2],
    ],
  );
});

test('a row written twice is left out if each row has a key, and counts if equal rows may be two events', async () => {
  const rows = ['V1,2024-05-01,Té,3', 'V2,2024-05-01,Café,4', 'V3,2024-05-02,Té,3', 'V4,2024-05-03,Té,3', 'V5,2024-05-03,Café,4'];
  const keyed = await profileText(`venta,fecha,producto,importe\n${[...rows, rows[1]].join('\n')}\n`);
  assert.deepEqual(keyed.basis, { rows: 5, left_out: [{ kind: 'duplicates', what: 'exact duplicate', count: 1, rows: [6] }] });
  assert.equal(numbersOf(keyed, 'importe').sum, 17);
  const without = [...rows, rows[1]].map((row) => row!.slice(3)).join('\n');
  const plain = await profileText(`fecha,producto,importe\n${without}\n`);
  assert.equal(plain.basis, undefined);
  assert.equal(numbersOf(plain, 'importe').sum, 21);
  // The number of a customer who paid again is no key of the payment.
  const again = [...rows, 'V2,2024-05-09,Té,3', rows[1]].join('\n');
  assert.equal((await profileText(`cliente,fecha,producto,importe\n${again}\n`)).basis, undefined);
});

test('values off a scale that the request or the column name gives are left out of means', async () => {
  const answers = [4, 5, 3, 99, 4, 2, 5, 4, 4, 5].map((value, i) => `${i + 1},${i % 2 ? 'Lyon' : 'Lille'},${value}`).join('\n');
  const open = opening(Buffer.from(`réponse,ville,avis\n${answers}\n`));
  const scales = [{ column: 'avis', low: 1, high: 5 }];
  const given = await profileTable(open, 'enquete.csv', undefined, { scales });
  assert.equal(numbersOf(given, 'avis').mean, 4);
  assert.deepEqual(given.basis?.left_out, [
    { kind: 'values', what: 'value of avis outside of the given scale 1 to 5', count: 1, rows: [4] },
  ]);
  assert.equal((await profileTable(open, 'enquete.csv')).basis, undefined);
  const named = await profileText(`id,score (1-5)\n${answers.replaceAll(/,(?:Lyon|Lille)/g, '')}\n`);
  assert.equal(numbersOf(named, 'score (1-5)').max, 5);
});

test('returned loans, refunds with a negative amount, and tables without amounts keep all their rows', async () => {
  const loans = Array.from({ length: 10 }, (_, i) => `L${i},2024-01-${10 + i},${5 + i},${i % 3 ? 'on loan' : 'returned'}`).join('\n');
  assert.equal((await profileText(`loan,date,fee,status\n${loans}\n`)).basis, undefined);
  const refunds = Array.from(
    { length: 10 },
    (_, i) => `P${i},2024-01-${10 + i},${i === 4 ? -20 : 20 + i},${i === 4 ? 'refunded' : 'paid'}`,
  );
  assert.equal((await profileText(`payment,date,amount,status\n${refunds.join('\n')}\n`)).basis, undefined);
  const flights = Array.from({ length: 10 }, (_, i) => `F${i},2024-01-${10 + i},${i * 5},${i === 4 ? 'cancelled' : 'flown'}`).join('\n');
  assert.equal((await profileText(`flight,date,delay_min,status\n${flights}\n`)).basis, undefined);
});

test('a column that only the left out rows fill keeps its figures', async () => {
  const rows = Array.from({ length: 10 }, (_, i) => `O${i},${30 + i},${i === 2 || i === 7 ? `refunded,${30 + i}` : 'paid,'}`).join('\n');
  const profile = await profileText(`order,amount,status,refunded_amount\n${rows}\n`);
  assert.equal(numbersOf(profile, 'amount').sum, 345 - 32 - 37);
  assert.equal(numbersOf(profile, 'refunded_amount').sum, 69);
});

test('values that stand for a failed reading are left out of sums, days and hours, beside the figures of all rows', async () => {
  const rows = Array.from({ length: 48 }, (_, hour) => {
    const litres = hour === 7 || hour === 30 ? -999 : 20 + (hour % 5);
    return `2025-06-0${1 + Math.floor(hour / 24)} ${String(hour % 24).padStart(2, '0')}:00,${litres}`;
  });
  const again = [...rows.slice(0, 40), rows[39], ...rows.slice(40)].join('\n');
  const twice = (await profileText(`zeit,durchfluss_liter\n${again}\n`)).remarks.find(({ kind }) => kind === 'duplicate_rows');
  assert.match(
    twice!.text,
    /row 41 repeats row 40 \(2025-06-02 15:00, 24\)\. It is left out of all figures that do not say otherwise\. Without it 48 rows remain\.$/,
  );
  const profile = await profileText(`zeit,durchfluss_liter\n${rows.join('\n')}\n`);
  assert.deepEqual(profile.basis?.left_out, [
    { kind: 'values', what: 'values of durchfluss_liter that devices write for a failed reading', count: 2, rows: [8, 31] },
  ]);
  const { sum, all } = numbersOf(profile, 'durchfluss_liter');
  const kept = rows.map((row) => Number(row.split(',')[1])).filter((litres) => litres > 0);
  assert.deepEqual(
    [sum, all?.sum],
    [kept.reduce((total, litres) => total + litres, 0), kept.reduce((total, litres) => total + litres, -1998)],
  );
  const days = profile.remarks.find(({ kind, text }) => kind === 'rows_by_day' && text.startsWith('durchfluss'));
  assert.match(days!.text, /2025-06-01 50\d, 2025-06-02 50\d\.$/);
  assert.ok(profile.remarks.some(({ text }) => text.startsWith('Outliers: durchfluss_liter is -999 in 2 rows (rows 8 and 31)')));
});

test('a refund of a usual amount is no failed reading', async () => {
  const rows = Array.from({ length: 20 }, (_, i) => `R${i},${i === 4 ? -99 : i % 3 ? 99 : 98}`);
  assert.equal((await profileText(`id,points\n${rows.join('\n')}\n`)).basis, undefined);
});

test('a row of a grid of dates and names that is written twice is left out, and equal sales of a list are two sales', async () => {
  const days = Array.from({ length: 12 }, (_, i) => `2024-06-${String(i + 1).padStart(2, '0')}`);
  const grid = days.flatMap((day, i) =>
    ['Nord,Brot', 'Nord,Torte', 'Süd,Brot', 'Süd,Torte'].map((names, j) => `${day},${names},${20 + ((i + j) % 5)}`),
  );
  const text = (rows: readonly string[]) => `Tag,Haus,Ware,Stück\n${rows.join('\n')}\n`;
  assert.deepEqual((await profileText(text([...grid, grid[7]!]))).basis?.left_out, [
    { kind: 'duplicates', what: 'exact duplicate', count: 1, rows: [49] },
  ]);
  const another = grid[7]!.replace(/\d+$/, '99');
  assert.equal((await profileText(text([...grid, grid[7]!, another]))).basis, undefined);
});

test('a lone reading many times larger than all others of a series is left out, a long rise and amounts of money are not', async () => {
  const hours = Array.from({ length: 72 }, (_, i) => `2024-06-0${1 + Math.floor(i / 24)} ${String(i % 24).padStart(2, '0')}:00`);
  const readings = (name: string, value: (i: number) => number) =>
    `time;${name}\n${hours.map((hour, i) => `${hour};${value(i).toFixed(1)}`).join('\n')}\n`;
  const usual = (i: number) => 80.5 + ((i * 7) % 20);
  const spike = await profileText(readings('flow_m3h', (i) => (i === 30 ? 4850 : usual(i))));
  assert.deepEqual(spike.basis?.left_out, [
    { kind: 'values', what: 'value of flow_m3h many times larger than all others of the series', count: 1, rows: [31] },
  ]);
  assert.equal((await profileText(readings('flow_m3h', (i) => (i > 40 ? 10 ** ((i - 40) / 8) * usual(i) : usual(i))))).basis, undefined);
  assert.equal((await profileText(readings('amount_eur', (i) => (i === 30 ? 4850 : usual(i))))).basis, undefined);
});

test('a row that its own text calls a test is left out, and a remark on a test is not', async () => {
  const remarks = ['Cold soup', 'Queue too long', 'The blood test took an hour', 'Nice staff', 'Fine', 'Test test, please ignore'];
  const rows = remarks.map((remark, i) => `${i + 1};${i % 2 ? 'East' : 'West'};${3 + i};${remark}`);
  const profile = await profileText(`id;site;score;remark\n${rows.join('\n')}\n`);
  assert.deepEqual(profile.basis?.left_out, [{ kind: 'tests', what: 'row that its own text calls a test', count: 1, rows: [6] }]);
});

test('of days that come once each, an equal row is one day written twice', async () => {
  const days = Array.from({ length: 12 }, (_, i) => `2025-03-${String(i + 1).padStart(2, '0')},${100 + i}`);
  const profile = await profileText(`day,takings\n${[...days, days[4]].join('\n')}\n`);
  assert.equal(profile.basis?.rows, 12);
  assert.equal(numbersOf(profile, 'takings').sum, 1_266);
});

test('rows that do not count are in no figures by two groups, unless one of these is the status', async () => {
  const kinds = ['gift', 'card', 'gift', 'card', 'gift', 'gift', 'card', 'gift', 'card', 'gift', 'gift', 'card'];
  const rows = kinds.map((kind, i) => `K${i + 1},2025-03-${10 + i},${i < 6 ? 'North' : 'South'},${kind},${10 + i},paid`);
  const profile = await profileText(`no,day,shop,kind,eur,status\n${rows.join('\n')}\nK13,2025-03-22,North,card,30,cancelled\n`);
  const texts = profile.remarks.map(({ text }) => text);
  assert.ok(
    texts.includes('shop by kind: gift: North 4 (57.1 %), South 3 (42.9 %); card: North 2 (40 %), South 3 (60 %).'),
    texts.join('\n'),
  );
  assert.ok(texts.includes('status by shop: North paid 6 (85.7 %), cancelled 1 (14.3 %); South paid 6 (100 %).'), texts.join('\n'));
});

test('a day of the week is not raised by a row that is written twice', async () => {
  const rows = Array.from({ length: 56 }, (_, i) => {
    const day = new Date(Date.UTC(2025, 2, 3 + i));
    return `D${i + 1},${day.toISOString().slice(0, 10)},${day.getUTCDay() % 6 === 0 ? 30 : 10}`;
  });
  const profile = await profileText(`no,day,visits\n${rows.join('\n')}\n${rows[1]}\n`);
  const weekday = profile.remarks.find(({ kind }) => kind === 'weekday')!;
  assert.match(weekday.text, /On weekends a day has 30 on average, on working days 10\./);
});

test('a figure beside the main ones is announced only where a figure differs', async () => {
  const announces = async (text: string) =>
    ((await profileText(text)).remarks ?? []).some(({ text: said }) => said.includes('stands beside'));
  const status = ['paid', 'cancelled', 'paid', 'paid', 'cancelled', 'paid', 'paid', 'paid'];
  const rows = (cell: (at: number) => string) => status.map((each, at) => `K${at + 1},${cell(at)},${each}`).join('\n');
  assert.equal(await announces(`berth,boat,status\n${rows((at) => (at % 2 ? 'Heron' : 'Tern'))}\n`), false);
  assert.equal(await announces(`berth,fee,status\n${rows((at) => String(40 + at))}\n`), true);
});
