/** Decisions, actions and what is open, as answers to questions on minutes and reports. */
import { exact, markdownTable, safe } from '../../figure.ts';
import type { Quote, TextFacts } from '../facts.ts';
import type { Passage } from '../passages.ts';
import { stemsInCommon, stemsOf } from '../stem.ts';
import { cited, quotesShort, quotesWhere, quoteTable, type Told } from './told.ts';

const earlier =
  /(?<![\p{L}])(?:still (?:not|marked|open|outstanding|missing|in progress|pending|waiting|undone)|not yet (?:been )?(?:done|implemented|carried out|introduced|finished)|(?:was|were) never (?:done|implemented|carried out|introduced)|remains (?:open|undone|outstanding)|immer noch nicht|noch nicht (?:umgesetzt|erledigt|eingeführt)|weiterhin offen)(?![\p{L}])/iu;
const measure =
  /(?<![\p{L}])(?:measures?|actions?|agreed|promised|recommend\p{L}{0,6}|planned|decided|task|Maßnahmen?|vereinbart|beschlossen)(?![\p{L}])/iu;
const sameWords = 3;
const maxQuoteChars = 400;

export function decisionsOf(facts: TextFacts): Told {
  const told = listed(facts, facts.decisions, 'Decisions', 'No decision was found by the rules.');
  if (facts.replaced.length === 0) return told;
  const lead = facts.kind === 'transcript' ? 'a later message' : 'a later one';
  return {
    short: `${told.short}; replaced later: ${replacedShort(facts)}`,
    lines: [...told.lines, '', `Decided first and replaced by ${lead}:`, '', replacedTable(facts.replaced)],
    sections: [...(told.sections ?? []), replacedHeading],
  };
}

export const replacedHeading = 'Decisions that a later one replaced';

export const supersededHeading = 'Days and figures that a later sentence replaced';

/** Without those that the replaced decisions tell. */
export function supersededTable({ superseded, replaced }: TextFacts): string | null {
  const rows = superseded.filter(({ text, line }) => !replaced.some((each) => each.line === line && each.text.includes(text)));
  return rows.length === 0
    ? null
    : markdownTable(
        ['Said first', 'Where', 'Line', 'Replaced by', 'Line'],
        rows.map(({ written, text, line, by }) => [
          safe(written),
          safe(text.slice(0, maxQuoteChars)),
          exact(line),
          safe(by.text.slice(0, maxQuoteChars)),
          exact(by.line),
        ]),
      );
}

/** "20 June was replaced on line 81", for what an earlier sentence says; empty where it still holds. */
export function replacedNote({ superseded }: TextFacts, { text, line }: Quote): string {
  const old = superseded.filter(
    (each) => (each.line === line || text.includes(each.text)) && text.includes(each.written) && !text.includes(each.by.text),
  );
  const told = old.map(({ written, by }) => `${written}: replaced on line ${by.line}`);
  return told.length === 0 ? '' : ` [${[...new Set(told)].join('; ')}]`;
}

export function replacedTable(replaced: TextFacts['replaced']): string {
  return markdownTable(
    ['Decided first', 'Line', 'Replaced by', 'Line'],
    replaced.map(({ text, line, by }) => [safe(text), exact(line), safe(by.text), exact(by.line)]),
  );
}

function replacedShort({ replaced }: TextFacts): string {
  return replaced.map(({ text, line, by }) => `"${text}" (line ${line}) by "${by.text}" (line ${by.line})`).join(' | ');
}

/** Null where no message replaced a decision. */
export function replacedOf(facts: TextFacts): Told | null {
  if (facts.replaced.length === 0) return null;
  return { short: replacedShort(facts), lines: [replacedTable(facts.replaced)], sections: [replacedHeading] };
}

/** Who took a task over from whom; null where nobody did. */
export function handoversOf({ handovers }: TextFacts): Told | null {
  if (handovers.length === 0) return null;
  return {
    short: handovers.map(({ from, to, text, line }) => `${to} took over from ${from}: "${text.slice(0, 200)}" (line ${line})`).join(' | '),
    lines: [
      markdownTable(
        ['Took over', 'From', 'As written', 'Line'],
        handovers.map(({ from, to, text, line }) => [safe(to), safe(from), safe(text), exact(line)]),
      ),
    ],
  };
}

