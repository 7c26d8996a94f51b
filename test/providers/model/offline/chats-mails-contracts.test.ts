/** Chat logs, threads of e-mails and contracts: what was agreed, wanted, promised and left open, who pays, and what a contract says of its usual points. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runAgent } from './agent-loop.ts';

const chat = `[12/05/2026, 18:02:11] Nora: Hi all, the cabin is free from 3 to 10 July. 1,260 euros for the week. Shall I book?
[12/05/2026, 18:05:40] Tom: Yes please! Divide by 4?
[12/05/2026, 18:06:02] Ines: Fine with me, 315 each
[12/05/2026, 18:07:15] Ben: I can only come from the 5th
[12/05/2026, 18:20:00] Nora: Booked. Please send me your 315 by 20 May.
[12/05/2026, 18:22:31] Tom: Will do tomorrow
[12/05/2026, 18:40:09] Ines: I'll take care of the ferry tickets. Needs to be done by 1 June
[13/05/2026, 09:12:45] Ben: Who brings the kayak?
[13/05/2026, 09:15:10] Tom: Not me, my car is too small.
[14/05/2026, 20:44:19] Nora: Dogs are allowed, 40 euros extra. I'd say Tom pays that
[14/05/2026, 20:45:01] Tom: Fair enough
`;
const mails = `From: Judith Kern <j.kern@example.org>
To: service@bikes.example
Subject: Wrong frame
Date: Tue, 17 Mar 2026 08:41:00 +0100

Dear Mr Adler,

I do not want a voucher. I want the right frame, or my 1,849.00 euros back. Please confirm the collection date by Thursday noon.

Judith Kern

On Mon, 16 Mar 2026 at 15:20, Pavel Adler <service@bikes.example> wrote:
> Dear Ms Kern,
>
> We will send a courier to collect the bike by 20 March 2026. I can offer you a voucher of 50 euros.
>
> Pavel Adler

On Tue, 10 Mar 2026 at 19:05, Judith Kern <j.kern@example.org> wrote:
> The label says 58. How do we go on?
`;
const contract = `RENTAL AGREEMENT

between
Harbour Studios Ltd, 14 Quay Road ("the Landlord")
and
Tessa Brandt, 3 Mill Lane ("the Tenant")

1. Term
The agreement begins on 1 April 2026 and runs for two years. It is extended by one year each time unless one party gives notice in writing at least three months before the end.

2. Rent
The monthly rent is £540, plus £60 for heating. It is due on the third working day of each month.

3. Duties of the Tenant
The Tenant shall keep the studio clean.
The Tenant may not sublet the studio.
Firing the kiln is allowed only between 7:00 and 22:00.
`;
const report = async (prompt: string, file: string) =>
  (await runAgent(prompt, { files: { 'text.txt': file } })).workspace.text('summary.md');

test('a chat: a proposal with its answers is agreed, a task of a word has the message before, a question put off is open', async () => {
  const told = await report('What was agreed in text.txt, who pays what, who does what by when, and what is open?', chat);
  assert.match(
    told,
    /agreed.*\*\*\n\n.*\n.*\n\| Nora: Hi all, .* Shall I book\? – Tom: Yes please! Divide by 4\? – Ines: Fine with me, 315 each .* Nora: Booked\./,
  );
  assert.match(told, /\| Nora: Dogs are allowed, .* – Tom: Fair enough \(2026-05-14\) \|/);
  assert.match(told, /\| Tom \| Nora: Booked\. Please send me your 315 by 20 May\. – Will do tomorrow \| tomorrow \| 2026-05-13 /);
  assert.match(told, /\| Ines \| I'll take care of the ferry tickets\. Needs to be done by 1 June \| 1 June \| 2026-06-01 /);
  assert.match(told, /who pays what\*\*\n\n(?:.*\n){2,6}.*\| Ines: Fine with me, 315 each \|/i);
  const open = told.slice(
    told.indexOf('what is open') === -1 ? told.indexOf('What is open') : told.indexOf('what is open'),
    told.indexOf('## What text.txt'),
  );
  assert.match(open, /\| Ben: Who brings the kayak\? – Tom: Not me, my car is too small\. \|/);
  assert.doesNotMatch(open, /Shall I book/);
  assert.doesNotMatch(told, /I can only come from the 5th \|.*\| not said/);
});

test('a thread of mails: what the writer wants, what was promised, and what the newest mail asks', async () => {
  const told = await report('What does the customer want in text.txt, what was promised to her, and what is still open?', mails);
  assert.match(told, /customer want.*\*\*\n\n.*\n.*\n\| I do not want a voucher\. \|.*\n\| I want the right frame/);
  assert.match(
    told,
    /promised to her\*\*\n\n.*\n.*\n\| We will send a courier .* by 20 March 2026\. \|.*\n\| I can offer you a voucher of 50 euros\. \|/,
  );
  assert.match(
    told,
    /still open\*\*\n\n.*\n.*\n\| Please confirm the collection date by Thursday noon\. \(2026-03-19\) \| asked in the newest message \|.*\n\n/,
  );
});

test('a contract: parties, term, notice, payments and duties', async () => {
  const told = await report(
    'What does text.txt say: who are the parties, what is the term and the notice period, what has to be paid, and what duties do we have?',
    contract,
  );
  assert.match(told, /parties\*\*\n\n.*\n.*\n\| between Harbour Studios Ltd, .* \| 3 \|\n\n/);
  assert.match(told, /notice period\*\*\n\n.*\n.*\n\| The agreement begins on 1 April 2026 .* three months before the end\. \|/);
  assert.match(told, /to be paid\*\*\n\n.*\n.*\n\| The monthly rent is £540, plus £60 for heating\. It is due on the third working day/);
  assert.match(
    told,
    /duties do we have\*\*\n\n.*\n.*\n\| The Tenant shall keep .*\n\| The Tenant may not sublet .*\n\| Firing the kiln is allowed only/,
  );
  assert.doesNotMatch(told, /No sentence shares/);
});

const choir = `[03/02/2026, 19:00:00] Maud: Who books the hall?
[03/02/2026, 19:01:00] Piet: No idea, we'll see
[03/02/2026, 19:02:00] Maud: And who orders the scores?
[03/02/2026, 19:03:00] Lena: I don't know
[04/02/2026, 08:00:00] Maud: Who brings the keyboard?
[04/02/2026, 08:02:00] Piet: Not sure yet
[04/02/2026, 09:10:00] Lena: The hall is booked for the 20th.
[13/02/2026, 09:15:00] Piet: Scores are sorted
[14/02/2026, 09:15:00] Maud: The keyboard is not sorted yet
`;

test('in a chat a later message that says of the same matter that it is done closes an open point, and "not yet" does not', async () => {
  const found = await report('What is still open in text.txt?', choir);
  const open = found.slice(found.indexOf('## What was asked'), found.indexOf('## text.txt in its own'));
  assert.match(open, /keyboard/);
  assert.doesNotMatch(open, /hall|scores/);
});

test('a bare "done" closes the point right before it, in several languages', async () => {
  for (const word of ['Done', 'Sorted', 'Erledigt', "C'est fait", 'Hecho', 'Fatto', 'Feito', 'Geregeld']) {
    const text = `[03/02/2026, 19:00:00] Maud: Who can call the printer?
[03/02/2026, 19:05:00] Lena: No idea. We'll see
[03/02/2026, 19:06:00] Maud: Who feeds the parrot?
[03/02/2026, 19:07:00] Maud: ${word}
[05/02/2026, 19:07:00] Lena: Fine
`;
    const found = await report('What is still open in text.txt?', text);
    const open = found.slice(found.indexOf('## What was asked'), found.indexOf('## text.txt in its own'));
    assert.match(open, /printer/, word);
    assert.doesNotMatch(open, /parrot/, word);
  }
});
