import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { barDates } from '../../../../src/domains/trading/bars.ts';
import { barRows } from '../../../../src/domains/trading/market/bars.ts';
import { BarsFileFault, type BarsFileRequest, readBarsCsv } from '../../../../src/domains/trading/market/csv.ts';
import { embeddedBars } from '../../../../src/domains/trading/market/embedded-feed.ts';

const header = 'date,open,high,low,close,volume';
const rows = ['2024-01-02,10,12,9,11,1000', '2024-01-03,11,11.5,10.5,11,0', '2024-01-05,11,13,11,12.25,5e3'];
const all: BarsFileRequest = { symbol: 'TEST', assetClass: 'equity', start: null, end: null, timeframe: null };

/** The file comes in pieces of this many bytes. */
function read(content: string | Uint8Array, request: Partial<BarsFileRequest> = {}, pieceBytes = 7) {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  async function* source() {
    for (let from = 0; from < bytes.length; from += pieceBytes) yield bytes.subarray(from, from + pieceBytes);
  }
  return readBarsCsv(source(), { ...all, ...request });
}

async function faultOf(content: string | Uint8Array, request: Partial<BarsFileRequest> = {}): Promise<string> {
  try {
    await read(content, request);
  } catch (error) {
    assert.ok(error instanceof BarsFileFault, String(error));
    assert.ok(!error.message.includes('\n') && error.message.length < 300);
    return error.message;
  }
  return assert.fail(`${content} was taken`);
}

const file = (...lines: string[]) => [header, ...lines].join('\n');

test('bars are read with any line ends, a byte order mark, quotes, and columns in any order', async () => {
  const expected = barRows(await read(file(...rows)));
  assert.deepEqual(expected[2], { date: '2024-01-05', open: 11, high: 13, low: 11, close: 12.25, volume: 5000 });
  const quoted = file(...rows).replaceAll(/[^,\n]+/g, '"$&"');
  const turned = [header, ...rows].map((line) => line.split(',').reverse().join()).join('\n');
  const spaced = file(...rows).replaceAll(',', ' , ');
  for (const content of [
    `\ufeff${file(...rows)}`,
    `${file(...rows)}\n`,
    `${file(...rows)}\r\n\r\n\n`,
    file(...rows).replaceAll('\n', '\r\n'),
    quoted,
    turned,
    spaced,
  ])
    assert.deepEqual(barRows(await read(content)), expected, content);
});

test('only the period is kept, both dates inclusive, by UTC date', async () => {
  const dates = async (start: string | null, end: string | null, content = file(...rows)) => {
    const { bars, timeframe } = await read(content, { start, end });
    return barDates(bars.time, timeframe === '1d');
  };
  assert.deepEqual(await dates('2024-01-03', '2024-01-05'), ['2024-01-03', '2024-01-05']);
  const timed = file(
    ...['2024-01-02T23:59:00Z', '2024-01-03T00:00:00Z', '2024-01-03T23:59:00Z', '2024-01-04T00:00:00Z'].map((date) => `${date},1,1,1,1,1`),
  );
  assert.deepEqual(await dates('2024-01-03', '2024-01-03', timed), ['2024-01-03T00:00:00Z', '2024-01-03T23:59:00Z']);
  assert.match(await faultOf(file(...rows), { start: '2024-01-04' }), /^The period from 2024-01-04 to the last has one bar/);
  assert.match(await faultOf(file(...rows), { start: '2025-01-01', end: '2025-12-31' }), /has no bars/);
  assert.match(await faultOf(file(...rows), { start: '2024-01-05', end: '2024-01-02' }), /has no bars/);
  assert.match(await faultOf(header), /^The file has no bars/);
});

test('the timeframe is that of the closest bars, unless a fitting one is requested', async () => {
  const timed = (...minutes: number[]) =>
    file(
      ...minutes.map(
        (minute) => `2024-01-02T${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}:00Z,1,1,1,1,1`,
      ),
    );
  const timeframe = async (content: string, asked: BarsFileRequest['timeframe'] = null) =>
    (await read(content, { timeframe: asked })).timeframe;
  assert.equal(await timeframe(file(...rows)), '1d');
  assert.equal(await timeframe(timed(870, 875, 876)), '1m');
  assert.equal(await timeframe(timed(870, 875, 885)), '5m');
  assert.equal(await timeframe(timed(870, 930, 1050)), '1h');
  assert.equal(await timeframe(timed(870, 930), '1m'), '1m', 'a file with gaps');
  assert.match(await faultOf(timed(870, 930), { timeframe: '1d' }), /with times, and the timeframe asked for is 1d/);
  assert.match(await faultOf(file(...rows), { timeframe: '5m' }), /without times/);
});

