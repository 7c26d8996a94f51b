/** The role of a column by its values if its name is unclear, and findings from comparing columns and groups. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { profileTable } from '../../../src/providers/table/profile.ts';
import type { TableProfile } from '../../../src/providers/table/table-profile.ts';
import { column, opening, profileText } from './tables.ts';

const lines = (head: string, count: number, row: (i: number) => string) =>
  `${head}\n${Array.from({ length: count }, (_, i) => row(i)).join('\n')}\n`;
const said = ({ remarks }: TableProfile) => remarks.map(({ text }) => text).join('\n');

test('numbers of an unknown name stay unclear, unless a row of totals has their sum', async () => {
  const open = await profileText(lines('lake,zeta', 12, (i) => `L${i},${3 + i * 7.25}`));
  assert.equal(column(open, 'zeta').role, 'unclear');
  const summed = await profileText(`${lines('lake,zeta', 4, (i) => `L${i},${i + 1}`)}Total,10\n`);
  assert.equal(column(summed, 'zeta').role, 'measure');
});

test('a scale is a rate, an energy is an amount, whole numbers with plural names are counts', async () => {
  const profile = await profileText(lines('food (1-5),yield_kwh,visits', 12, (i) => `${1 + (i % 5)},${i * 2.5},${i * 3}`));
  assert.deepEqual(
    profile.columns.map(({ role }) => role),
    ['rate', 'measure', 'measure'],
  );
});

test('a capacity repeated in each row of a garage is not summed over the rows', async () => {
  const profile = await profileText(lines('garage,capacity,occupied', 12, (i) => `${i % 2 ? 'A' : 'B'},${i % 2 ? 400 : 250},${100 + i}`));
  assert.equal(column(profile, 'capacity').role, 'rate');
  assert.match(said(profile), /occupied ÷ capacity is /);
});

test('941 beside 1.007 shows that the dot separates thousands', async () => {
  const profile = await profileText(lines('flat;rent', 8, (i) => `W${i};${i % 2 ? '1.007 €' : '941 €'}`));
  assert.equal(column(profile, 'rent').numbers!.max, 1007);
});

test('one 3,631 among whole numbers above 999 has a mark of thousands, also between semicolons', async () => {
  const profile = await profileText(lines('flat;reading', 8, (i) => `W${i};${i === 3 ? '3,631' : i === 4 ? '0' : 3_600 + i}`));
  const { numbers } = profile.columns[1]!;
  assert.deepEqual([numbers?.max, numbers?.min], [3_631, 0]);
  assert.ok(!profile.warnings.some((warning) => warning.includes('two things')));
});

test('between semicolons a dot before three digits separates thousands, unless another cell contradicts it', async () => {
  const grouped = await profileText(lines('month;sales', 8, (i) => `M${i};${10 + i}.250`));
  assert.equal(column(grouped, 'sales').numbers!.max, 17_250);
  const decimal = await profileText(lines('month;sales', 8, (i) => `M${i};${10 + i}.${i === 0 ? '25' : '250'}`));
  assert.equal(column(decimal, 'sales').numbers!.max, 17.25);
});

test('a last row with the sums of the others is a total, with any name and without one', async () => {
  const named = await profileText('item,Jan,Feb,Mar\nSales,10,20,30\nRent,-4,-4,-4\nWages,-3,-5,-6\nResult,3,11,20\n');
  assert.equal(named.rows, 3);
  assert.match(said(named), /"Result"\) is a total/);
  const bare = await profileText('day,who,amount\n2024-01-01,Ann,5\n2024-01-02,Bo,7\n2024-01-03,Cy,9\n,,21\n');
  assert.equal(bare.rows, 3);
  assert.match(said(bare), /Row 4, which holds figures only, is a total.*agrees/);
});

test('the ratio of two columns is reported over all rows, by row and by group, also for a requested pair', async () => {
  const flats = await profileText(
    lines('flat,area_m2,rent,quarter', 6, (i) => `F${i},${i % 2 ? 40 : 60},${500 + 100 * i},${i < 3 ? 'N' : 'S'}`),
  );
  assert.match(said(flats), /rent per area_m2: 15 over 6 rows together \(4,500 ÷ 300\).*By quarter, .*S 19.29 \(20\), N 11.25 \(11.67\)/);
  const cells = lines('shift,parts,pallets', 6, (i) => `S${i},${30 + i},${2 + (i % 2)}`);
  const asked = await profileTable(opening(Buffer.from(cells)), 'shifts.csv', undefined, { ratio: { of: 'parts', per: 'pallets' } });
  assert.match(said(asked), /parts per pallets: 13 over 6 rows together \(195 ÷ 15\)/);
});

test('the largest value of each group is named, and yes and no are counted by group', async () => {
  const votes = await profileText(lines('district,candidate,votes', 12, (i) => `D${i % 3},${'ABCD'[i % 4]},${10 + ((i * 7) % 12)}`));
  assert.match(said(votes), /Largest votes by candidate within each district: D0: D 19 \(32.8 % of 58\), then C 16, B 13;/);
  const churn = await profileText(lines('id,plan,churned', 12, (i) => `${i + 1},${i % 2 ? 'pro' : 'free'},${i % 4 === 0 ? 'yes' : 'no'}`));
  assert.match(said(churn), /churned by plan: free: no 3 \(50 %\), yes 3 \(50 %\); pro: no 6 \(100 %\)/);
});

test('hours of the day are counted, but not of lengths of time, nor of readings at set times', async () => {
  const log = await profileText(
    lines('at,door', 24, (i) => `2024-03-0${1 + (i % 4)} ${String(i % 3 ? 18 : 7 + (i % 5)).padStart(2, '0')}:10,main`),
  );
  assert.match(said(log), /By hour of the day \(at\), rows: .*18:00 16.*Most rows fall in the hour from 18:00 \(16 of 24/);
  const lengths = await profileText(lines('call,duration', 12, (i) => `C${i},0${i % 4}:1${i % 6}`));
  assert.doesNotMatch(said(lengths), /hour of the day/);
  const sensor = await profileText(
    lines('ts,temp', 72, (i) => `2024-03-0${1 + Math.floor(i / 24)} ${String(i % 24).padStart(2, '0')}:00,${20 + (i % 5)}`),
  );
  assert.doesNotMatch(said(sensor), /hour of the day \(ts\), rows/);
});

test('58:28 among race times is minutes and seconds, 08:30 of an appointment is not a duration', async () => {
  const race = await profileText(lines('name;time', 8, (i) => `R${i};${i === 5 ? 'DNF' : `4${i}:3${i}`}`));
  assert.doesNotMatch(said(race), /hours/);
  const seen = await profileText(lines('day,time,patient', 10, (i) => `2024-03-0${1 + (i % 5)},${i % 2 ? '08:30' : '14:15'},P${i}`));
  assert.doesNotMatch(said(seen), /time adds up/);
});

test('profit is computed from price, cost and quantity, and rows with a loss are named', async () => {
  const profile = await profileText('product,unit cost,price,sold\nMug,3,10,5\nRug,40,35,2\nBall,4,12,10\nLamp,20,50,1\n');
  assert.match(said(profile), /\(price − unit cost\) × sold adds up to 135 .*Below zero in 1 row: row 2 \(Rug\): -10/);
});

test('a missing row of one of many objects, and a figure unlike the others of its object, are named', async () => {
  const rows = ['Abt', 'Bloch', 'Cremer'].flatMap((name, i) =>
    [1, 2, 3, 4, 5, 6].flatMap((month) =>
      name === 'Cremer' && month === 4 ? [] : [`2025-0${month},${name},${name === 'Bloch' && month === 5 ? 400 : 600 + 50 * i}`],
    ),
  );
  const profile = await profileText(`month,tenant,paid\n${rows.join('\n')}\n`);
  assert.match(said(profile), /Every tenant has a row for every month, but 1 is missing: Cremer in 2025-04/);
  assert.match(said(profile), /paid is the same in the rows of each tenant, but not in .*400 instead of 650/);
});

test('before and after are compared by group, and spans between dates as well', async () => {
  const trial = await profileText(
    lines('id,arm,bp_before,bp_after', 8, (i) => `S${i},${i % 2 ? 'drug' : 'none'},${140 + i},${140 + i - (i % 2 ? 10 : 0)}`),
  );
  assert.match(
    said(trial),
    /bp_after − bp_before is -5 on average .*[\s\S]*by arm: none mean [\d.]+ to [\d.]+, \+0 %, 0 on average \(4 rows\); drug mean [\d.]+ to [\d.]+, −[\d.]+ %, -10 on average \(4 rows\)/,
  );
  const tickets = await profileText(
    lines('id,topic,opened,closed', 8, (i) => `T${i},${i % 2 ? 'bug' : 'bill'},2024-03-01,2024-03-0${i % 2 ? 5 : 3}`),
  );
  assert.match(said(tickets), /by topic, median \(mean\): bug 4 days \(4 days, 4 rows\), bill 2 days \(2 days, 4 rows\)/);
});

test('adjacent columns of whole numbers by kind are combined; parts of a known sum are added', async () => {
  const sold = await profileText(lines('day,Roll,Pretzel,Cake', 14, (i) => `2025-02-${10 + i},${200 + i},${90 + i},${10 + i}`));
  assert.match(said(sold), /Over 3 columns together 4,473: Roll 2,891 \(.*By row, most in 2025-02-23 \(row 14\): 339/);
  const votes = await profileText(
    'ward;Votes cast;Invalid paper;Blue;Gold\nW1;100;5;60;35\nW2;90;4;40;46\nW3;120;2;58;60\nW4;80;0;50;30\n',
  );
  assert.equal(column(votes, 'Gold').role, 'measure');
});

test('counted stock is compared with book stock, with the value of the difference', async () => {
  const profile = await profileText('item,book qty,counted qty,unit cost\nMilk,40,38,1.5\nSugar,20,20,2\nTea,30,31,4\nCup,9,9,1\n');
  assert.match(
    said(profile),
    /counted qty is above book qty in 1 row of 4: Tea by 1 \(3\.3 %\)\. It is below in 1: Milk by 2 \(5 %\)\. At unit cost .* is worth 1\./,
  );
});

test('months written 10.2024 are dates like 09.2024', async () => {
  const profile = await profileText(lines('month;rain', 12, (i) => `${String(i + 1).padStart(2, '0')}.2024;${i + 3}`));
  assert.equal(column(profile, 'month').type, 'date');
});

test('marks of attendance are counted by row and by column', async () => {
  const profile = await profileText('child;Mo;Di;Mi\nAli;x;x;\nBea;x;;x\nCarl;x;x;x\nDina;;x;\n');
  assert.match(said(profile), /'x' by row: Carl 3, Ali 2, Bea 2, Dina 1 \(of 3 columns\); by column: Mo 3, Di 3, Mi 2 \(of 4 rows\)/);
});

test('a part of the adjacent count is reported as a share, and different quantities are not combined', async () => {
  const profile = await profileText('language,strings,translated,translators\nFrench,1000,500,4\nGerman,600,600,5\nPolish,400,100,2\n');
  assert.match(said(profile), /translated ÷ strings is 60 % over 3 rows/);
  assert.doesNotMatch(said(profile), /columns together/);
});

test('the balance of a cash book is a level, and tonnes of a gas are an amount', async () => {
  const book = await profileText(
    lines('date,text,income,expense,remaining', 6, (i) => `2025-01-0${i + 1},t${i},${i ? '' : 100},${i ? 5 : ''},${100 - 5 * i}`),
  );
  assert.equal(column(book, 'remaining').role, 'level');
  const gas = await profileText(lines('site,co2_t,co2_ppm', 6, (i) => `S${i},${400 + i}.5,${500 + i}`));
  assert.deepEqual([column(gas, 'co2_t').role, column(gas, 'co2_ppm').role], ['measure', 'rate']);
});

test('a row that goes back in time is reported, also after a row without a date and between rows of other series; a block of a series is not', async () => {
  const day = (i: number) => `2024-01-${String(i + 1).padStart(2, '0')}`;
  const readings = (row: (i: number) => [string, string]) =>
    profileText(lines('day,lake,level', 24, (i) => `${row(i).join(',')},${i * i}`));
  const turns = (of: (i: number) => string) => readings((i) => [of(i), i % 2 ? 'North' : 'South']);
  assert.match(
    said(await turns((i) => (i === 15 ? '2023-12-24' : day(i >> 1)))),
    /in order of day but for row 16, which goes back in time/,
  );
  assert.doesNotMatch(said(await turns((i) => day(i >> 1))), /back in time/);
  const blocks = (of: (i: number) => string) => readings((i) => [of(i), ['North', 'South'][Math.floor(i / 6) % 2]!]);
  const halves = (i: number) => day((i % 6) + 6 * Math.floor(i / 12));
  assert.doesNotMatch(said(await blocks(halves)), /back in time/);
  assert.match(said(await blocks((i) => (i === 9 ? '' : i === 10 ? '2023-12-24' : halves(i)))), /but for row 11, which goes back/);
});

test('amounts in a unit of another quantity, months of contracts and a single column "apr" are not added up', async () => {
  const profile = await profileText(
    lines(
      'site,fuel_l_km,fee_usd_kg,notice_months,apr,worked_months',
      14,
      (i) => `S${i},${5 + (i % 7)}.4,${20 + i}.5,${3 * (1 + (i % 4))},${4 + i}.25,${i}`,
    ),
  );
  assert.deepEqual(
    profile.columns.slice(1).map(({ role }) => role),
    ['rate', 'rate', 'rate', 'rate', 'measure'],
  );
  const months = await profileText(lines('shop,mar,apr,may', 8, (i) => `S${i},${100 + i},${120 + i},${130 + i}`));
  assert.deepEqual(
    months.columns.slice(1).map(({ role }) => role),
    ['measure', 'measure', 'measure'],
  );
});

test('points of tests and out of a fixed maximum are not added up; one above the maximum is named', async () => {
  const marks = await profileText(lines('pupil,task,punkte', 12, (i) => `P${i % 6},T${i % 2},${10 + i}`));
  assert.equal(column(marks, 'punkte').role, 'rate');
  const rounds = await profileText(lines('dish,points,possible_points', 12, (i) => `D${i},${i === 3 ? 33 : 10 + i},30`));
  assert.equal(column(rounds, 'points').role, 'rate');
  assert.match(said(rounds), /points is above possible_points in 1 row: row 4 \(D3\): 33 and 30/);
  const league = await profileText(lines('team,points', 12, (i) => `T${i},${10 + i * 3}`));
  assert.equal(column(league, 'points').role, 'measure');
});

test('members counted anew each month are not added up over the months, but those who visit are', async () => {
  const month = (i: number) => `2024-${String(1 + Math.floor(i / 2)).padStart(2, '0')}`;
  const gym = await profileText(lines('month,branch,members', 16, (i) => `${month(i)},${'NS'[i % 2]},${300 + i * 4}`));
  assert.equal(column(gym, 'members').role, 'level');
  const visits = await profileText(lines('month,branch,members', 16, (i) => `${month(i)},${'NS'[i % 2]},${(i * 97) % 310}`));
  assert.equal(column(visits, 'members').role, 'measure');
});

test('an amount that is above another one in a single row is named; amounts that often cross are not', async () => {
  const claims = await profileText(
    lines('claim,insured,damage', 15, (i) => `C${i},${1000 * (1 + (i % 5))},${i === 8 ? 4900 : 700 * (1 + (i % 5))}`),
  );
  assert.match(
    said(claims),
    /damage is above insured only in 1 row: 4,900 beside 4,000 in row 9 \(C8\); it is not above it in the other 14/,
  );
  const crossing = await profileText(lines('claim,insured,damage', 15, (i) => `C${i},${100 + i},${102 + i + (i % 3) * 3 - 4}`));
  assert.doesNotMatch(said(crossing), /only in/);
});

test('the few rows with the rarer of two values are named', async () => {
  const parts = await profileText(
    lines('part,stock,checked', 12, (i) => `P${i},${i === 5 ? 0 : 10 + i},${i === 2 || i === 9 ? 'no' : 'yes'}`),
  );
  assert.match(said(parts), /checked is no in 2 rows of 12: row 3 \(P2\) and row 10 \(P9\)/);
});

test('groups are compared between complete months, or between halves of the days if there is at most one', async () => {
  const day = (i: number) => new Date(Date.UTC(2024, 2, 1) + i * 86_400_000).toISOString().slice(0, 10);
  const partial = await profileText(lines('date,shop,sold', 140, (i) => `${day(Math.floor(i / 2))},${'AB'[i % 2]},${i % 2 ? 3 : 5}`));
  assert.match(said(partial), /sold by shop, from 2024-03 to 2024-04 \(date\)/);
  const short = await profileText(lines('date,line,rejects', 40, (i) => `${day(Math.floor(i / 2))},L${i % 2},${i % 2 && i >= 20 ? 9 : 2}`));
  assert.match(
    said(short),
    /rejects by line, 2024-03-01 to 2024-03-10 beside 2024-03-11 to 2024-03-20 \(date\): L1 \+70 \(20 to 90, \+350 %\); L0 \+0 \(20 to 20/,
  );
});

test('scales of different length have no common mean, and counts and shares no currency', async () => {
  const answers = await profileText(lines('who,ease,speed,advise', 12, (i) => `W${i},${1 + (i % 5)},${1 + ((i * 3) % 5)},${i % 11}`));
  assert.doesNotMatch(said(answers), /Across these columns|Means of the columns/);
  const sales = await profileText(
    lines('no,currency,rebate_pct,total', 12, (i) => `A${i},${i % 4 ? 'EUR' : 'USD'},${5 * (i % 3)},${100 + i}`),
  );
  assert.doesNotMatch(said(sales), /rebate_pct mixes/);
  assert.match(said(sales), /total mixes units or currencies/);
});

test('amounts of two currencies are added neither over time nor beside a duplicate', async () => {
  const gifts = await profileText(
    `no,date,fund,amount,currency\n${Array.from({ length: 16 }, (_, i) => `G${i},2024-0${1 + (i % 4)}-1${i % 9},${'AB'[i % 2]},${10 + i},${i % 3 ? 'GBP' : 'USD'}`).join('\n')}\nG4,2024-01-14,A,14,GBP\n`,
  );
  assert.match(said(gifts), /row 17 repeats row 5/);
  assert.doesNotMatch(said(gifts), /amount by fund, from|amount adds up to/);
});

test('nights beside ratings have no common mean, and a number of visits is not compared with euros', async () => {
  const stays = await profileText(
    lines('guest,rating,comfort,nights', 12, (i) => `G${i},${1 + (i % 5)},${1 + ((i * 2) % 5)},${1 + ((i * 3) % 7)}`),
  );
  assert.doesNotMatch(said(stays), /Across these columns/);
  const halls = await profileText(lines('hall,visits,fees_eur', 14, (i) => `H${i},${i === 6 ? 0 : 100 + 20 * i},${90 + 12 * i}`));
  assert.doesNotMatch(said(halls), /only in 1 row/);
});

test('a total of records is compared with the sum of the column of their entries that its name contains', async () => {
  const trips = Array.from({ length: 8 }, (_, i) => ({
    trip: `T${i}`,
    total_litres: i === 3 ? 99 : 10 + i + 5,
    stops: [
      { place: 'A', litres: 10 + i },
      { place: 'B', litres: 5 },
    ],
  }));
  const profile = await profileTable(opening(Buffer.from(JSON.stringify(trips))), 'trips.json');
  assert.match(
    said(profile),
    /total_litres = sum of litres of its stops in 7 of 8 rows, but not in row 4 \(T3\): 18, written 99 \(difference 81\)/,
  );
});
