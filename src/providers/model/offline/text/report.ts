/** The report on a text: its facts as tables, each with its line number, so that a reader can look it up. */
import { countOf, exact, markdownTable, round, safe } from '../figure.ts';
import type { TextSummary } from '../summary.ts';
import type { FigureFact, TextFacts, TextKind } from './facts.ts';
import { changesHeading, changeTable, entriesHeading, entryTable, maxLogRows } from './questions/logbook.ts';
import {
  actionHead,
  actionRows,
  replacedHeading,
  replacedNote,
  replacedTable,
  supersededHeading,
  supersededTable,
} from './questions/open-points.ts';

const maxRows = 40;
const maxQuoteChars = 400;

const kinds: Record<TextKind, string> = {
  log: 'a log',
  'e-mail': 'e-mails',
  transcript: 'a transcript',
  minutes: 'minutes or notes of a meeting',
  timeline: 'a timeline: entries with their times',
  incident: 'a report on an incident',
  changelog: 'a list of changes',
  documentation: 'documentation',
  contract: 'a contract or agreement',
  prose: 'a plain text',
  empty: 'an empty file',
};

/**
 * Parts of a Markdown report on one text, most important first, with headings of the third level.
 *
 * @param shown headings whose facts an answer shows already
 */
export function textParts(facts: TextFacts, shown: ReadonlySet<string>): string[] {
  const parts: string[] = [];
  const table = (title: string, head: string[], rows: string[][], more = '') => {
    if (rows.length === 0 || shown.has(title)) return;
    // Of a log every line counts.
    const most = facts.logbook === null ? maxRows : maxLogRows;
    const rest = rows.length > most ? `\n\n${countOf(rows.length - most, 'more row')} left out.` : '';
    parts.push(`### ${title}`, markdownTable(head, rows.slice(0, most)) + rest + (more === '' ? '' : `\n\n${more}`));
  };
  const quotes = (title: string, list: { text: string; line: number }[], more = '') =>
    table(
      title,
      ['As written', 'Line'],
      list.map(({ text, line }) => [quote(text), exact(line)]),
      more,
    );
  parts.push(`Read by its form as ${kinds[facts.kind]}.`);
  if (facts.date !== null && facts.kind !== 'transcript')
    parts.push(
      `Its own date: ${safe(facts.date.written)}${facts.date.iso === null || facts.date.iso === facts.date.written ? '' : ` (${facts.date.iso})`}, line ${facts.date.line}.`,
    );
  if (facts.log !== null) parts.push(...logParts(facts));
  if (facts.kind === 'transcript' && facts.messages.length > 0)
    parts.push(
      `${countOf(facts.messages.length, 'message')}, from ${facts.messages[0]!.iso ?? 'an unknown day'} to ${facts.messages.at(-1)!.iso ?? 'an unknown day'}.`,
    );
  else if (facts.messages.length > 0)
    table(
      `${countOf(facts.messages.length, 'message')} in the thread`,
      ['From', 'Date', 'Line'],
      facts.messages.map(({ from, iso, line }) => [safe(from), iso ?? 'not said', exact(line)]),
    );
  const { logbook } = facts;
  if (logbook !== null && !shown.has(entriesHeading)) parts.push(`### ${entriesHeading}`, entryTable(logbook.entries, logbook));
  if (logbook !== null && logbook.changes.length > 0 && !shown.has(changesHeading))
    parts.push(`### ${changesHeading}`, changeTable(logbook.changes, logbook));
  const releases = facts.kind === 'changelog' ? facts.headings.filter(({ text }) => isRelease(text)) : [];
  quotes(countOf(releases.length, 'release'), releases);
  quotes('Marked as confidential: keep it, and what stands below it, out of what goes to others', facts.confidential);
  quotes('Decisions', facts.decisions);
  if (facts.replaced.length > 0 && !shown.has(replacedHeading)) parts.push(`### ${replacedHeading}`, replacedTable(facts.replaced));
  const superseded = supersededTable(facts);
  if (superseded !== null) parts.push(`### ${supersededHeading}`, superseded);
  table('Actions', actionHead, actionRows(facts));
  const { unowned, undated } = openActions(facts);
  quotes('Actions for which nobody is named', unowned);
  quotes('Actions without a deadline', undated);
  table(
    'What does not fit together',
    ['Found', 'Line'],
    facts.contradictions.map(({ text, line }) => [safe(text), exact(line)]),
  );
  table(
    'Differences',
    ['Computed', 'From', 'Line'],
    facts.differences.map(({ computed, text, line }) => [safe(computed), quote(text), exact(line)]),
  );
  quotes('Put off or not decided', facts.undecided);
  quotes(facts.kind === 'prose' ? 'Objections and fears' : 'Objections and abstentions', facts.objections);
  quotes(facts.kind === 'transcript' || facts.kind === 'e-mail' ? 'Questions asked' : 'Open questions', facts.questions);
  quotes('Risks and blockers', facts.risks);
  quotes('Duties (sentences with "shall", "must" and the like)', facts.obligations);
  table(
    'People',
    ['Name', 'First on line'],
    facts.people.map(({ text, line }) => [safe(text), exact(line)]),
  );
  table(
    'Absent or apologies',
    ['Name', 'Line'],
    facts.absent.map(({ text, line }) => [safe(text), exact(line)]),
  );
  quotes('Other names (places, organisations and others, by their capitals; not told apart)', facts.otherNames);
  quotes('Sentences that quote somebody', facts.spoken);
  table(
    'Entries',
    ['Under', 'As written', 'Line'],
    facts.entries.map(({ section, text, line }) => [quote(section), quote(text), exact(line)]),
  );
  quotes('Commands and code', facts.commands);
  table(
    'Speakers',
    ['Speaker', 'Turns', 'Words'],
    facts.speakers.map(({ name, turns, words }) => [safe(name), exact(turns), exact(words)]),
  );
  table(
    'Dates',
    ['As written', 'ISO', 'Where', 'Line'],
    facts.dates.map(({ written, iso, note, text, line }) => [
      safe(written),
      [iso ?? '', note === '' ? '' : `(${note})`].filter((part) => part !== '').join(' ') +
        replacedNote({ ...facts, superseded: facts.superseded.filter((each) => each.written === written) }, { text, line }),
      quote(text),
      exact(line),
    ]),
  );
  table('Figures', ['As written', 'Where', 'Line'], figuresBySentence(facts));
  quotes('E-mail addresses', facts.addresses);
  quotes('Web addresses', facts.urls);
  table(
    'Fields',
    ['Name', 'Value', 'Line'],
    facts.fields.map(({ key, text, line }) => [safe(key), quote(text), exact(line)]),
  );
  quotes('Headings', facts.kind === 'prose' && facts.headings.length < 2 ? [] : facts.headings);
  return parts;
}

