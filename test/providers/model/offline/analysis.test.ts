/** The offline model with data and texts, with the service's real tools. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { noLog } from '../../../../src/log.ts';
import { createSandboxPool } from '../../../../src/providers/sandbox/pool.ts';
import type { SandboxPool } from '../../../../src/providers/sandbox/port.ts';
import { runAgent } from './agent-loop.ts';
import { strictXml } from './strict-xml.ts';

const sales = readFileSync(new URL('../../../../examples/sales.csv', import.meta.url), 'utf8');
const rows = sales
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split(','));
const directory = mkdtempSync(join(tmpdir(), 'offline-'));
let sandbox: SandboxPool;
before(() => {
  sandbox = createSandboxPool({ directory, log: noLog });
});
after(async () => {
  await sandbox.close();
  rmSync(directory, { recursive: true });
});

test('"Analyse sales.csv and tell me what stands out" results in a correct report, figures and chart', async () => {
  const { summary, workspace, calls } = await runAgent('Analyse sales.csv and tell me what stands out', { files: { 'sales.csv': sales } });
  assert.deepEqual(
    calls.map(({ name }) => name),
    ['list_files', 'profile_table', 'write_file', 'write_file', 'write_file', 'finish'],
  );
  const report = workspace.text('report.md');
  const cents = (chosen: string[][]) => chosen.reduce((sum, cells) => sum + Math.round(Number(cells[5]) * 100), 0);
  const money = (value: number) => (value / 100).toLocaleString('en-US', { minimumFractionDigits: value % 100 === 0 ? 0 : 2 });
  assert.ok(report.includes(`${rows.length} rows, 7 columns`));
  for (const text of [report, summary]) assert.ok(text.includes(`amount adds up to ${money(cents(rows))}`), text);
  for (const region of ['North', 'South', 'East', 'West'])
    assert.ok(report.includes(money(cents(rows.filter((cells) => cells[1] === region)))), region);
  for (const month of ['2024-01', '2024-05', '2024-12'])
    assert.ok(report.includes(money(cents(rows.filter((cells) => cells[0]!.startsWith(month))))), month);
  assert.match(report, /row 47 has amount 113,905/);
  assert.match(report, /row 89 has units -60/);
  assert.match(report, /Row 47 alone is 21 % of all amount/);
  assert.match(report, /Missing cells: rep 2/);
  assert.match(report, /offline model/);
  assert.match(summary, /offline model/);
  const data = JSON.parse(workspace.text('analysis.json'));
  assert.equal(data.tables[0].rows, rows.length);
  assert.equal(Math.round(data.tables[0].columns[5].numbers.sum * 100), cents(rows));
  assert.match(strictXml(workspace.text('chart.svg')), /amount by month \(sales\.csv\)/);
});

test('the same request gets the same answer', async () => {
  const [first, second] = await Promise.all([1, 2].map(() => runAgent('Analyse sales.csv', { files: { 'sales.csv': sales } })));
  assert.deepEqual(first!.calls, second!.calls);
});

test('several files get one report', async () => {
  const { workspace, calls } = await runAgent('Give me a report on these files', {
    files: {
      'sales.csv': sales,
      'people.json': '[{"name":"A","age":30},{"name":"B","age":40}]',
      'notes.txt': story,
      'photo.png': Buffer.from([1]),
    },
  });
  const report = workspace.text('report.md');
  for (const part of ['sales.csv', 'people.json', 'notes.txt', 'photo.png: not read']) assert.ok(report.includes(part), part);
  assert.equal(calls.filter(({ args }) => args.path === 'report.md' && args.content !== undefined).length, 1);
});

const story =
  'The lighthouse of Harrow Point was built in 1874. Its lamp could be seen for twenty miles. Dr. Ames kept the lamp for thirty years. ' +
  'In the winter of 1901 the supply boat did not come. The keeper burned the furniture to keep the lamp alive. Ships passed and never knew. ' +
  'When spring came the lamp was still burning. The keeper had lost a third of his weight. The lamp was replaced by an electric one in 1932. ' +
  'Today the lighthouse is a museum. Visitors climb 212 steps to the lamp. The old furniture was never replaced.';

test('every sentence of a summary is in the text', async () => {
  const { workspace } = await runAgent('Summarise the text', { files: { 'lighthouse.txt': story } });
  const summary = workspace.text('summary.md');
  const sentences = summary
    .split('\n')
    .filter((line) => line.startsWith('- ') && !line.includes('words in'))
    .map((line) => line.slice(2));
  assert.ok(sentences.length >= 2 && sentences.length <= 6);
  for (const sentence of sentences) assert.ok(story.includes(sentence), sentence);
  assert.match(summary, /offline model/);
});

test('a long text is read to its end, page by page, and a German one keeps its letters', async () => {
  const german = `${'Der Fluss trägt große Schiffe durch das Land. '.repeat(1500)}Am Ende öffnet sich die Mündung zum Meer.`;
  const { calls, workspace } = await runAgent('Fasse fluss.txt zusammen', { files: { 'fluss.txt': german } });
  assert.equal(calls.filter(({ name }) => name === 'read_file').length, 3);
  assert.match(workspace.text('summary.md'), /Der Fluss trägt große Schiffe/);
});

test('sums requested in words are computed in the sandbox', async () => {
  const { summary, calls } = await runAgent('What is 17% of 2,340?', { sandbox });
  assert.deepEqual(
    calls.map(({ name }) => name),
    ['code_exec', 'finish'],
  );
  assert.match(summary, /= 397\.80/);
  assert.match((await runAgent('Calculate (12 + 3) * 4 - 10 / 4', { sandbox })).summary, /= 57\.50/);
});

test('a figure by group is answered from the profile', async () => {
  const { summary, workspace, calls } = await runAgent('What is the sum of amount by region in sales.csv?', {
    files: { 'sales.csv': sales },
    sandbox,
  });
  assert.match(summary, /Sum of amount by region \(sales\.csv\): North 180,723\.30/);
  assert.match(workspace.text('report.md'), /## What was asked/);
  assert.ok(!calls.some(({ name }) => name === 'code_exec'));
});

test('"which region has the highest amount" is answered with the sums in order', async () => {
  const { summary } = await runAgent('Which region has the highest amount in sales.csv?', { files: { 'sales.csv': sales } });
  assert.match(summary, /^Sum of amount by region \(sales\.csv\): North [\d,.]+; West [\d,.]+; East [\d,.]+; South/);
});

test('a figure that the profile lacks is computed in the sandbox from the file', async () => {
  const { summary, calls } = await runAgent('Show the highest amount by region in sales.csv', { files: { 'sales.csv': sales }, sandbox });
  assert.ok(calls.some(({ name }) => name === 'code_exec'));
  const highest = Math.max(...rows.filter((cells) => cells[1] === 'East' && cells[5] !== '').map((cells) => Number(cells[5])));
  assert.ok(
    summary.includes(`East ${highest.toLocaleString('en-US', { minimumFractionDigits: Number.isInteger(highest) ? 0 : 2 })}`),
    summary,
  );
});

test('guidance is followed if a rule reads it, and otherwise named in the answer', async () => {
  const { workspace, summary } = await runAgent('Analyse sales.csv', {
    files: { 'sales.csv': sales },
    guidance: {
      1: 'also include the median by region',
      2: 'focus on region North',
      3: 'write it in file findings.md',
      4: 'make it more poetic',
    },
  });
  const report = workspace.text('findings.md');
  assert.match(report, /Median of amount by region/);
  assert.match(report, /Focus: region North/);
  assert.match(report, /Not followed.*make it more poetic/);
  assert.match(summary, /make it more poetic/);
});

test('ages are compared by their mean, never added up', async () => {
  const people = 'city,age\nKöln,30\nKöln,40\nUlm,20\nUlm,22\n';
  const { workspace } = await runAgent('Analyse people.csv', { files: { 'people.csv': people } });
  const report = workspace.text('report.md');
  assert.match(report, /age goes from 20 to 40 over 4 rows \(mean 28, median 26\)/);
  assert.match(report, /By city, Köln has the largest mean age: 35; Ulm has the smallest: 21/);
});

test('a missing file, an empty workspace and a damaged table are reported clearly', async () => {
  const missing = await runAgent('Analyse sales.csv', { files: { 'sale.csv.txt': 'One. Two.', 'costs.csv': 'a\n1\n' } });
  for (const text of [missing.summary, missing.workspace.text('report.md')])
    assert.match(text, /There is no sales\.csv in the workspace\..*costs\.csv/);
  assert.match((await runAgent('Analyse the data')).summary, /nothing to analyse/);
  const { summary, workspace } = await runAgent('Analyse scan.csv', { files: { 'scan.csv': Buffer.from('%PDF-1.4 nothing') } });
  assert.match(summary, /scan\.csv was not read: .*PDF/);
  assert.match(workspace.text('report.md'), /nothing was read[\s\S]*scan\.csv was not read/);
});

test('nothing in a hostile table becomes markup of the report or the chart', async () => {
  const evil =
    'name,amount\n"<script>alert(1)</script>",5\n"[x](javascript:1) | `a`",7\n"<script>alert(1)</script>",1\n"[x](javascript:1) | `a`",2\n"]]>&\u0001",3\n"]]>&\u0001",3\n';
  const { workspace } = await runAgent('Analyse evil.csv', { files: { 'evil.csv': evil } });
  assert.doesNotMatch(workspace.text('report.md'), /(?<!\\)<script|(?<!\\)\[x/);
  strictXml(workspace.text('chart.svg'));
});

test('without the required tools it says so and makes no call that is not offered', async () => {
  const { summary } = await runAgent('Analyse sales.csv', { files: { 'sales.csv': sales }, without: ['write_file', 'finish'] });
  assert.match(summary, /not offered the tool write_file/);
  assert.match(summary, /adds up to/);
  const blind = await runAgent('Analyse sales.csv', {
    files: { 'sales.csv': sales },
    without: ['list_files', 'profile_table', 'read_file', 'write_file', 'code_exec'],
  });
  assert.match(blind.summary, /not offered/);
});

test('output.json satisfies the schema, with known figures where names match and null where nothing is known', async () => {
  const schema = {
    type: 'object',
    required: ['rows', 'sum_amount', 'top_region', 'columns', 'mood', 'note'],
    properties: {
      rows: { type: 'integer' },
      sum_amount: { type: 'number' },
      top_region: { type: 'string' },
      columns: { type: 'array', items: { type: 'string' } },
      mood: { type: ['string', 'null'] },
      note: { type: 'string' },
      unasked: { type: 'string' },
    },
    additionalProperties: false,
  };
  const system = `You are an analyst.\noutput.json must satisfy this JSON Schema:\n${JSON.stringify(schema)}\nBe brief.`;
  const { workspace, summary } = await runAgent('Analyse sales.csv', { files: { 'sales.csv': sales }, system });
  const output = JSON.parse(workspace.text('output.json'));
  assert.deepEqual(output, {
    rows: 119,
    sum_amount: 541836.86,
    top_region: 'North',
    columns: sales.split('\n')[0]!.split(','),
    mood: null,
    note: '',
  });
  assert.match(summary, /left empty, because I do not know them: mood, note/);
});

test('unknown numbers, answers and choices are never invented for output.json', async () => {
  for (const type of [
    { type: 'number' },
    { type: 'integer', minimum: 1 },
    { type: 'boolean' },
    { enum: ['low', 'high'], type: 'string' },
  ]) {
    const schema = { type: 'object', required: ['risk'], properties: { risk: type } };
    const system = `output.json must satisfy this JSON Schema:\n${JSON.stringify(schema)}`;
    const { workspace, summary } = await runAgent('Analyse sales.csv', { files: { 'sales.csv': sales }, system });
    assert.equal(workspace.files.has('output.json'), false);
    assert.match(summary, /output\.json was not written: .*do not make up: risk/);
  }
});

test('lists of records in output.json are filled from the facts of a text by the names of the schema', async () => {
  const entry = {
    type: 'object',
    required: ['owner', 'task', 'due_date'],
    properties: { owner: { type: ['string', 'null'] }, task: { type: 'string' }, due_date: { type: ['string', 'null'], format: 'date' } },
  };
  const properties = { decisions: { type: 'array', items: { type: 'string' } }, action_items: { type: 'array', items: entry } };
  const schema = { type: 'object', required: ['decisions', 'action_items'], properties };
  const text = '# Minutes 3 May 2024\n\nWe agreed to buy a boat.\n\n## Actions\n- Ann: call Bob by 10 May\n- Paint the mast\n';
  const system = `output.json must satisfy this JSON Schema:\n${JSON.stringify(schema)}`;
  const { workspace } = await runAgent('Summarise m.md', { files: { 'm.md': text }, system });
  assert.deepEqual(JSON.parse(workspace.text('output.json')), {
    decisions: ['We agreed to buy a boat.'],
    action_items: [
      { owner: 'Ann', task: 'Ann: call Bob by 10 May', due_date: '2024-05-10' },
      { owner: null, task: 'Paint the mast', due_date: null },
    ],
  });
});

test('a schema that cannot be filled with known facts is refused with the reason', async () => {
  const system =
    'output.json must satisfy this JSON Schema: {"type":"object","required":["code"],"properties":{"code":{"type":"string","pattern":"^[A-Z]{9}$"}}}';
  const { workspace, summary } = await runAgent('Analyse sales.csv', { files: { 'sales.csv': sales }, system });
  assert.equal(workspace.files.has('output.json'), false);
  assert.match(summary, /output\.json was not written: .*code/);
});

test('a tool that the task may not use is not called, and the final answer names the missing scope', async () => {
  const authority = { mode: 'live', scopes: ['tasks.write', 'workspaces.read'], ownsWorkspace: false } as const;
  const { summary, calls } = await runAgent('Order 3 licences from Acme for 120 dollars', { authority });
  assert.ok(!calls.some(({ name }) => name === 'create_purchase_order'));
  assert.match(summary, /create_purchase_order needs the scope commerce\.write, which was not granted/);
  const files = { 'sales.csv': 'a,b\n1,2\n' };
  const blind = await runAgent('Summarise the file', { files, authority: { ...authority, scopes: [] } });
  assert.deepEqual(
    blind.calls.map(({ name }) => name),
    ['finish'],
  );
  assert.match(blind.summary, /workspaces\.read/);
  const mute = await runAgent('Analyse sales.csv', { files, authority });
  assert.ok(!mute.calls.some(({ name }) => name === 'write_file'));
  assert.match(mute.summary, /write_file needs the scope workspaces\.write/);
});
