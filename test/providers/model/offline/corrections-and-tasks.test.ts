/** Chats, threads of mails and minutes: what replaced an earlier figure or day, who took a task on, what is not done yet, in several languages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { relativeDate } from '../../../../src/providers/model/offline/text/relative-dates.ts';
import { runAgent } from './agent-loop.ts';

const chat = `[03/06/2025, 18:02] Lena: I suggest we hold the party on Saturday 28 June. Start at 3 pm?
[03/06/2025, 18:05] Omar: Saturday works for me.
[03/06/2025, 18:07] Priya: The road is only free on Sunday.
[03/06/2025, 18:10] Lena: Ok, then Sunday 29 June.
[03/06/2025, 18:12] Priya: Fine with me.
[04/06/2025, 09:15] Omar: Update: tents are 145 euros now, not 120.
[04/06/2025, 09:20] Priya: I'll ask the council for the permit by Friday.
[04/06/2025, 09:22] Lena: Who brings the grill?
[04/06/2025, 09:40] Omar: Not me, mine is broken.
[04/06/2025, 10:02] Tom: I can bring the big one, but need someone to help carry it.
[05/06/2025, 20:11] Lena: I print the flyers before the 12th.
[05/06/2025, 20:14] Priya: Do we need insurance?
[05/06/2025, 20:15] Lena: No idea, let's see next week.
`;
const mails = `From: Greta Olsen <greta@fjord.example>
To: Paul Ferris <paul@cafe.example>
Date: Thu, 11 Sep 2025 16:40
Subject: Re: Coffee machines

Hello Paul,

my colleague quoted the wrong price: the machine costs 3,480 euros, not 3,250. Delivery moves from 22 September to 29 September.

Please send us the signed order by Tuesday.

On Wed, 10 Sep 2025 at 09:12 Paul Ferris wrote:
> Two machines then. Delivery on 22 September is fine for us.
`;
const german = `# Imkerverein – Protokoll der Sitzung

Datum: Mittwoch, 15. Oktober 2025
Anwesend: Frieda Kolb, Ansgar Reuter, Beate Zöller

## TOP 1 Protokoll der letzten Sitzung
Das Protokoll vom 3. September wurde genehmigt.

## TOP 2 Kasse
Zwölf Mitglieder haben den Beitrag noch nicht bezahlt. Beate fragt bei der Schule nach einem Raum.

## TOP 3 Schleuder
Der Vorstand beschließt, die Schleuder bei Lang zu kaufen. Beate stimmte dagegen. Der Vortrag am 20. November entfällt.
`;
const french = `# Jardin – compte rendu de la réunion

Date : samedi 4 octobre 2025
Présents : Odile Garnier, Maud Perrin, Yann Le Goff

## 1. Serre
Le bureau décide, par trois voix contre une, de retenir le devis de Plantis. Maud a voté contre, car Verdal offre une garantie.

## 2. Compost
Maud contactera la mairie d'ici la fin du mois. Quatre membres n'ont pas encore payé.
`;
const read = async (prompt: string, text: string) => (await runAgent(prompt, { files: { 'text.md': text } })).workspace.text('summary.md');
/** What stands below the question, up to the next one. */
const under = (told: string, question: string) => {
  assert.ok(told.includes(`**${question}**`), `${question} is no question of the report:\n${told.slice(0, 1500)}`);
  return told.split(`**${question}**`)[1]!.split('\n**')[0]!.split('\n## ')[0]!;
};

