/** The lines with the most words in common with a question that no rule answers; they are not claimed to be its answer. */
import { exact, markdownTable, safe } from '../../figure.ts';
import type { Answer, TextMaterial } from '../../report.ts';
import { findDates } from '../dates.ts';
import { stemsInCommon, stemsOf } from '../stem.ts';
import { readUnits } from '../units.ts';

const asking =
  /^(?:did|do|does|is|are|was|were|has|have|haben|hat|gab es|est-ce|who|whom|when|where|what|which|why|how|whose|whether|wer|wen|wann|wo|was|welche[rsnm]?|warum|wie|ob)(?![\p{L}])/iu;
const isQuestion = /\?$/;
/** "What does the contract say: who …": the questions follow. */
const leadIn =
  /^(?:what (?:does|do|did) [^?]{1,80} say|was steht i[nm] [^?]{1,80}|(?:can|could|would) you (?:please )?(?:get|bring|give|help|sum|put)(?![\p{L}])[^?]{1,120})\??$/iu;
/** Advice is more than a line with the same words. */
const advice =
  /(?<![\p{L}])(?:should (?:we|I|our|my)|(?:next|best) (?:move|step)|sollten? (?:wir|ich)|nächste[rn]? Schritt|devrions|devrais|prochaine étape|deberíamos|dovremmo)(?![\p{L}])/iu;
/** "When was he on site?": the words of the clause before say who is meant. */
const pronoun = /(?<![\p{L}])(?:he|she|it|they|him|her|them|er|sie|es|ihn|ihm)(?![\p{L}])/iu;
const whenAsked = /^(?:when|at what time|since when|until when|wann|bis wann|seit wann)(?![\p{L}])/iu;
const clock = /(?<![\p{N}:])\d{1,2}:\d{2}(?![:\p{N}])/u;
const maxLines = 3;
const maxQuestions = 4;

const byWords = 'nearest by its words: ';
const noWord = 'Not answered by the built-in rules';

/** Whether an answer only shows lines with words of the question, or says that there are none. */
export function isNearest(short: string): boolean {
  return short.startsWith(byWords) || short === noWord.toLowerCase();
}

export function nearestLines(task: string, clauses: readonly string[], texts: readonly TextMaterial[]): Answer[] {
  const questions = clauses
    .filter(
      (clause) => clause.replace(/ ?\?$/, '').includes(' ') && (asking.test(clause) || isQuestion.test(clause)) && !leadIn.test(clause),
    )
    .slice(0, maxQuestions);
  if (questions.length === 0) return [];
  const lines = texts.flatMap(({ name, text }) =>
    readUnits(text)
      .filter(({ kind }) => kind !== 'heading')
      .map(({ key, text: words, line, section }) => ({ text: key === '' ? words : `${key}: ${words}`, line, section, name })),
  );
  return questions.flatMap((question): Answer[] => {
    const before = pronoun.test(question) ? task.slice(0, Math.max(0, task.indexOf(question.slice(1)))).slice(-200) : '';
    const wanted = stemsOf(question);
    const context = stemsOf(before);
    if (wanted.size === 0) return [];
    const timed = whenAsked.test(question) ? lines.filter(({ text }) => clock.test(text) || findDates(text).length > 0) : lines;
    const best = timed
      .map((line) => ({ ...line, common: stemsInCommon(`${line.section} ${line.text}`, wanted) }))
      .filter(({ common }) => common > 0)
      .map((line) => ({ ...line, common: line.common + stemsInCommon(line.text, context) / 2 }))
      .toSorted((a, b) => b.common - a.common || a.line - b.line)
      .slice(0, maxLines);
    if (best.length === 0 || advice.test(question)) return [{ question, short: noWord.toLowerCase(), lines: [`${noWord}.`] }];
    return [
      {
        question,
        short: `${byWords}${best.map(({ text }) => `"${text.slice(0, 200)}"`).join(' ')}`,
        lines: [
          'Not answered by the built-in rules; these lines share most words with it:',
          '',
          markdownTable(
            ['As written', 'File', 'Line'],
            best.map(({ text, name, line }) => [safe(text), safe(name), exact(line)]),
          ),
        ],
      },
    ];
  });
}
