/** A summary has its own words in the language of the task, and what it copies as it is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageOf } from '../../../../src/providers/model/offline/report-language.ts';
import { runAgent } from './agent-loop.ts';

test('a task in German or French has a summary with headings in that language, and one in English does not', async () => {
  const minutes =
    '# Compte rendu de la réunion, mardi 4 mars 2025\n\nPrésents : Odile Garnier, Yann Roux\n\nLe bureau a décidé de louer la grange.\nO. Garnier enverra la liste d’ici le 20 mars.\n| Name | Date |\n';
  const summary = async (prompt: string) => (await runAgent(prompt, { files: { 'cr.md': minutes } })).workspace.text('summary.md');
  const french = await summary("Voici le compte rendu : qu'est-ce qui est décidé et qui doit faire quoi pour quand ?");
  for (const words of ['# Résumé : cr.md', '## Ce qui était demandé', '| Qui | Quoi (texte) | Échéance |', '### Personnes'])
    assert.ok(french.includes(words), words);
  const german = await summary('Bitte lies das Protokoll: was ist beschlossen und wer muss was bis wann machen?');
  for (const words of [
    '# Zusammenfassung: cr.md',
    '## Was gefragt war',
    '| Wer | Was (Wortlaut) | Bis wann |',
    'Le bureau a décidé de louer la grange.',
  ])
    assert.ok(german.includes(words), words);
  assert.ok((await summary('Read the minutes: what was decided and who has to do what by when?')).includes('## What was asked'));
});

test('a short task and one of two languages is told in English', () => {
  for (const other of [
    'Resume la reunión: qué se decidió, quién hace qué y para cuándo, y qué queda abierto.',
    '¿Cuál es el total de la columna de ventas y la media de la semana?',
    'Riassumi la riunione: che cosa è stato deciso, chi fa che cosa e entro quando?',
    'Resume a reunião: o que foi decidido, quem faz o que e até quando?',
    'Wat is er in de vergadering besloten en wie doet wat voor wanneer?',
  ])
    assert.equal(languageOf(other), null, other);
  assert.equal(languageOf('Zusammenfassen bitte'), null);
  assert.equal(languageOf('What is the "Was ist offen und wer muss was" about in the minutes of the board, and is it done?'), null);
});
