/** The report: gathers the material, answers the questions, writes report, figures and chart, and names the main figures in the closing words. */
import { answerRequests } from './answers.ts';
import { parseArithmetic } from './arithmetic.ts';
import { causeText } from './causes.ts';
import { chooseChart, drawChart } from './chart.ts';
import { absentAnswer } from './computed/absent-columns.ts';
import { type Call, type Conversation, findCall } from './conversation.ts';
import { countOf, exact, safe } from './figure.ts';
import { findings } from './findings.ts';
import { type Gathered, gather } from './gather.ts';
import { nothing, notOffered, over, type Progress } from './job.ts';
import { boundsIn, limitAnswers } from './limits.ts';
import type { Orders } from './orders.ts';
import { readTokens } from './prompt-tokens.ts';
import { besideTexts, questionAnswers } from './question-answers.ts';
import { questionsIn } from './questions.ts';
import { withoutRepeats } from './repeats.ts';
import { type Answer, leftOut, type Material, rowsRead, shownBy, writeNothing, writeReport, writeSummary } from './report.ts';
import { inLanguage, languageOf } from './report-language.ts';
import type { Requests } from './requests.ts';
import { sandboxValue } from './sandbox-value.ts';
import { withoutSplitKeys } from './split-keys.ts';
import { absentSubjects, comparedYearRemark, forecastRemark, relationAnswers } from './subjects.ts';
import { answerTexts } from './text/answers.ts';
import { textClosing } from './text/report.ts';
import { claimAnswers } from './text-claims.ts';

const maxFindings = 20;
/** By so many characters a question is known again in a request. */
const startChars = 30;
const maxRequestChars = 8000;
/** A file may have a megabyte; a longer report is not read. */
const maxFileChars = 900_000;

export type Analysis = { progress: Progress; material: Gathered | null; reportPath: string | null; report: string | null };

/** Works on the report until it is written. `material` is set as soon as everything is read. */
export function analyse(conversation: Conversation, orders: Orders, requests: Requests): Analysis {
  const read = gather(conversation, orders, requests.reportPath);
  if ('calls' in read) return { progress: read, material: null, reportPath: null, report: null };
  const gathered = { ...read, tables: withoutSplitKeys(read.tables, read.joins) };
  const none = { material: gathered, reportPath: null, report: null };
  const own = { ...requests, figures: requests.figures.filter(({ wording }) => !isComputed(wording, conversation.task, gathered)) };
  const answered = answerRequests(conversation, own, gathered.tables, gathered.joins);
  if ('calls' in answered) return { ...none, progress: answered };
  const problems = [
    ...gathered.absent,
    ...(gathered.searchProblem === null ? [] : [`The web search brought nothing: ${gathered.searchProblem}`]),
  ];
  const { tables, texts, hits, unreadable } = gathered;
  if (tables.length + texts.length + hits.length === 0) {
    const unread = unreadable.map(({ name, reason }) => `${name} was not read: ${reason}`);
    const notes = [
      ...problems,
      ...unread,
      ...(problems.length + unread.length === 0
        ? ['There is nothing to analyse: the workspace has no table or text. Add a CSV, TSV, JSON, Markdown or text file and ask again.']
        : []),
      ...requests.cannot,
    ];
    // A task that requests a report gets one, even if it only says why there is nothing to report.
    return { ...none, progress: write(conversation, [writing(requests.reportPath ?? 'report.md', writeNothing(notes))], notes) };
  }

  const request = [conversation.task, ...conversation.guidance].join('\n');
  const toQuestions = questionAnswers(conversation.task, tables, gathered.joins, gathered.computed, texts.length === 0);
  const cause = causeText(wordsOf(request), tables);
  const isCauseAnswered = cause !== null && toQuestions.some(({ lines }) => lines.includes(`- ${cause}`));
  const remarks = [
    ...(cause === null || isCauseAnswered ? [] : [cause]),
    // Beside a text, "sums of money" may be asked of the text.
    ...(tables.length > 0 && texts.length === 0 ? answered.remarks : []),
    ...absentSubjects(request, tables).filter((text) => !toQuestions.some(({ lines }) => lines.includes(text))),
    ...forecastRemark(request, tables),
    ...comparedYearRemark(request, tables),
    ...relationAnswers(request, tables),
    ...problems,
    ...requests.cannot,
    ...requests.unread.map((text) => `Not followed, because no rule reads it: "${text.slice(0, 200)}"`),
  ];
  const alone = tables.length === 0 && texts.length === 1 && hits.length === 0;
  const reportPath = requests.reportPath ?? (alone ? 'summary.md' : 'report.md');
  const charted = tables.map(chooseChart).find((chart) => chart !== null) ?? null;
  // A limit that a computed answer compares with is no limit for other columns.
  const limits = gathered.computedLimits ? [] : limitAnswers(request, tables);
  const claims = claimAnswers(conversation.task, tables, texts);
  const asked = (question: string) => question.replace(/[.?! ]{1,4}$/, '').toLowerCase();
  const isClaim = ({ question }: Answer) => claims.some((claim) => asked(claim.question) === asked(question));
  const material: Material = {
    ...gathered,
    answers: [
      ...withoutCounts(answered.answers, limits),
      ...limits,
      ...claims,
      ...besideTexts(
        withoutLimits(toQuestions, request, limits).filter((answer) => !isClaim(answer)),
        answerTexts(request, texts).filter((answer) => !isClaim(answer)),
      ),
    ],
    remarks,
    chartPath: charted === null ? null : 'chart.svg',
  };
  const report = alone
    ? inLanguage(writeSummary(texts[0]!, material.answers, remarks), languageOf(conversation.task))
    : writeReport(material);
  const files: Call[] = [];
  if (tables.length > 0) files.push(writing('analysis.json', dataFile(tables, gathered.joins, texts)));
  if (charted !== null) files.push(writing('chart.svg', drawChart(charted)));
  files.push(writing(reportPath, report));
  return { ...none, reportPath, report, progress: write(conversation, files, closingWords(material)) };
}

