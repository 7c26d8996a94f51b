/** Questions on tables in Spanish, French, Italian, Portuguese, Dutch and German get the answers that English ones get. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { questionsIn } from '../../../../src/providers/model/offline/questions.ts';
import { runAgent } from './agent-loop.ts';

const sales = `factura;producto;canal;importe
${Array.from({ length: 24 }, (_, i) => `F${1001 + i};${['Curado', 'Fresco', 'Azul'][i % 3]};${i % 4 === 0 ? 'Web' : 'Tienda'};${i === 7 ? '-5,00' : `${10 + (i % 3) * 7},50`}`).join('\n')}
`;
const pupils = `matricule;instrument;professeur;cotisation_eur
${Array.from({ length: 20 }, (_, i) => `${2001 + i};${['piano', 'violon', 'piano', 'harpe', 'piano'][i % 5]};${i % 4 === 0 ? 'Mme Roux' : 'M. Petit'};${180 + (i % 3) * 20}`).join('\n')}
`;
const stars = `nr;haus;sterne;kommentar
${Array.from({ length: 24 }, (_, i) => `${i + 1};${i % 2 === 0 ? 'See' : 'Wald'};${i === 9 ? 7 : 1 + (i % 5)};${i % 5 < 2 ? `Zimmer ${i} war laut, Lärm bis nachts.` : `Freundliche Gastgeber, Zimmer ${i} war hell.`}`).join('\n')}
`;
const report = async (prompt: string, files: Record<string, string>) => (await runAgent(prompt, { files })).workspace.text('report.md');
/** What stands below the question, up to the next one. */
const under = (told: string, question: string) => {
  assert.ok(told.includes(`**${question}`), `${question} is no question of the report:\n${told.slice(0, 1500)}`);
  return told.split(`**${question}`)[1]!.split('\n**')[0]!.split('\n## ')[0]!;
};

for (const [prompt, total, best, errors] of [
  [
    '¿Cuánto hemos vendido en total según v.csv, qué producto vende más y hay errores en los datos?',
    'Cuánto hemos',
    'Qué producto',
    'Hay errores',
  ],
  [
    'Combien avons-nous vendu au total dans v.csv, quel produit rapporte le plus, et y a-t-il des erreurs ?',
    'Combien',
    'Quel produit',
    'Y a-t-il',
  ],
  ['Quanto abbiamo venduto in totale in v.csv, quale prodotto rende di più e ci sono errori?', 'Quanto', 'Quale prodotto', 'Ci sono'],
  ['Quanto vendemos no total em v.csv, qual produto vende mais e há erros nos dados?', 'Quanto', 'Qual produto', 'Há erros'],
  [
    'Hoeveel hebben we in totaal verkocht in v.csv, welk product levert het meest op, en zijn er fouten?',
    'Hoeveel',
    'Welk product',
    'Zijn er',
  ],
] as const)
  test(`the total, the best product and errors are asked for in "${prompt.slice(0, 24)}…"`, async () => {
    const told = await report(prompt, { 'v.csv': sales });
    assert.match(under(told, total), /importe adds up to/);
    assert.match(under(told, best), /By producto, Azul has the largest importe/);
    assert.match(under(told, errors), /importe is negative in 1 row of 24/);
  });

test('"combien de" and "how many" count rows where no numeric column holds the thing, also within groups', async () => {
  const french = await report("Combien d'élèves avons-nous par instrument dans e.csv, et quel professeur a le plus d'élèves ?", {
    'e.csv': pupils,
  });
  assert.match(under(french, "Combien d'élèves"), /^[^\n]*\n\n- piano is the most frequent instrument: 12 of 20 rows/);
  assert.match(under(french, 'Quel professeur'), /^[^\n]*\n\n- M\. Petit is the most frequent professeur: 15 of 20 rows/);
  const asked = await report('How many pupils do we have per instrument in e.csv, and which teacher has the most pupils?', {
    'e.csv': pupils,
  });
  assert.match(under(asked, 'How many pupils'), /^[^\n]*\n\n- piano is the most frequent instrument: 12 of 20 rows/);
  assert.match(under(asked, 'Which teacher'), /^[^\n]*\n\n- M\. Petit is the most frequent professeur: 15 of 20 rows/);
});

test('"was fällt auf" asks for what is odd, and "worüber beschweren sich" for complaints', async () => {
  const told = await report('Was fällt in s.csv auf? Worüber beschweren sich die Gäste?', { 's.csv': stars });
  assert.match(under(told, 'Was fällt'), /sterne has 1 value outside of the scale 1 to 5 that all others keep to: 7 in row 10/);
  assert.match(under(told, 'Worüber'), /Complaint: noise in kommentar/);
});

test('a question keeps its words in any language: "plus" and "error" of an English one have no other meaning', () => {
  assert.deepEqual(questionsIn('Welk product verkoopt het meest, en zijn er fouten?'), [
    'Welk product verkoopt het meest',
    'Zijn er fouten?',
  ]);
  assert.deepEqual(questionsIn('Was fällt auf, und stimmen die Summen?'), ['Was fällt auf', 'Stimmen die Summen?']);
});

test('"how long do we take" is answered by a column of minutes', async () => {
  const tickets = `ticket,area,minutes_to_resolve\n${Array.from({ length: 20 }, (_, i) => `T${i + 101},${i % 2 === 0 ? 'Hill' : 'Port'},${20 + i * 3}`).join('\n')}\n`;
  const told = await report('Analyse t.csv: how long do we take?', { 't.csv': tickets });
  assert.match(under(told, 'How long do we take'), /minutes_to_resolve adds up to 970 over 20 rows \(mean 48\.50, median 48\.50\)/);
});
