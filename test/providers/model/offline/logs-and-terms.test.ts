/** Questions on logs and on terms and conditions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAgent } from './agent-loop.ts';

const log = `2025-10-03 08:00:01,112 INFO  [main] Starting ticket-service
2025-10-03 08:31:44,210 WARN  [pool] Connection pool usage 85 %
2025-10-03 08:42:10,777 WARN  [pool] Connection pool usage 97 %
2025-10-03 08:43:02,118 ERROR [http-7] POST /orders 500 Connection is not available
2025-10-03 08:43:05,391 ERROR [http-2] POST /orders 500 Connection is not available
2025-10-03 08:51:30,500 INFO  [admin] Pool size changed from 10 to 30
2025-10-03 08:52:00,118 INFO  [http-4] POST /orders 201 48ms
2025-10-03 09:10:00,004 INFO  [job] Invoice job finished
`;
const terms = `# Terms and conditions – Coast Cycle Hire

## 1. Booking
A deposit of £40 is due within three days of the confirmation.

## 2. Return
Bicycles must be returned by 6 p.m. on the last day.

## 3. Cancellation
You may cancel free of charge until 14 days before the first day. Later the full price is due.

## 4. Liability
The customer is liable for damage up to £250. Punctures are not covered.
`;
const read = async (prompt: string, text: string) => (await runAgent(prompt, { files: { 'text.log': text } })).workspace.text('summary.md');
/** What stands below the question, up to the next one. */
const under = (told: string, question: string) => {
  assert.ok(told.includes(`**${question}**`), `${question} is no question of the report:\n${told.slice(0, 1500)}`);
  return told.split(`**${question}**`)[1]!.split('\n**')[0]!.split('\n## ')[0]!;
};

test('a log: its first error with the warnings before it, no inferred cause, and what follows the last error', async () => {
  const told = await read('What does text.log tell? When did it start to go wrong, what is the cause, and is it fixed?', log);
  const start = under(told, 'When did it start to go wrong');
  assert.match(
    start,
    /First error at 2025-10-03 08:43:02,118 \(line 4\), last at 2025-10-03 08:43:05,391 \(line 5\), 2 errors in 8 entries\. Before it 2 warnings/,
  );
  assert.match(start, /usage 97 %/);
  assert.match(under(told, 'What is the cause'), /A cause is not inferred.*Most frequent error \(2 times\)/);
  assert.match(
    under(told, 'Is it fixed'),
    /then 3 entries without an error up to 2025-10-03 09:10:00,004, where the log ends\.(?:.*\n)*.*Pool size changed/,
  );
  assert.equal(told.split('First error at').length, 2);
  assert.match(told, /Errors by source \| Of 2 errors \|\n.*\n\| http \| 2 \|/);
});

test('a log without an error has none, whatever is asked', async () => {
  const told = await read('When did text.log go wrong?', log.replaceAll('ERROR', 'INFO').replaceAll(' 500 ', ' 200 '));
  assert.match(under(told, 'When did text.log go wrong'), /The log has no error in 8 entries\./);
});

test('terms and conditions: deadlines, liability and cancellation with all of its section', async () => {
  const told = await read('Read text.log: which deadlines matter, what am I liable for, and can I cancel?', terms);
  const deadlines = under(told, 'Which deadlines matter');
  for (const each of [/within three days/, /by 6 p\.m\./, /until 14 days before/]) assert.match(deadlines, each);
  assert.match(under(told, 'What am I liable for'), /up to £250\. \|.*\n\| Punctures are not covered/);
  assert.match(under(told, 'Can I cancel'), /until 14 days before(?:.*\n)*.*Later the full price is due/);
});