/** What is put off, asked, or without anybody to do it. */
export function openOf(facts: TextFacts, passages: readonly Passage[]): Told {
  const unowned = facts.actions.filter(({ who, done }) => who === null && !done).map(({ what, line }) => ({ text: what, line }));
  const all: [string, Quote][] = [
    ...facts.undecided.map((quote): [string, Quote] => ['put off or not decided', quote]),
    ...facts.questions
      .filter((quote) => !isRequest(facts, quote) && isOfNewest(facts, quote))
      .map((quote): [string, Quote] => [quote.text.includes('?') ? 'open question' : 'open', quote]),
    ...askedLast(facts).map((quote): [string, Quote] => ['asked in the newest message', quote]),
    ...unowned.map((quote): [string, Quote] => ['action for which nobody is named', quote]),
    ...stillOpen(passages).map((quote): [string, Quote] => ['agreed earlier and not done', quote]),
  ];
  const rows = all.filter(([, { text, line }], at) => !all.slice(0, at).some(([, other]) => other.line === line && other.text === text));
  if (rows.length === 0) return { short: 'nothing open was found by the rules', lines: ['Nothing open was found by the rules.'] };
  return {
    short: rows.map(([why, { text }]) => `${text.slice(0, 200)} (${why})`).join(' | '),
    lines: [
      markdownTable(
        ['As written', 'Why it is open', 'Under', 'Line'],
        rows.map(([why, { text, line }]) => [safe(text), why, safe(sectionAt(facts, line)), exact(line)]),
      ),
    ],
    sections: ['Put off or not decided', 'Open questions', 'Questions asked', 'Actions for which nobody is named'],
  };
}

/** Of a thread of mails only the newest has questions that nobody can have answered. */
function isOfNewest(facts: TextFacts, { line }: Quote): boolean {
  const range = newestMail(facts);
  return range === null || (line >= range.from && line < range.to);
}

function newestMail({ kind, messages }: TextFacts): { from: number; to: number } | null {
  if (kind !== 'e-mail' || messages.length < 2 || messages.some(({ iso }) => iso === null)) return null;
  const newest = messages.reduce((last, each) => (each.iso! > last.iso! ? each : last));
  // A mail that forwards another one of its day is told with it.
  return {
    from: newest.line,
    to: messages.find(({ line, iso }) => line > newest.line && iso !== newest.iso)?.line ?? Number.POSITIVE_INFINITY,
  };
}

const greeting =
  /^(?:Dear|Hi|Hello|Hey|Good (?:morning|afternoon|evening)|Kind|Best|Regards|Yours|Many thanks|Thanks|Thank you|Liebe|Hallo|Guten|Viele|Mit freundlichen|Bonjour|Cher|Cordialement|Hola|Estimad|Saludos|Gentile|Ciao|Cordiali)/iu;
const maxSentences = 10;

/** What the newest mail of a thread says; null for other texts. */
export function newestMessage(facts: TextFacts, passages: readonly Passage[]): Told | null {
  const range = newestMail(facts);
  if (range === null) return null;
  const said = passages
    .filter(
      ({ line, kind, text }) => kind !== 'field' && line >= range.from && line < range.to && text.includes(' ') && !greeting.test(text),
    )
    .slice(0, maxSentences);
  return said.length === 0 ? null : { short: quotesShort(said), lines: ['The newest message says:', '', quoteTable(said)] };
}

/** What the newest mail of a thread asks its reader to do. */
function askedLast(facts: TextFacts): Quote[] {
  const range = newestMail(facts);
  if (range === null) return [];
  return facts.actions
    .filter(({ who, line, done }) => !done && who?.startsWith('recipient') === true && line >= range.from && line < range.to)
    .map(({ what, iso, line }) => ({ text: iso === null ? what : `${what} (${iso})`, line }));
}

/** "Can you book the room?" is a task. */
function isRequest({ actions }: TextFacts, { text, line }: Quote): boolean {
  return text.endsWith('?') && actions.some((action) => action.line === line && action.what.endsWith(text));
}

const ownTasks = /(?<![\p{L}])(?:I|me|my|ich|mir|meine?|je|moi|mes)(?![\p{L}])/u;

