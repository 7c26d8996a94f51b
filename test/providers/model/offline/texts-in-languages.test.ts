/** Texts and questions in French, Spanish, Italian and German: decisions, tasks, what is open, who says what, dates and amounts in their spelling. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { amountsIn } from '../../../../src/providers/model/offline/text/amounts.ts';
import { findDates, findDeadline } from '../../../../src/providers/model/offline/text/dates.ts';
import { runAgent } from './agent-loop.ts';

const french = `# Compte rendu de l'assemblée

Date : mardi 3 mars 2026, 18 h 30
Présents : Claire Fontaine, Luc Moreau, Amina Diallo
Excusés : Sophie Lambert

## 1. Comptes

Les recettes se sont élevées à 48 200 €, les dépenses à 45 750 €. Les comptes ont été approuvés à l'unanimité.

- Amina Diallo signe le contrat avant le 20 mars 2026.

## 2. Chauffage

Le chauffage tombe en panne. On ne sait pas encore qui paiera la réparation. Claire Fontaine se renseignera d'ici fin mars.

La question du tarif est reportée à la prochaine réunion.
`;
const spanish = `# Acta de la reunión

Fecha: jueves, 12 de febrero de 2026
Asistentes: Carmen Ruiz, Javier Soto, Lucía Peña

## 1. Fiesta

Javier Soto presentó las cuentas. Se aprobaron por unanimidad. Se acordó celebrar la fiesta el sábado 16 de mayo de 2026.

- Lucía Peña pide el permiso antes del 15 de marzo de 2026.

## 2. Parque

No está claro quién paga la reparación. Carmen Ruiz hablará con el concejal.
`;
const italian = `Chiuso il ponte di Valmara

di Elena Conti, 8 aprile 2026

Il ponte è chiuso al traffico da lunedì. I lavori costeranno 2,4 milioni di euro e dureranno sei mesi.

«Non potevamo aspettare», ha detto la sindaca Rita Ferri. Secondo l'ingegnere Marco Lodi il danno è dovuto alla piena.

Non è ancora chiaro chi pagherà. Il consiglio deciderà il 28 aprile 2026. Una passerella sarà pronta entro il 15 maggio 2026.
`;
const german = `Freibad bleibt geschlossen

Von Petra Holm, 21. April 2026

Der Stadtrat hat mit 19 zu 14 Stimmen beschlossen, die Sanierung auf 2027 zu verschieben. Die Kosten sind von 3,2 auf 4,7 Millionen Euro gestiegen.

„Das ist zu teuer", sagte der Vorsitzende Jens Möbius. Sein Vorschlag wurde abgelehnt. Wer den Rest bezahlt, ist offen.
`;
const report = async (prompt: string, file: string) =>
  (await runAgent(prompt, { files: { 'texte.md': file } })).workspace.text('summary.md');

test('French minutes: decisions, tasks with their dates, and open points answer French questions', async () => {
  const told = await report(
    "Résume (texte.md) : qu'est-ce qui a été décidé, qui doit faire quoi et pour quand, et qu'est-ce qui reste ouvert ?",
    french,
  );
  assert.match(told, /a été décidé\*\*\n\n.*\n.*\n\| Les comptes ont été approuvés à l'unanimité\. \|/);
  assert.match(told, /\| Amina Diallo \| Amina Diallo signe le contrat avant le 20 mars 2026\. \| 20 mars 2026 \| 2026-03-20 \|/);
  assert.match(
    told,
    /\| Claire Fontaine \| Le chauffage tombe en panne\. On ne sait pas encore qui paiera la réparation\. Claire Fontaine se renseignera d'ici fin mars\. \| fin mars \| 2026-03-31 /,
  );
  assert.match(
    told,
    /reste ouvert\*\*\n\n.*\n.*\n\| La question du tarif est reportée .*\n\| Le chauffage tombe en panne\. On ne sait pas encore/,
  );
  assert.match(told, /recettes 48 200 €, dépenses 45 750 €: 2,450 € more received than spent/);
});

test('Spanish minutes: what was agreed, who does what, and what is pending', async () => {
  const told = await report('Resume (texte.md): ¿qué se decidió, quién tiene que hacer qué y para cuándo, y qué queda pendiente?', spanish);
  assert.match(
    told,
    /Qué se decidió\*\*\n\n.*\n.*\n\| Javier Soto presentó las cuentas\. Se aprobaron por unanimidad\. \|.*\n\| Se acordó celebrar la fiesta/,
  );
  assert.match(told, /\| Lucía Peña \| Lucía Peña pide .* \| 2026-03-15 \|/);
  assert.match(told, /\| Carmen Ruiz \| No está claro quién paga la reparación\. Carmen Ruiz hablará con el concejal\. \| not said \|/);
  assert.match(told, /pendiente\*\*\n\n.*\n.*\n\| No está claro quién paga la reparación\. \| open \|/);
});

test('an Italian article: what happened, who says what, dates, sums, and what is open', async () => {
  const told = await report(
    'Riassumi texte.md: che cosa è successo, chi dice cosa, quali date e somme contano e che cosa è ancora aperto?',
    italian,
  );
  assert.match(told, /è successo\*\*\n\nThe text begins with:\n\n.*\n.*\n\| Il ponte è chiuso/);
  assert.match(told, /\| «Non potevamo aspettare», ha detto la sindaca Rita Ferri\. \|.*\n\| Secondo l'ingegnere Marco Lodi/);
  assert.match(told, /\| Non è ancora chiaro chi pagherà\. Il consiglio deciderà il 28 aprile 2026\. \| open \|/);
  assert.match(told, /\| 15 maggio 2026 \(2026-05-15\): Una passerella sarà pronta/);
  assert.match(told, /\| 2,4 milioni di euro: I lavori costeranno/);
});

test('a German article: a thing put off to a year is decided and not open; two figures share scale and unit', async () => {
  const told = await report('Lies texte.md: Was ist passiert, wer sagt was, und was ist noch offen?', german);
  assert.match(told, /noch offen\*\*\n\n.*\n.*\n\| Wer den Rest bezahlt, ist offen\. \| offen \|.*\n\n/);
  assert.match(told, /\| 3,2 to 4,7 Millionen Euro: \+1\.50 Millionen Euro, \+46\.9 % \|/);
  assert.match(told, /sagte der Vorsitzende Jens Möbius\. Sein Vorschlag wurde abgelehnt\. \|/);
  assert.doesNotMatch(told, /\| Vorsitzende Jens \|/);
});

const beekeepers = `# Protokoll des Imkervereins

Datum: Freitag, 20. März 2026
Anwesend: Ulla Brenner, Kai Sommer

Die Versammlung beschloss, die Schleuder zu kaufen. Über das Sommerfest wird in der nächsten Sitzung entschieden.

- Kai Sommer fragt bei der Gemeinde nach einem Zuschuss. Ein Termin wurde nicht genannt.
`;

test('German minutes: what will be decided later is open and no decision, and a task without a date is a task', async () => {
  const told = await report('Was wurde beschlossen, wer muss was tun, und was ist offen in texte.md?', beekeepers);
  assert.match(told, /beschlossen\*\*\n\n.*\n.*\n\| Die Versammlung beschloss, die Schleuder zu kaufen\. \|.*\n\n/);
  assert.match(told, /\| Kai Sommer \| Kai Sommer fragt bei der Gemeinde nach einem Zuschuss\./);
  assert.match(told, /\| Über das Sommerfest wird in der nächsten Sitzung entschieden\. \| vertagt oder nicht entschieden \|/);
});

test('dates, deadlines and amounts are read in the spelling of each language', () => {
  const days = (text: string) => findDates(text).map(({ iso }) => iso);
  assert.deepEqual(days('le mardi 1er juin 2027, el 12 de febrero de 2026, il 28 aprile 2026'), ['2027-06-01', '2026-02-12', '2026-04-28']);
  for (const [text, due] of [
    ["Luc informe les locataires d'ici le 15 mars 2026.", '15 mars 2026'],
    ['Ana pide el permiso antes del 15 de marzo de 2026.', '15 de marzo de 2026'],
    ['Gino scrive al comune entro il 3 maggio 2026.', '3 maggio 2026'],
    ['Andrés busca ayuda hasta finales de abril.', 'finales de abril'],
  ] as const)
    assert.equal(findDeadline(text)?.written, due);
  const amounts = (text: string) => amountsIn(text).map(({ value, unit }) => [value, unit]);
  assert.deepEqual(amounts('12 400 € et 2,4 milioni di euro, 9.850 € y el 40 por ciento'), [
    [12_400, 'EUR'],
    [2_400_000, 'EUR'],
    [9_850, 'EUR'],
    [40, '%'],
  ]);
  assert.deepEqual(amounts('à 18 h 30'), []);
  for (const blank of [' ', '\u00a0', '\u202f']) assert.deepEqual(amounts(`le montant: 12${blank}400${blank}€`), [[12_400, 'EUR']]);
  assert.deepEqual(amounts('12345 euros, €32500, 22000 CHF, 2222 EUR'), [
    [12_345, 'EUR'],
    [32_500, 'EUR'],
    [22_000, 'CHF'],
    [2_222, 'EUR'],
  ]);
});