test('a chat of several days in a row has its days, and a task in the present tense with a deadline is one', async () => {
  const told = await read('Read text.md: what changed, who does what by when, and what is still open?', chat);
  assert.match(told, /13 messages, from 2025-06-03 to 2025-06-05/);
  const tasks = under(told, 'Who does what by when');
  assert.match(tasks, /\| Priya \| I'll ask the council for the permit by Friday\. \| Friday \| 2025-06-06 /);
  assert.match(tasks, /\| Lena \| I print the flyers before the 12th\. \| 12th \| 2025-06-12 /);
});

test('a chat: what replaced an earlier figure or day has changed, and what somebody took on is not open', async () => {
  const told = await read('Read text.md: what changed, who does what by when, and what is still open?', chat);
  const changed = under(told, 'What changed');
  assert.match(changed, /Ok, then Sunday 29 June/);
  assert.match(changed, /tents are 145 euros now, not 120/);
  assert.match(under(told, 'Who does what by when'), /\| Tom \| Lena: Who brings the grill\? – I can bring the big one/);
  const open = under(told, 'What is still open');
  assert.match(open, /Do we need insurance\?/);
  assert.doesNotMatch(open, /grill/);
});

test('a thread of mails: the newest message is the current state, and corrected figures and dates are told', async () => {
  const told = await read('Read text.md: what is the current state, and which figures and dates were corrected?', mails);
  assert.match(under(told, 'What is the current state'), /Please send us the signed order by Tuesday/);
  const corrected = under(told, 'Which figures and dates were corrected');
  assert.match(corrected, /3,480 euros, not 3,250/);
  assert.match(corrected, /from 22 September to 29 September/);
  assert.doesNotMatch(corrected, /is fine for us/);
});

test('German minutes: approved minutes, a cancelled talk, a single vote against, a task, and what is not paid yet', async () => {
  const told = await read('Fasse text.md zusammen: was wurde beschlossen, wer macht was bis wann, und was ist offen?', german);
  const decided = under(told, 'Was wurde beschlossen');
  for (const each of [/Protokoll vom 3\. September wurde genehmigt/, /bei Lang zu kaufen/, /Vortrag am 20\. November entfällt/])
    assert.match(decided, each);
  assert.doesNotMatch(decided, /stimmte dagegen/);
  assert.match(under(told, 'Wer macht was bis wann'), /\| Beate \| Beate fragt bei der Schule nach einem Raum/);
  assert.match(under(told, 'Was ist offen'), /Zwölf Mitglieder haben den Beitrag noch nicht bezahlt\. \| offen \|/);
});

test('French minutes: a decision with its vote before it, a single vote against, the end of the month, and what is not paid yet', async () => {
  const told = await read(
    "Résume text.md : qu'est-ce qui a été décidé, qui fait quoi et pour quand, et qu'est-ce qui reste en suspens ?",
    french,
  );
  const decided = under(told, "Qu'est-ce qui a été décidé");
  assert.match(decided, /Le bureau décide, par trois voix contre une, de retenir le devis de Plantis/);
  assert.doesNotMatch(decided, /a voté contre/);
  assert.match(
    under(told, 'Qui fait quoi et pour quand'),
    /\| Maud \| Maud contactera la mairie d'ici la fin du mois\. \| fin du mois \| 2025-10-31 /,
  );
  assert.match(under(told, "Qu'est-ce qui reste en suspens"), /Quatre membres n'ont pas encore payé/);
});

test('a day of the month is the next one, and weekdays are known in French, Spanish and Italian', () => {
  const day = (words: string) => relativeDate(words, '2025-06-05', 'line 1')?.iso;
  assert.deepEqual(['12th', '3rd', '31st', 'vendredi', 'lunes', 'sabato'].map(day), [
    '2025-06-12',
    '2025-07-03',
    undefined,
    '2025-06-06',
    '2025-06-09',
    '2025-06-07',
  ]);
});

const staffChat = `[12/08/2024, 09:02] Mirela: The lock of room 3 does not open. Had to refund the evening group, 138 euros.
[12/08/2024, 09:07] Sanne: I think it is the magnet. Or the power supply. Not sure.
[12/08/2024, 09:20] Dario: Should we close the room until it's fixed?
[12/08/2024, 09:24] Mirela: Yes. Sanne, please block the bookings by noon.
[12/08/2024, 09:25] Sanne: ok will do
[12/08/2024, 14:30] Jakub: Spoke to Okafor. A new lock costs 265 euros. Or 340 with the stronger magnet.
[12/08/2024, 14:41] Mirela: Agreed, we take the one for 340. Jakub please order it today.
[13/08/2024, 12:05] Dario: Who takes the Saturday shift on 24 August? I am at a wedding.
[13/08/2024, 12:40] Sanne: I can't, sorry
[13/08/2024, 12:52] Jakub: me neither
[13/08/2024, 13:15] Mirela: Let's see, I'll come back to that.
[14/08/2024, 10:02] Dario: Offer over 1,690 sent to Lindqvist. They answer by 21 August.
`;

test('a chat: a verb is no person, a refusal and an assent are no tasks, and a name before "please" needs no comma', async () => {
  const told = await read('Summarise text.md: who does what until when?', staffChat);
  const tasks = under(told, 'Who does what until when');
  assert.doesNotMatch(tasks, /\| (?:Had|Spoke|the others)|can't|ok will do/);
  assert.match(tasks, /\| Sanne \| Sanne, please block the bookings by noon\. \| noon \|/);
  assert.match(tasks, /\| Jakub \| Agreed, we take the one for 340\. Jakub please order it today\. \| today \| 2024-08-12 /);
});

test('a chat: "agreed, we take" is a decision with its day, a sum needs no currency, and what all refuse or nobody knows is open', async () => {
  const told = await read('Summarise text.md: what was decided, what does it cost, and what is still unresolved?', staffChat);
  assert.match(under(told, 'What was decided'), /\| Agreed, we take the one for 340\. \(2024-08-12\) \|/);
  const cost = under(told, 'What does it cost');
  assert.match(cost, /Or 340 with the stronger magnet/);
  assert.match(cost, /Offer over 1,690 sent/);
  const open = under(told, 'What is still unresolved');
  assert.match(open, /Sanne: I think it is the magnet\. Or the power supply\. Not sure\./);
  assert.match(open, /Who takes the Saturday shift .* – Sanne: I can't, sorry – Jakub: me neither/);
  assert.match(open, /They answer by 21 August/);
});

const thread = `From: Lotte Brandsma <lotte@kites.example>
To: Tomas Reyl; Ines Ferrao
Date: Mon, 3 June 2024 09:12
Subject: Kite festival

My proposal is Saturday 7 September. Tomas, could you ask the Falkner team whether they are free?

---
From: Tomas Reyl
To: Lotte Brandsma; Ines Ferrao
Date: Tue, 4 June 2024 17:40
Subject: Re: Kite festival

Falkner can do 14 September. I rang the council: the fee is payable by 1 August.

---
From: Lotte Brandsma
To: Tomas Reyl; Ines Ferrao
Date: Fri, 7 June 2024 10:30
Subject: Re: Kite festival

So we go for Saturday 14 September, and we accept the 2,150 euros. That is settled.

- Tomas confirms Falkner by 20 June.
- Ines signs the contract by 28 June; I will transfer the fee by 26 July.
- No posters this year, agreed.
`;

test('a thread of mails: what "we go for" is decided, both parts of a sentence are tasks, and an answered request is none', async () => {
  const told = await read('Read text.md: what was finally agreed, and who has to do what by when?', thread);
  const agreed = under(told, 'What was finally agreed');
  assert.match(agreed, /So we go for Saturday 14 September, and we accept the 2,150 euros/);
  assert.match(agreed, /No posters this year, agreed/);
  const tasks = under(told, 'Who has to do what by when');
  assert.match(tasks, /\| Tomas \| Tomas confirms Falkner by 20 June\. \| 20 June \| 2024-06-20 /);
  assert.match(tasks, /\| Ines \| Ines signs the contract by 28 June; .* \| 28 June \| 2024-06-28 /);
  assert.match(tasks, /\| Lotte Brandsma \| I will transfer the fee by 26 July\. \| 26 July \| 2024-07-26 /);
  assert.doesNotMatch(tasks, /could you ask|rang the council/);
});

test('a person with a title is one person', async () => {
  const told = await read(
    'Summarise text.md.',
    '# Minutes of the meeting\n\nDate: 3 June 2024\nPresent: Ann Lee\nApologies: Rev. Martha Kitto\n\n## 1. Clock\nThe offer was accepted.\n',
  );
  assert.match(told, /### Absent or apologies\n\n.*\n.*\n\| Rev\. Martha Kitto \| \d \|\n\n/);
});

const trip = `15.09.25, 19:12 - Kofi: What about the week after, 17 to 19 October?
15.09.25, 19:15 - Julie: perfect
16.09.25, 08:15 - Ana: Hut please!!
16.09.25, 08:41 - Kofi: Booked: 4 beds, 280 € in total. That's 70 € each, please send it to me by Sunday.
17.09.25, 12:30 - Julie: I'll bring the maps
`;

test('a chat: what is booked is agreed, a wish of two words is no task, and what each pays is told', async () => {
  const told = await read('Summarise text.md: which date did we agree on, what does each pay, and who does what?', trip);
  const agreed = under(told, 'Which date did we agree on');
  assert.match(agreed, /17 to 19 October\? – Julie: perfect \(2025-09-15\) \|.*\n\| Booked: 4 beds, 280 € in total\. \(2025-09-16\)/);
  assert.match(under(told, 'What does each pay'), /70 € each/);
  assert.doesNotMatch(under(told, 'Who does what'), /Hut please/);
});