export function actionsOf(facts: TextFacts, clause = ''): Told {
  const asked = facts.people.find(({ text }) =>
    new RegExp(`(?<![\\p{L}])${text.split(' ')[0]!.replace(/[^\p{L}]/gu, '.')}(?![\\p{L}])`, 'u').test(clause),
  );
  const own = asked === undefined ? [] : facts.actions.filter(({ who }) => who?.includes(asked.text.split(' ')[0]!) === true);
  const actions = own.length > 0 ? own : facts.actions;
  if (asked !== undefined && own.length === 0 && ownTasks.test(clause))
    return {
      short: `no action of ${asked.text} was found by the rules`,
      lines: [`No action of ${safe(asked.text)} was found by the rules.`],
    };
  if (actions.length === 0) return { short: 'no action was found by the rules', lines: ['No action was found by the rules.'] };
  const unowned = actions.filter(({ who, done }) => who === null && !done);
  return {
    short: actions
      .map(({ who, what, due, iso }) => {
        const when = due === null ? '' : ` (${due}${iso === null ? '' : `, ${iso}`})`;
        return `${who === null ? 'nobody named: ' : what.startsWith(who) ? '' : `${who}: `}${what.slice(0, 200)}${when}`;
      })
      .join(' | '),
    lines: [
      markdownTable(actionHead, actionRows(facts, actions)),
      ...(unowned.length === 0
        ? []
        : ['', `${unowned.length === 1 ? 'For one action' : `For ${unowned.length} actions`} nobody is named.`]),
    ],
    sections: own.length > 0 ? [] : ['Actions', 'Actions for which nobody is named', 'Actions without a deadline'],
  };
}

/** Actions that lack a person or a deadline, and measures agreed earlier that are still open. */
export function unassignedOf(facts: TextFacts, passages: readonly Passage[]): Told {
  const lacking = facts.actions.filter(({ who, due, done }) => !done && (who === null || due === null));
  const old = stillOpen(passages).map(({ text, line }) => {
    const words = stemsOf(text);
    const same = facts.actions.find(({ what, line: at }) => at !== line && stemsInCommon(what, words) >= sameWords);
    return `- Agreed earlier and still open: ${safe(cited({ text, line }))}.${same === undefined ? '' : ` By its words it is the same as ${safe(cited({ text: same.what, line: same.line }))}.`}`;
  });
  if (lacking.length + old.length === 0)
    return { short: 'every action has a person and a deadline', lines: ['Every action that the rules found has a person and a deadline.'] };
  const missing = ({ who, due }: TextFacts['actions'][number]) =>
    [...(who === null ? ['a person'] : []), ...(due === null ? ['a date'] : [])].join(' and ');
  return {
    short: lacking.map((action) => `${action.what.slice(0, 200)} (lacks ${missing(action)})`).join(' | ') || 'none',
    lines: [
      ...(lacking.length === 0
        ? ['Every action that the rules found has a person and a deadline.']
        : [
            markdownTable(
              ['As written', 'Lacks', 'Line'],
              lacking.map((action) => [safe(action.what), missing(action), exact(action.line)]),
            ),
          ]),
      ...(old.length === 0 ? [] : ['', ...old]),
    ],
    sections: ['Actions for which nobody is named', 'Actions without a deadline'],
  };
}

export const actionHead = ['Who', 'What, as written', 'By when', 'Date', 'Done', 'Line'];

/** Who does what by when, as rows of a table. */
export function actionRows(facts: TextFacts, actions = facts.actions): string[][] {
  return actions.map(({ who, what, due, iso, note, done, line }) => [
    who === null ? 'nobody named' : safe(who),
    safe((what.length > maxQuoteChars ? `${what.slice(0, maxQuoteChars)} …` : what) + replacedNote(facts, { text: what, line })),
    due === null ? 'not said' : safe(due),
    [iso ?? '', note === '' ? '' : `(${note})`].filter((part) => part !== '').join(' '),
    done ? 'yes' : '',
    exact(line),
  ]);
}

function stillOpen(passages: readonly Passage[]): Quote[] {
  return quotesWhere(passages, ({ text }) => earlier.test(text) && measure.test(text));
}

function listed(facts: TextFacts, quotes: readonly Quote[], section: string, none: string): Told {
  if (quotes.length === 0) return { short: none.replace(/\.$/, ''), lines: [none] };
  if (facts.headings.length < 2) return { short: quotesShort(quotes), lines: [quoteTable(quotes)], sections: [section] };
  return {
    short: quotesShort(quotes),
    lines: [
      markdownTable(
        ['As written', 'Under', 'Line'],
        quotes.map(({ text, line }) => [safe(text), safe(sectionAt(facts, line)), exact(line)]),
      ),
    ],
    sections: [section],
  };
}

/** The nearest heading above a line. */
function sectionAt({ headings }: TextFacts, line: number): string {
  return headings.findLast((heading) => heading.line <= line)?.text ?? '';
}
