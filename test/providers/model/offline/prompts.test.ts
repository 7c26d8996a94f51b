/** Prompts of users: which files they name, which orders they contain, and the time to read them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseArithmetic } from '../../../../src/providers/model/offline/arithmetic.ts';
import { cannotDo } from '../../../../src/providers/model/offline/cannot.ts';
import { findMentions } from '../../../../src/providers/model/offline/file-mentions.ts';
import { parseOrders } from '../../../../src/providers/model/offline/orders.ts';
import { makePlan, readPlanningRequest } from '../../../../src/providers/model/offline/planning.ts';
import { compareTexts } from '../../../../src/providers/model/offline/text/compare.ts';
import { readFacts } from '../../../../src/providers/model/offline/text/facts.ts';

const files = ['sales.csv', 'old-sales.csv', 'Board Minutes.md', 'отчёт.txt', 'costs_2024.tsv', 'notes.txt'];
const named: [string, string[]][] = [
  ['Analyse (sales.csv).', ['sales.csv']],
  ['Analyse “SALES.CSV”, «notes.txt» and `costs_2024.tsv`!', ['sales.csv', 'notes.txt', 'costs_2024.tsv']],
  ['Compare old-sales.csv with sales.csv', ['old-sales.csv', 'sales.csv']],
  ["Read 'board minutes.md' please", ['Board Minutes.md']],
  ['What was decided in the Board Minutes?', ['Board Minutes.md']],
  ['Summarise отчёт.txt', ['отчёт.txt']],
  ['分析sales.csv', ['sales.csv']],
  ['Summarise the notes', ['notes.txt']],
  ['Profile costs 2024', ['costs_2024.tsv']],
  ['Profile the TSV', ['costs_2024.tsv']],
  ['Look at both CSV files', ['sales.csv', 'old-sales.csv']],
  ['Summarise notes.txt and save it as sales.csv', ['notes.txt']],
  ['Mail ann@sales.csv.example about our old presales.csv', []],
  ['Give me one report on everything', []],
  ['What do the minutes say about sales.csv?', ['sales.csv', 'Board Minutes.md']],
  ['Do both CSV files agree with our costs?', ['sales.csv', 'old-sales.csv', 'costs_2024.tsv']],
  ['Analyse notes.txt, and how the sales went', ['notes.txt']],
];
for (const [prompt, expected] of named) {
  test(`"${prompt}" means ${expected.join(', ') || 'no file by name'}`, () =>
    assert.deepEqual(findMentions(prompt, files).named, expected));
}

test('a missing file is reported with the closest names; a typo is read as the intended name', () => {
  assert.deepEqual(findMentions('Analyse slaes.csv', files).missing, [
    { mention: 'slaes.csv', closest: ['sales.csv'], instead: 'sales.csv' },
  ]);
  const { missing } = findMentions('Analyse costs_2023.tsv, then write result.md', files);
  assert.deepEqual(
    missing.map(({ mention: asked, closest }) => [asked, closest.includes('costs_2024.tsv')]),
    [['costs_2023.tsv', true]],
  );
});

const mails: [string, string[]][] = [
  ['Please could you e-mail the report to ann@example.com?', ['ann@example.com']],
  ["Don't forget to send the report to jörg@müller.example", ['jörg@müller.example']],
  ['Analyse it. When done, mail the results to "ann@example.com".', ['ann@example.com']],
  ['Den Bericht bitte an ann@example.com schicken', ['ann@example.com']],
  ['Do not use charts, and e-mail the report to ann@example.com', ['ann@example.com']],
  ['Summarise the e-mail from ann@example.com', []],
  ['Do not, under any circumstances, e-mail it to ann@example.com', []],
  ['Summarise it without sending it to ann@example.com', []],
  ['If the total is over 100, e-mail the report to ann@example.com', []],
  ['E-mail the report to ann@example.com every Monday', []],
  ['Should I e-mail the report to ann@example.com?', []],
  ['I send the figures to ann@example.com each week', []],
  ['The mail that Bob will forward to ann@example.com is late', []],
];
for (const [prompt, expected] of mails) {
  test(`"${prompt}" ${expected.length === 0 ? 'sends nothing' : `is an order to write to ${expected.join(', ')}`}`, () =>
    assert.deepEqual(
      parseOrders(prompt).mails.map(({ to }) => to),
      expected,
    ));
}

test('an order with a condition, a time or an inexact amount is refused with the reason', () => {
  assert.match(parseOrders('If sales fall, order 3 mugs from Acme for 20 dollars').refused.join(), /depends on a condition/);
  assert.match(parseOrders('E-mail it to ann@example.com tomorrow').refused.join(), /cannot schedule/);
  assert.match(parseOrders('Buy 3 mugs from Acme for about 20 dollars').refused.join(), /no exact amount/);
  for (const text of ['Get the figures from Acme for 12 people', 'The order from Acme for 120 dollars was late', 'In order to save, stop'])
    assert.deepEqual(parseOrders(text).purchases, []);
});

test('requests that no rule supports are answered with the setting for a language model', () => {
  for (const text of ['Translate notes.txt into French', 'Please write me a poem', 'Übersetze den Text', 'Build a landing page'])
    assert.match(cannotDo(text).join(), /MODEL_BASE_URL/, text);
  for (const text of [
    'Summarise the translation',
    'Do not translate it',
    'Write a report',
    'Go through the list code by code',
    'Sum the fees by code',
    'Show code, design and price',
  ])
    assert.deepEqual(cannotDo(text), [], text);
});

/** Processor time of the fastest of two runs, so that other work of the machine counts little. */
function cpuMs(run: () => unknown): number {
  const times = [1, 2].map(() => {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

const readers: Record<string, (text: string) => unknown> = {
  planning: (text) => makePlan(readPlanningRequest(text)),
  sums: parseArithmetic,
  'names of files': (text) => findMentions(text, files),
  facts: readFacts,
  differences: (text) => compareTexts(text, `${text.slice(7)} y`),
};
const hostile = [
  ' ',
  '-',
  '"',
  '“',
  "'",
  '`',
  '(',
  '1',
  '1,',
  '1 + ',
  'and ',
  '\n ',
  'a',
  'A. ',
  'a@b.co ',
  'e-mail it to ',
  'order x from y for ',
  'if ',
  '- [ ] x\n',
  'Anna: x\n',
  '3.4.',
];
for (const [what, read] of Object.entries(readers)) {
  test(`reading ${what} from hostile text takes linear time`, () => {
    for (const piece of hostile) {
      const text = (chars: number) => `- ${piece.repeat(Math.ceil(chars / piece.length)).slice(0, chars)}x`;
      const short = cpuMs(() => read(text(4_000)));
      const long = cpuMs(() => read(text(16_000)));
      // Four times the text: a quadratic rule takes sixteen times as long. The constant covers the clock and the collector.
      assert.ok(long < 10 * short + 30, `${JSON.stringify(piece)}: ${short} ms, ${long} ms`);
    }
  });
}