test('errors are reported with their line', async () => {
  const second = (line: string) => file(rows[0]!, line);
  const good = '2024-01-03,11,12,10,11,5';
  const cases: [string, RegExp][] = [
    ['', /^line 1: the file is empty/],
    ['date,open,high,low,close\n', /^line 1: the header is "date,open,high,low,close", and must have/],
    ['Date,Open,High,Low,Close,Volume\n', /^line 1: the header/],
    ['date,open,high,low,close,volume,vwap\n', /^line 1: the header/],
    ['date,date,high,low,close,volume\n', /^line 1: the header/],
    [rows.join('\n'), /^line 1: the header/],
    [second('2024-01-03,11,12,10,11'), /^line 3: has 5 cells instead of 6/],
    [second(`${good},`), /^line 3: has 7 cells/],
    [file(rows[0]!, '', good), /^line 3: is empty/],
    [second('2024-01-03,NaN,12,10,11,5'), /^line 3: open is "NaN", which is no number/],
    [second('2024-01-03,11,Infinity,10,11,5'), /^line 3: high is "Infinity"/],
    [second('2024-01-03,11,1e999,10,11,5'), /^line 3: high is "1e999"/],
    [second('2024-01-03,11,12,,11,5'), /^line 3: low is ""/],
    [second('2024-01-03,11,12,10,0x0b,5'), /^line 3: close is "0x0b"/],
    [second('2024-01-03,11,12,10,1.1.1,5'), /^line 3: close is/],
    [second('2024-01-03,11,12,10,11,1_000'), /^line 3: volume is/],
    [second('2024-01-03,11,12,10,11,-1'), /^line 3: volume is -1, below 0/],
    [second('2024-01-03,0,12,0,11,5'), /^line 3: open is 0, not above 0/],
    [second('2024-01-03,11,12,-10,11,5'), /^line 3: low is -10, not above 0/],
    [second('2024-01-03,11,10.9,10,10.5,5'), /^line 3: high 10.9 is below open 11/],
    [second('2024-01-03,11,12,10.6,10.5,5'), /^line 3: low 10.6 is above close 10.5/],
    [second(rows[0]!), /^line 3: date "2024-01-02" is the same as that of the line before/],
    [file(rows[1]!, rows[0]!), /^line 3: date "2024-01-02" is before/],
    [second('2023-02-29,11,12,10,11,5'), /^line 3: date is "2023-02-29", and must be like/],
    [second('03/01/2024,11,12,10,11,5'), /^line 3: date is/],
    [second('2024-01-03T14:30:00Z,11,12,10,11,5'), /^line 3: date is "2024-01-03T14:30:00Z", with a time, unlike those before/],
    [file('2024-01-03T14:30:30Z,11,12,10,11,5'), /^line 2: date is/],
    [file('2024-01-03T24:00:00Z,11,12,10,11,5'), /^line 2: date is/],
    [file('2024-01-03T14:60:00Z,11,12,10,11,5'), /^line 2: date is/],
    [file('2024-01-03T1a:00:00Z,11,12,10,11,5'), /^line 2: date is/],
    [file('2024-01-03T14:30:00+01:00,11,12,10,11,5'), /^line 2: date is/],
    [second('"2024-01-03,11,12,10,11,5'), /^line 3: a quote is not closed/],
    [second('"2024-01-03"x,11,12,10,11,5'), /^line 3: text follows a closed quote/],
    [second('2024-01-03;11;12;10;11;5'), /^line 3: has 1 cells/],
    [second(`2024-01-03,11,12,10,11,${'5'.repeat(2000)}`), /^line 3: has more than 1024 characters/],
    [file(...rows, '2024-01-06,1,1,1,1,x'), /^line 5: volume/],
  ];
  for (const [content, expected] of cases) assert.match(await faultOf(content), expected, content.slice(0, 200));
  const latin = Uint8Array.from([...new TextEncoder().encode(`${file(rows[0]!)}\n`), 0xe9, 0x2c]);
  assert.match(await faultOf(latin), /^line 3: the text is not UTF-8/);
  assert.match(await faultOf(file(rows[0]!, 'x'), { start: '2030-01-01' }), /^line 3: has 1 cells/, 'also outside the period');
});

test('a file without line ends is refused before it fills the memory', async () => {
  let given = 0;
  async function* endless() {
    for (; given < 100; given++) yield new Uint8Array(10_000).fill(0x31);
  }
  await assert.rejects(readBarsCsv(endless(), all), /line 1: has more than 1024 characters/);
  assert.ok(given <= 1);
});

test('hostile content results in bars or a reported error, never another exception', async () => {
  const cell = fc.oneof(
    fc.constantFrom('2024-01-02', '2024-01-02T14:30:00Z', '1', '-1', 'NaN', '', '"', '"1"', '1e5', '.', '+', '__proto__'),
    fc.string({ maxLength: 6 }),
  );
  const line = fc.array(cell, { maxLength: 7 }).map((cells) => cells.join());
  const text = fc.oneof(
    fc.string(),
    fc.array(line).map((lines) => file(...lines)),
    fc.array(line).map((lines) => lines.join('\r\n')),
  );
  const bytes = fc.oneof(
    text.map((each) => new TextEncoder().encode(each)),
    fc.uint8Array({ maxLength: 200 }),
  );
  await fc.assert(
    fc.asyncProperty(bytes, fc.integer({ min: 1, max: 50 }), async (content, pieceBytes) => {
      try {
        await read(content, {}, pieceBytes);
      } catch (error) {
        assert.ok(error instanceof BarsFileFault, String(error));
      }
    }),
    { numRuns: 300 },
  );
});

test('rows of the feed are read back from a file exactly, in pieces of any size', async () => {
  const piece = fc.integer({ min: 1, max: 5_000 });
  const bars = embeddedBars(
    { symbol: 'ETH-USD', timeframe: '1m', start: '2024-02-29', end: '2024-02-29', adjusted: false },
    Date.UTC(2030, 0),
  )!;
  const content = file(...barRows(bars).map(({ date, open, high, low, close, volume }) => [date, open, high, low, close, volume].join()));
  await fc.assert(
    fc.asyncProperty(piece, async (pieceBytes) => {
      const back = await read(content, { assetClass: 'crypto' }, pieceBytes);
      assert.equal(back.timeframe, '1m');
      assert.deepEqual(back.bars, bars.bars);
    }),
    { numRuns: 10 },
  );
});
