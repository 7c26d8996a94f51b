/** A report says each finding once: where it answers a question, and not again among the findings of its file. */
import type { Answer } from './report.ts';

/** An answer that consists of lines of earlier answers only refers to them. Also all lines that the answers contain. */
export function withoutRepeats(answers: readonly Answer[]): { answers: Answer[]; said: ReadonlySet<string> } {
  const said = new Map<string, string>();
  const kept = answers.map((answer): Answer => {
    const findings = answer.lines.filter((line) => line.startsWith('- ')).map(textOf);
    const before = said.get(findings[0] ?? '');
    const isRepeat = before !== undefined && findings.length === answer.lines.length && findings.every((text) => said.has(text));
    for (const text of findings) if (!said.has(text)) said.set(text, answer.question);
    return isRepeat ? { ...answer, short: `answered above, under "${before}"`, lines: [`Answered above, under "${before}".`] } : answer;
  });
  return { answers: kept, said: new Set(said.keys()) };
}

/** @param file of which the findings are; answers name it if there are several */
export function notSaid(findings: readonly string[], said: ReadonlySet<string>, file = ''): string[] {
  return findings.filter((text) => !said.has(text) && !said.has(`${file}: ${text}`));
}

function textOf(line: string): string {
  return line.replace(/^- /, '');
}
