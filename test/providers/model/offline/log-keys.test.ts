/** A log of things with codes: what each adds up to over corrections and later additions, and which faults are still open. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFacts } from '../../../../src/providers/model/offline/text/facts.ts';
import { openFaults, totalsByKey } from '../../../../src/providers/model/offline/text/log-keys.ts';
import { runAgent } from './agent-loop.ts';

const log = `KIOSK LOG 2023/24

02.10. Mo counted A1 40.00 A2 31.50 B1 20
02.10. Mo A2 lamp flickers
09.10. Mo counted A1 42 A2 29.50 B1 19.00
10.10. Tu CORRECTION Monday 09.10: A2 was 25.50 NOT 29.50
11.10. We A2 new lamp, works
16.10. Mo counted A1 415 A2 30.00
17.10. Tu forgot B1 yesterday 16.10.: it was 21.50
18.10. We Brack mended the roof of A1, 260
23.10. Mo counted: A1 39, A2 33, B1 22
           (from the slip) A1 39 A2 33
24.10. Tu stamp machine doesn't take cards. wrote to them
02.11. Th Brack's bill: the roof is 240 not 260
07.11. Tu door bell changed
08.01. Mo counted A1 41 A2 30 B1 20.50
09.01. Tu B1 shutter stuck again
10.01. We form for the stamp machine has to be in by 1 March
`;

test('the figures of each code are summed with corrected and added ones, a copied line once, and a figure that is far off is named', () => {
  const totals = totalsByKey(readFacts(log).logbook!);
  assert.deepEqual(
    totals.map(({ key, sum, readings }) => [key, sum, readings]),
    [
      ['A1', 577, 5],
      ['A2', 150, 5],
      ['B1', 103, 5],
    ],
  );
  assert.match(totals[0]!.notes.join('; '), /415 on line 8 is far from its other figures; with 41\.5 the sum is 203\.5, without it 162/);
  assert.match(totals[1]!.notes.join('; '), /29\.50 on line 5 was corrected to 25\.50 on line 6/);
  assert.match(totals[2]!.notes.join('; '), /21\.5 was added on line 9/);
});

test('a figure that is "not 260" corrects the only entry that has it, without a word such as correction', () => {
  const { changes } = readFacts(log).logbook!;
  assert.deepEqual(
    changes.map(({ kind, line, corrected }) => [kind, line, corrected?.before ?? null, corrected?.now ?? null]),
    [
      ['correction', 6, '29.50', '25.50'],
      ['addition', 9, null, null],
      ['correction', 14, '260', '240'],
    ],
  );
});

test('a fault is open while no later entry on the same thing says that it was repaired', () => {
  assert.deepEqual(
    openFaults(readFacts(log).logbook!).map(({ thing, line }) => [thing, line]),
    [
      ['stamp machine', 13],
      ['B1', 17],
    ],
  );
});

test('a log of two years: a month after the turn of the year is of the second one', () => {
  const { logbook, dates } = readFacts(log);
  assert.deepEqual([logbook!.entries[0]!.day, logbook!.entries.at(-1)!.day], ['2023-10-02', '2024-01-10']);
  assert.ok(dates.some(({ written, iso }) => written === '1 March' && iso === '2024-03-01'));
});

test('questions on each thing and on open repairs are answered from the entries', async () => {
  const { workspace } = await runAgent(
    'Can you tell me what each box took in, which one is more trouble than it is worth, and which repairs are still not done?',
    {
      files: { 'kiosk.txt': log },
    },
  );
  const told = workspace.text('summary.md');
  assert.match(told, /\| A2 \| 150 \| 5 \|/);
  assert.match(told, /which repairs are still not done\*\*\n\n.*\n\n.*\n.*\n\| stamp machine \|/i);
});