/** The figures of a sentence in one row, so that the sentence is quoted once. */
function figuresBySentence(facts: TextFacts): string[][] {
  const { figures, logbook } = facts;
  const sentences = Map.groupBy(figures, ({ text, line }) => `${line} ${text}`);
  return [...sentences.values()].map((each) => [
    each.map((figure) => safe(figure.written) + correctionOf(figure, logbook)).join('; '),
    `${quote(each[0]!.text)} ${safe(replacedNote(facts, each[0]!).trim())}`.trim(),
    exact(each[0]!.line),
  ]);
}

function correctionOf({ written, line, text }: FigureFact, logbook: TextFacts['logbook']): string {
  const change = logbook?.changes.find(({ corrected: fix }) => fix?.before === written && fix.line === line && !text.includes(fix.now));
  return change === undefined ? '' : ` (corrected to ${safe(change.corrected!.now)} on line ${change.line})`;
}

function isRelease(heading: string): boolean {
  return /^(?:\[?(?:version |release )?v?\d{1,4}\.\d|\[?unreleased)/i.test(heading);
}

function logParts({ log }: TextFacts): string[] {
  const { entries, levels, statuses, first, last, errors, firstError, lastError, repeated } = log!;
  const parts = [
    `${countOf(entries, 'entry').replace('entrys', 'entries')}, from ${safe(first.time)} (line ${first.line}) to ${safe(last.time)} (line ${last.line}); ${countOf(errors, 'error')}.`,
  ];
  if (levels.length > 0)
    parts.push(
      '### Entries by level',
      markdownTable(
        ['Level', 'Entries'],
        levels.map(([level, count]) => [safe(level), exact(count)]),
      ),
    );
  if (statuses.length > 0)
    parts.push(
      '### Entries by status',
      markdownTable(
        ['Status', 'Entries'],
        statuses.map(([status, count]) => [status, exact(count)]),
      ),
    );
  const marked = [
    ...(firstError === null ? [] : [['First error', firstError] as const]),
    ...(lastError === null || lastError === firstError ? [] : [['Last error', lastError] as const]),
  ];
  if (marked.length > 0)
    parts.push(
      '### First and last error',
      markdownTable(
        ['Which', 'Entry', 'Line'],
        marked.map(([which, { message, line }]) => [which, quote(message), exact(line)]),
      ),
    );
  const shares = (title: string, list: [string, number][]) => {
    if (list.length > 0)
      parts.push(
        `### ${title}`,
        markdownTable(
          [title, `Of ${countOf(errors, 'error')}`],
          list.slice(0, maxRows).map(([name, count]) => [safe(name), exact(count)]),
        ),
      );
  };
  shares('Errors by source', log!.errorSources);
  if (log!.errorHours.length > 1) shares('Errors by hour', log!.errorHours);
  const { sources, silence } = log!;
  if (sources.length > 1 && sources.length <= maxRows)
    parts.push(`Entries by source: ${sources.map(([name, count]) => `${safe(name)} ${exact(count)}`).join(', ')}.`);
  if (silence !== null)
    parts.push(
      `No entry for ${round(silence.minutes)} minutes, from ${safe(silence.from.time)} (line ${silence.from.line}) to ${safe(silence.to.time)} (line ${silence.to.line}: ${quote(silence.to.message)}); elsewhere entries come far closer.`,
    );
  if (log!.burst !== null)
    parts.push(
      `Most errors in a row: ${exact(log!.burst.count)}, from ${safe(log!.burst.from.time)} (line ${log!.burst.from.line}) to ${safe(log!.burst.to.time)} (line ${log!.burst.to.line}).`,
    );
  if (repeated.length > 0)
    parts.push(
      '### Messages that come again',
      `${markdownTable(
        ['Message', 'Times', 'First line', 'Last line', 'Figure with a unit'],
        repeated.map(({ message, count, first: from, last: to, figures }) => [
          quote(message),
          exact(count),
          exact(from),
          exact(to),
          figures === null ? '' : `${exact(figures.min)} to ${exact(figures.max)} (line ${figures.line})`,
        ]),
      )}\n\nFigures and ids are written as #.`,
    );
  return parts;
}

/** Headings of the report by the titles of the closing words, where they differ. */
const closing: Record<string, string> = { 'Not decided': 'Put off or not decided' };

/** The main facts for the closing words; without those that an answer shows. */
export function textClosing(name: string, facts: TextFacts, summary: TextSummary, shown: ReadonlySet<string>): string[] {
  const lines: string[] = [];
  if (facts.kind === 'empty') return [emptyText(name)];
  if (facts.log !== null) {
    const { entries, errors, levels, first, last, firstError } = facts.log;
    lines.push(
      `${name}: a log of ${exact(entries)} entries from ${first.time} to ${last.time} (${levels.map(([level, count]) => `${level} ${count}`).join(', ')}); ${countOf(errors, 'error')}.`,
    );
    if (firstError !== null) lines.push(`First error (line ${firstError.line}): ${firstError.message.slice(0, 200)}`);
    return lines;
  }
  const current = summary.sentences.filter(
    (sentence) => !facts.withheld.some(({ text }) => text.includes(sentence)) && replacedNote(facts, { text: sentence, line: 0 }) === '',
  );
  lines.push(`${name}: ${current.slice(0, 3).join(' ')}`);
  const list = (title: string, entries: string[]) => {
    if (entries.length > 0 && !shown.has(closing[title] ?? title))
      lines.push(`${title}: ${entries.slice(0, 8).join(' | ')}${entries.length > 8 ? ` | and ${entries.length - 8} more` : ''}`);
  };
  list(
    'Decisions',
    facts.decisions.map(({ text }) => text.slice(0, 200)),
  );
  list(
    'Actions',
    facts.actions.map(
      ({ who, what, due }) =>
        `${who === null || what.startsWith(who) ? '' : `${who}: `}${what.slice(0, 200)}${due === null || what.includes(due) ? '' : ` (${due})`}`,
    ),
  );
  const { unowned, undated } = openActions(facts);
  list(
    'Actions for which nobody is named',
    unowned.map(({ text }) => text.slice(0, 200)),
  );
  list(
    'Actions without a deadline',
    undated.map(({ text }) => text.slice(0, 200)),
  );
  list(
    'Not decided',
    facts.undecided.map(({ text }) => text.slice(0, 200)),
  );
  list(
    'Entries',
    facts.entries.map(({ section, text }) => `${section}: ${text.slice(0, 150)}`),
  );
  if (facts.kind !== 'transcript')
    list(
      'Open questions',
      facts.questions.map(({ text }) => text.slice(0, 200)),
    );
  return lines;
}

/** What is not done and has no person or no deadline. */
function openActions({ actions }: TextFacts) {
  const open = actions.filter(({ done }) => !done).map(({ what, ...rest }) => ({ ...rest, text: what }));
  return { unowned: open.filter(({ who }) => who === null), undated: open.filter(({ due }) => due === null) };
}

export function emptyText(name: string): string {
  return `${name} is empty: there is nothing to read. Upload the file again with its content.`;
}

function quote(text: string): string {
  return safe(text.length > maxQuoteChars ? `${text.slice(0, maxQuoteChars)} …` : text);
}
