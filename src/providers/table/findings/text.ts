/** Free text in a column: its topics, serious comments, complaints and praise. */
import type { ColumnPlan } from '../column-evidence.ts';
import { has, nameTokens } from '../column-role.ts';
import type { ColumnsInMemory } from '../columns-in-memory.ts';
import { countOf, exact, round } from '../figure-text.ts';
import type { Finding } from '../table-profile.ts';
import { readThemes } from './comment-themes.ts';
import { topicFindings } from './comment-topics.ts';
import { claimFindings, seriousComments, seriousFindings } from './serious-comments.ts';

/** Answers that say nothing. */
const noAnswer =
  /^(?:no comments?|no answer|none|nothing|nope|no|yes|ok|okay|all good|alles (?:gut|ok|okay|super|bestens|prima)|keine?|keine angaben?|kein kommentar|nichts|nein|ja|k\. ?a\.|[-–—.?/x]{1,5})[.!]?$/i;
const maxTexts = 5_000;
const maxTextChars = 500;
const fewestRepeats = 3;
const repeatsShown = 3;
const maxQuoteChars = 200;
const commentWords = new Set(
  'comment comments feedback kommentar kommentare bemerkung bemerkungen anmerkung anmerkungen answer antwort remark remarks opinion meinung suggestion suggestions verbesserung freitext freetext notes improve text review reviews rezension bewertungstext complaint complaints beschwerde comentario comentarios commentaire commentaires avis opinión opinion opinione commento commenti comentário comentários opmerking opmerkingen reactie reseña recensione remarque remarques observaciones message nachricht'.split(
    ' ',
  ),
);

export function textFindings(table: ColumnsInMemory): Finding[] {
  return table.plans
    .filter(isFreeText)
    .slice(0, 3)
    .flatMap((plan) => answerFindings(table, plan));
}

export function isFreeText({ name, reads, type, role, meanChars, values, filled }: ColumnPlan): boolean {
  if (reads !== 'text' || type !== 'text' || role === 'identifier' || filled < 3) return false;
  if (isAnswer(name)) return meanChars >= 14 && values.distinct >= Math.min(6, filled * 0.5);
  return meanChars >= 18 && values.distinct >= filled * 0.5;
}

function isAnswer(name: string): boolean {
  return has(nameTokens(name), commentWords) || name.trim().endsWith('?');
}

function answerFindings(table: ColumnsInMemory, plan: ColumnPlan): Finding[] {
  const texts = table.texts(plan);
  const written = [...texts.keys()].filter((at) => texts[at] !== '').slice(0, maxTexts);
  const rows = written.filter((at) => !noAnswer.test(texts[at]!));
  // Addresses and similar texts are not read as words.
  if (rows.filter((at) => texts[at]!.includes(' ')).length < rows.length * 0.5) return [];
  const meanWords = rows.reduce((sum, at) => sum + countWords(texts[at]!), 0) / Math.max(rows.length, 1);
  // Answers to a question may be two words long.
  if (meanWords < (isAnswer(plan.name) ? 1.5 : 3)) return [];
  const { serious, claims } = seriousComments(table, plan, rows);
  const themed = readThemes(table, plan, rows);
  const empty = written.length - rows.length;
  const without =
    empty === 0
      ? ''
      : `; ${exact(empty)} more ${empty === 1 ? 'says' : 'say'} nothing, such as “${texts[written.find((at) => noAnswer.test(texts[at]!))!]}”`;
  return [
    {
      kind: 'free_text',
      text: `${plan.name} is free text (${countOf(rows.length, 'answer')}, ${round(meanWords)} words on average${without}).`,
    },
    ...repeatedFinding(
      plan,
      rows.map((at) => texts[at]!),
    ),
    ...seriousFindings(table, plan, serious),
    ...claimFindings(table, plan, claims),
    ...themed.findings,
    ...topicFindings(table, plan, rows, new Set([...serious, ...claims]), themed),
  ];
}

/** Answers that come again word for word, the most frequent first. */
function repeatedFinding({ name }: ColumnPlan, answers: readonly string[]): Finding[] {
  const counts = [...Map.groupBy(answers, (answer) => answer)].map(([answer, all]) => [answer, all.length] as const);
  const most = counts.filter(([, count]) => count >= fewestRepeats).toSorted((a, b) => b[1] - a[1]);
  if (most.length === 0) return [];
  const each = most.slice(0, repeatsShown).map(([answer, count]) => `“${answer.slice(0, maxQuoteChars)}” (${exact(count)} times)`);
  return [{ kind: 'repeated_answers', text: `Most repeated in ${name}, word for word: ${each.join('; ')}.` }];
}

function countWords(text: string): number {
  return text
    .slice(0, maxTextChars)
    .split(/[^\p{L}\p{N}'’-]+/u)
    .filter((word) => word !== '').length;
}
