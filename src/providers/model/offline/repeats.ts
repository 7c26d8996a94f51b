/** A report says each finding once: where it answers a question, and not again among the findings of its file. */
import type { Answer } from './report.ts';

/** So many findings that an earlier answer has are named by their first words; a single one is told again. */
const minRepeated = 2;
const startsNamed = 4;
const maxStart = 90;
const minStart = 20;

/** An answer names the findings that earlier answers contain, with the question that they stand under. Also all lines that the answers contain. */
export function withoutRepeats(answers: readonly Answer[]): { answers: Answer[]; said: ReadonlySet<string> } {
  const said = new Map<string, string>();
  const kept = answers.map((answer): Answer => {
    const repeated = answer.lines.filter((line) => isFinding(line) && said.has(textOf(line)));
    const references = referencesTo(repeated.map(textOf), said);
    const isWhole = repeated.length > 0 && repeated.length === answer.lines.length;
    const isFirst = answer.lines[0] === repeated[0];
    for (const line of answer.lines) if (isFinding(line) && !said.has(textOf(line))) said.set(textOf(line), answer.question);
    if (isWhole)
      return {
        ...answer,
        short: `no further finding; the nearest stand above, ${references}`,
        lines: [`No further finding answers this; the nearest stand above, ${references}.`],
      };
    if (repeated.length < minRepeated) return answer;
    const short = isFirst ? `see above, ${references}` : answer.short;
    const lines = answer.lines.flatMap((line) =>
      line === repeated[0] ? [`- As above, ${references}.`] : repeated.includes(line) ? [] : [line],
    );
    return { ...answer, short, lines };
  });
  return { answers: kept, said: new Set(said.keys()) };
}

/** @param file of which the findings are; answers name it if there are several */
export function notSaid(findings: readonly string[], said: ReadonlySet<string>, file = ''): string[] {
  return findings.filter((text) => !said.has(text) && !said.has(`${file}: ${text}`));
}

/** "under "Which one is late": 3 rows are late; row 7 is late" */
function referencesTo(texts: readonly string[], said: ReadonlyMap<string, string>): string {
  return [...Map.groupBy(texts, (text) => said.get(text)!)]
    .map(([question, own]) => {
      const more = own.length - startsNamed;
      const starts = own.slice(0, startsNamed).map(startOf).join('; ');
      return `under "${question.replace(/\.$/, '')}": ${starts}${more > 0 ? `; and ${more} more` : ''}`;
    })
    .join(', and ');
}

/** The words of a finding before its details. */
function startOf(text: string): string {
  const ends = [': ', '; ', ' (', '. '].map((mark) => text.indexOf(mark, minStart)).filter((at) => at > 0);
  const end = Math.min(maxStart, text.replace(/\.$/, '').length, ...ends);
  return text.length > maxStart && end === maxStart ? `${text.slice(0, text.lastIndexOf(' ', end))} …` : text.slice(0, end);
}

function isFinding(line: string): boolean {
  return line.startsWith('- ');
}

function textOf(line: string): string {
  return line.replace(/^- /, '');
}
