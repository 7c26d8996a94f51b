/** Questions on a log: when it went wrong, why, and whether it is over. Only entries are told; a cause is not inferred. */
import { countOf, exact, markdownTable, safe } from '../../figure.ts';
import type { LogFacts, LogLine } from '../log-facts.ts';
import type { Told } from './told.ts';

const maxChars = 300;
const beginning =
  /(?<![\p{L}])(?:when|since|start(?:s|ed)?|begin|began|first|go(?:es)? wrong|went wrong|wann|seit|quand|depuis|cuándo|desde|quando)(?![\p{L}])/iu;
const reason = /(?<![\p{L}])(?:why|causes?|caused|reasons?|warum|Ursache|Grund|pourquoi|cause|por qué|causa|perché)(?![\p{L}])/iu;
const ending =
  /(?<![\p{L}])(?:fixed|solved|resolved|over|recover(?:s|ed)?|still|again|now|behoben|gelöst|vorbei|noch|résolu|réparé|encore|resuelto|arreglado|todavía|risolto|ancora)(?![\p{L}])/iu;
const problem =
  /(?<![\p{L}])(?:tell|happened|wrong|problems?|errors?|fail(?:s|ed|ures?|ing)?|went|show|passiert|Fehler|erreurs?|errores|errori|passé|pasó|successo)(?![\p{L}])/iu;

/** Null for a question on something else. */
export function logAnswer(clause: string, log: LogFacts): Told | null {
  const about = [beginning, reason, ending, problem].map((words) => words.test(clause));
  if (!about.includes(true)) return null;
  const { firstError, lastError, errors, warnedBefore, after, last, repeated } = log;
  if (firstError === null || lastError === null)
    return { short: 'the log has no error', lines: [`The log has no error in ${entriesOf(log.entries)}.`] };
  const [isOnStart, isOnReason, isOnEnd] = about;
  if (isOnReason === true) {
    const most = repeated.find(({ message }) => /ERROR|FATAL|CRITICAL/.test(message));
    const often =
      most === undefined ? '' : ` Most frequent error (${countOf(most.count, 'time')}): ${safe(most.message.slice(0, maxChars))}.`;
    return {
      short: `a cause is not inferred; first error at ${firstError.time}: ${firstError.message.slice(0, maxChars)}`,
      lines: [`A cause is not inferred; these entries stand at the beginning.${often}`, '', entryTable([...warnedBefore, firstError])],
    };
  }
  if (isOnEnd === true && isOnStart !== true)
    return {
      short: `last error at ${lastError.time} (line ${lastError.line}), then ${entriesOf(after.count)} without an error up to ${last.time}`,
      lines: [
        `Last error at ${safe(lastError.time)} (line ${lastError.line}); then ${entriesOf(after.count)} without an error up to ${safe(last.time)}, where the log ends.`,
        ...(after.first.length === 0 ? [] : ['', entryTable(after.first)]),
      ],
    };
  return {
    short: `first error at ${firstError.time} (line ${firstError.line}), ${countOf(errors, 'error')} in all, the last at ${lastError.time}`,
    lines: [
      `First error at ${safe(firstError.time)} (line ${firstError.line}), last at ${safe(lastError.time)} (line ${lastError.line}), ${countOf(errors, 'error')} in ${entriesOf(log.entries)}.${warnedBefore.length === 0 ? '' : ` Before it ${countOf(warnedBefore.length, 'warning')}:`}`,
      '',
      entryTable([...warnedBefore, firstError]),
    ],
  };
}

function entriesOf(count: number): string {
  return count === 1 ? '1 entry' : `${exact(count)} entries`;
}

function entryTable(entries: readonly LogLine[]): string {
  return markdownTable(
    ['Entry', 'Line'],
    entries.map(({ message, line }) => [safe(message.slice(0, maxChars)), exact(line)]),
  );
}