/** Calculations requested in words, computed in the sandbox. */
export function compute(conversation: Conversation, text: string): Progress {
  const lines: string[] = [];
  for (const { phrase, code } of parseArithmetic(text)) {
    if (!conversation.offered.has('code_exec')) return notOffered('code_exec', `The computation of ${phrase}`);
    const past = findCall(conversation, 'code_exec', { code });
    if (past === undefined) return { calls: [{ name: 'code_exec', args: { code } }] };
    const value = sandboxValue(past);
    lines.push(
      typeof value === 'number' ? `${phrase} = ${exact(value)}.` : `${phrase} could not be computed: ${past.resultText.slice(0, 200)}`,
    );
  }
  return lines.length === 0 ? nothing : over(...lines);
}

function wordsOf(text: string): string[] {
  return readTokens(text.slice(0, maxRequestChars)).flatMap(({ kind, lower }) => (kind === 'word' ? [lower] : []));
}

function writing(path: string, content: string): Call {
  return { name: 'write_file', args: { path, content: content.slice(0, maxFileChars) } };
}

/** "How many flights were more than 30 minutes late" asks for the rows beyond the limit, not for the number of flights. */
function withoutCounts(answers: readonly Answer[], limits: readonly Answer[]): Answer[] {
  return answers.filter(({ question }) => limits.length === 0 || !question.startsWith('Different values of '));
}

/** A question on a limit is answered by the rows beyond it. */
function withoutLimits(answers: readonly Answer[], request: string, limits: readonly Answer[]): Answer[] {
  const { above, below } = boundsIn(request);
  const figures = [above, below].filter((figure) => figure !== undefined).map(String);
  return answers.filter(({ question }) => limits.length === 0 || !figures.some((figure) => question.split(/[^\d.]+/).includes(figure)));
}

/** Whether the words of a request are those of a question that is computed over the rows, or that no column can answer. */
function isComputed(wording: string, task: string, { computed, tables }: Gathered): boolean {
  const lower = wording.toLowerCase();
  const isSame = (question: string) =>
    lower.includes(question.slice(0, startChars).toLowerCase()) || question.toLowerCase().includes(lower);
  return [...computed.keys()].some(isSame) || questionsIn(wording).some((question) => absentAnswer(question, task, tables) !== null);
}

function dataFile(tables: Gathered['tables'], joins: Gathered['joins'], texts: Gathered['texts']): string {
  const data = {
    written_by: 'offline model (rules, no language model)',
    tables,
    joins,
    texts: texts.map(({ name, summary, facts }) => ({ name, ...summary, facts })),
  };
  const readable = JSON.stringify(data, null, 2);
  // Truncated JSON is invalid; without indentation ten profiles always fit.
  return readable.length <= maxFileChars ? readable : JSON.stringify(data);
}

function write(conversation: Conversation, files: Call[], words: string[]): Progress {
  if (!conversation.offered.has('write_file')) return over(...words, 'No file was written: I was not offered the tool write_file.');
  const pending = files.filter(({ name, args }) => findCall(conversation, name, args) === undefined);
  if (pending.length > 0) return { calls: pending };
  const failed = files.flatMap(({ name, args }) => {
    const past = findCall(conversation, name, args)!;
    return past.outcome === 'done' ? [] : [`${args.path} was not written: ${past.resultText.slice(0, 300)}`];
  });
  const written = files.filter(({ name, args }) => findCall(conversation, name, args)!.outcome === 'done').map(({ args }) => args.path);
  return over(...words, ...(written.length > 0 ? [`Files written: ${written.toReversed().join(', ')}.`] : []), ...failed);
}

function closingWords({ tables, joins, texts, unreadable, answers, remarks }: Material): string[] {
  const answerLines = withoutRepeats(answers).answers.map(({ question, short }) => `${question}: ${short}.`);
  const read = tables.flatMap((table) => [
    `${table.name}: ${rowsRead(table)}, ${countOf(table.column_count, 'column')}.`,
    ...findings(table).slice(0, maxFindings),
  ]);
  const summaries = texts.flatMap(({ name, summary, facts }) =>
    textClosing(name, facts, summary, texts.length === 1 ? shownBy(answers) : new Set()),
  );
  const together = joins.flatMap(({ remarks: lines }) => lines.slice(0, maxFindings).map(({ text }) => safe(text)));
  return [
    ...tables.flatMap((table) => (table.basis === undefined ? [] : [`${table.name}:${leftOut(table)}`])),
    ...answerLines,
    ...together,
    ...read,
    ...summaries,
    ...unreadable.map(({ name, reason }) => `${name} was not read: ${reason}`),
    ...remarks,
  ];
}
