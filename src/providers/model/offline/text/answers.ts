/** Plain questions on texts: counts, lists of what was found, differences, and the sentences nearest to any other question. */
import { countOf, exact, markdownTable, safe } from '../figure.ts';
import { readTokens, type Token } from '../prompt-tokens.ts';
import type { Answer, TextMaterial } from '../report.ts';
import { compareTexts, describeDifference } from './compare.ts';
import { compareFields } from './compare-fields.ts';
import { answerClauses } from './questions/answer.ts';
import { nearestLines } from './questions/nearest.ts';

const comparisonWords = new Set(
  'compare comparison comparing differ differs difference differences diff changed changes change vs versus vergleiche vergleich unterschied unterschiede geändert'.split(
    ' ',
  ),
);
const maxAnswers = 20;

export function answerTexts(task: string, texts: readonly TextMaterial[]): Answer[] {
  if (texts.length === 0) return [];
  const tokens = readTokens(task.slice(0, 32_000));
  const words = new Set(tokens.map(({ lower }) => lower));
  const answers: Answer[] = [];
  if (texts.length >= 2 && [...comparisonWords].some((word) => words.has(word))) {
    for (let i = 1; i < Math.min(texts.length, 4); i++) {
      const [first, second] = [texts[i - 1]!, texts[i]!];
      const fields = compareFields(first.name, second.name, first.text, second.text);
      if (fields !== null) answers.push(fields);
      answers.push(describeDifference(first.name, second.name, compareTexts(first.text, second.text)));
    }
  }
  let isListed = answers.length > 0;
  // Clauses that no rule answers for any of the texts.
  const open: string[][] = [];
  for (const material of texts) {
    const { answers: byClause, rest } = answerClauses(task, material, texts.length > 1);
    const left = readTokens(rest.join('. '));
    const leftWords = new Set(left.map(({ lower }) => lower));
    const listed = [...counts(left, leftWords, material), ...occurrences(left, material), ...lists(left, leftWords, material)];
    answers.push(...byClause, ...listed);
    isListed ||= listed.length > 0;
    open.push(rest);
  }
  const told = withoutNone(answers, texts);
  answers.splice(0, answers.length, ...told);
  // A log has lines, not sentences; its entries tell the events.
  const prose = texts.filter(({ facts }) => facts.log === null);
  if (!isListed && prose.length > 0)
    answers.push(
      ...nearestLines(
        task,
        (open[0] ?? []).filter((clause) => open.every((rest) => rest.includes(clause))),
        prose,
      ),
    );
  return answers.slice(0, maxAnswers);
}

const none = /^(?:no (?:action|decision) (?:was found|of .{1,60} was found)|nothing open was found)/;

/** Where one of several texts answers a question, the others need not say that they do not. */
function withoutNone(answers: readonly Answer[], texts: readonly TextMaterial[]): Answer[] {
  const plain = ({ question }: Answer) => texts.reduce((rest, { name }) => rest.replace(` (${name})`, ''), question);
  const answered = new Set(answers.filter(({ short }) => !none.test(short)).map(plain));
  return answers.filter((answer) => !none.test(answer.short) || !answered.has(plain(answer)));
}

function isCounting(tokens: readonly Token[], i: number): boolean {
  const before = (back: number) => tokens[i - back]?.lower ?? '';
  return (
    (before(1) === 'many' && before(2) === 'how') ||
    (before(1) === 'viele' && before(2) === 'wie') ||
    (before(1) === 'of' && before(2) === 'number') ||
    before(1) === 'count' ||
    (before(1) === 'the' && before(2) === 'count') ||
    before(1) === 'zähle' ||
    before(2) === 'zähle' ||
    tokens[i + 1]?.lower === 'count' ||
    (before(1) === 'and' && tokens.slice(Math.max(0, i - 6), i).some(({ lower }) => lower === 'many' || lower === 'count'))
  );
}

function counts(
  tokens: readonly Token[],
  words: ReadonlySet<string>,
  { name, summary, facts, text, totalChars, readChars }: TextMaterial,
): Answer[] {
  if (!words.has('many') && !words.has('count') && !words.has('number') && !words.has('viele') && !words.has('zähle')) return [];
  const found: Answer[] = [];
  const addAnswer = (what: string, count: number, rule = '') => {
    const part =
      readChars < totalChars ? ` in the first ${exact(readChars)} of ${exact(totalChars)} characters, which is all that was read` : '';
    const value = `${countOf(count, what)}${rule}${part}`;
    if (!found.some(({ short }) => short === value))
      found.push({ question: `How many ${what}s in ${name}`, short: value, lines: [`${value}.`] });
  };
  tokens.slice(0, 2000).forEach(({ lower }, i) => {
    if (!isCounting(tokens, i)) return;
    if (/^(?:words?|wörter|worte)$/.test(lower)) addAnswer('word', summary.words);
    else if (/^(?:lines?|zeilen?)$/.test(lower)) addAnswer('line', facts.lines);
    else if (/^(?:sentences?|sätze?)$/.test(lower)) addAnswer('sentence', summary.sentenceCount);
    else if (/^(?:characters?|chars|zeichen)$/.test(lower)) addAnswer('character', [...text].length);
    else if (/^(?:paragraphs?|absätze)$/.test(lower)) addAnswer('paragraph', paragraphs(text));
    else if (/^(?:headings?|sections?)$/.test(lower)) addAnswer('heading', facts.headings.length);
    else if (/^(?:errors?|fehler)$/.test(lower) && facts.log !== null) addAnswer('error', facts.log.errors);
    else if (/^(?:warnings?|warnungen)$/.test(lower) && facts.log !== null)
      addAnswer('warning', facts.log.levels.find(([level]) => level === 'WARN')?.[1] ?? 0);
    else if (/^decisions?$/.test(lower)) addAnswer('decision', facts.decisions.length, ' found by the rules');
    else if (/^(?:actions?|tasks?)$/.test(lower)) addAnswer('action', facts.actions.length, ' found by the rules');
    else if (/^(?:speakers?)$/.test(lower)) addAnswer('speaker', facts.speakers.length);
  });
  return found;
}

function paragraphs(text: string): number {
  let count = 0;
  let open = false;
  for (const line of text.split('\n')) {
    const filled = line.trim() !== '';
    if (filled && !open) count++;
    open = filled;
  }
  return count;
}

/** "How often does "vote" occur": whole words, any case. */
function occurrences(tokens: readonly Token[], { name, text }: TextMaterial): Answer[] {
  for (let i = 0; i + 1 < Math.min(tokens.length, 2000); i++) {
    const pair = `${tokens[i]!.lower} ${tokens[i + 1]!.lower}`;
    if (pair !== 'how often' && pair !== 'many times' && pair !== 'wie oft') continue;
    const rest = tokens.slice(i + 2, i + 14);
    const named =
      rest.find(({ kind }) => kind === 'quoted') ??
      rest.find(
        ({ kind, lower }) =>
          kind === 'word' &&
          !['is', 'does', 'do', 'did', 'the', 'word', 'term', 'phrase', 'kommt', 'wird', 'das', 'wort', 'are', 'was', 'name'].includes(
            lower,
          ),
      );
    if (named === undefined || named.text.length > 100) return [];
    const count = wholeWords(text, named.text);
    const value = `"${named.text}" occurs ${countOf(count, 'time')}`;
    return [
      {
        question: `How often "${named.text}" occurs in ${name}`,
        short: value,
        lines: [`${safe(value)} as a whole word, in any case of letters.`],
      },
    ];
  }
  return [];
}

function wholeWords(text: string, wanted: string): number {
  const hay = text.toLowerCase();
  const needle = wanted.toLowerCase();
  let count = 0;
  for (let at = hay.indexOf(needle); at !== -1; at = hay.indexOf(needle, at + needle.length)) {
    const isPart = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}_]/u.test(char);
    if (!isPart(hay[at - 1]) && !isPart(hay[at + needle.length])) count++;
  }
  return count;
}

const listing = new Set(
  'quelles quels quelle quel liste donne résume qué cuáles cuál lista resume quali quale elenca riassumi welche extract list find get show give collect identify what which all every tell name who welche welcher welches welchen wer was fasse liste nenne finde zeige alle'.split(
    ' ',
  ),
);

function lists(tokens: readonly Token[], words: ReadonlySet<string>, { name, facts }: TextMaterial): Answer[] {
  if (![...listing].some((word) => words.has(word))) return [];
  const found: Answer[] = [];
  const addAnswer = (what: string, entries: readonly { text: string; line: number }[], sections: string[] = []) => {
    // "Are people happier?" asks for no names.
    if (entries.length === 0 && what.startsWith('People')) return;
    if (found.some(({ question }) => question.startsWith(what))) return;
    const unique = entries.filter(({ text }, i) => entries.findIndex((other) => other.text === text) === i);
    const lines =
      unique.length === 0
        ? ['None was found by the rules.']
        : [
            markdownTable(
              ['Found', 'Line'],
              unique.map(({ text, line }) => [safe(text), exact(line)]),
            ),
          ];
    const short =
      unique.length === 0
        ? 'none found'
        : `${unique
            .slice(0, 12)
            .map(({ text }) => text.slice(0, 150))
            .join(' | ')}${unique.length > 12 ? ` | and ${unique.length - 12} more` : ''}`;
    found.push({ question: `${what} in ${name}`, short, lines, sections });
  };
  tokens.slice(0, 2000).forEach(({ lower }, i) => {
    const next = tokens[i + 1]?.lower ?? '';
    if (/^e-?mails?$/.test(lower) && next.startsWith('address')) addAnswer('E-mail addresses', facts.addresses);
    else if (/^e-?mails$|^mailadressen$|^e-mail-adressen$/.test(lower) && facts.kind !== 'e-mail')
      addAnswer('E-mail addresses', facts.addresses);
    else if (/^(?:urls?|links?|websites?)$/.test(lower)) addAnswer('Web addresses', facts.urls);
    else if (/^(?:dates|datumsangaben|termine|fechas)$/.test(lower) || (lower === 'date' && words.has('quali')))
      addAnswer(
        'Dates',
        inSentences(
          facts.dates.map(({ written, iso, text, line }) => ({
            written: iso === null || iso === written ? written : `${written} (${iso})`,
            text,
            line,
          })),
        ),
        ['Dates'],
      );
    else if (/^(?:deadlines?|fristen)$/.test(lower))
      addAnswer(
        'Deadlines',
        facts.actions
          .flatMap(({ who, what, due, line }) =>
            due === null ? [] : [{ text: `${due}: ${who === null || what.startsWith(who) ? '' : `${who}, `}${what}`, line }],
          )
          .concat(
            facts.dates
              .filter(({ written, text, line: at }) => isDeadline(text, written) && !facts.actions.some(({ line }) => line === at))
              .map(({ written, iso, text, line }) => ({ text: `${written}${iso === null ? '' : ` (${iso})`}: ${text}`, line })),
          ),
      );
    else if (
      /^(?:amounts?|sums|prices|figures|numbers|beträge|summen|zahlen|montants|sommes|importes|cantidades|sumas|importi|somme|cifre)$/.test(
        lower,
      ) &&
      !(lower === 'numbers' && (tokens[i - 1]?.lower ?? '') === 'phone')
    ) {
      const money = !/figures|numbers|zahlen|cifre/.test(lower);
      addAnswer(
        money ? 'Amounts' : 'Figures',
        inSentences(facts.figures.filter(({ written }) => !money || moneyWords.test(written))),
        money ? [] : ['Figures'],
      );
    } else if (/^(?:names|people|persons|namen|personen)$/.test(lower)) addAnswer('People', facts.people);
    else if (/^(?:attendees|participants|teilnehmer)$/.test(lower)) addAnswer('People', facts.people);
    else if (/^(?:decisions|beschlüsse|entscheidungen)$/.test(lower)) addAnswer('Decisions', facts.decisions);
    else if (/^(?:actions|aufgaben|todos|to-dos)$/.test(lower) || (lower === 'action' && /^(?:items|points)$/.test(next)))
      addAnswer(
        'Actions',
        facts.actions.map(({ who, what, due, line }) => ({
          text: `${who === null || what.startsWith(who) ? '' : `${who}: `}${what}${due === null || what.includes(due) ? '' : ` (${due})`}`,
          line,
        })),
      );
    else if (isAskingForActions(tokens, i))
      addAnswer(
        'Actions',
        facts.actions.map(({ who, what, due, iso, line }) => ({
          text: `${who === null || what.startsWith(who) ? '' : `${who}: `}${what}${due === null ? '' : ` (${due}${iso === null ? '' : `, ${iso}`})`}`,
          line,
        })),
      );
    else if (/^(?:organi[sz]ations?|companies|places|locations|orte|organisationen|firmen|unternehmen)$/.test(lower))
      addAnswer('Places, organisations and other names (not told apart)', facts.otherNames);
    else if (/^(?:questions|fragen)$/.test(lower)) addAnswer('Questions', facts.questions);
    else if (/^(?:errors|fehler)$/.test(lower) && facts.log !== null && facts.log.firstError !== null)
      addAnswer(
        'Messages that come again',
        facts.log.repeated.map(({ message, count, first }) => ({ text: `${message} (${count} times)`, line: first })),
      );
    else if (/^(?:headings|sections)$/.test(lower)) addAnswer('Headings', facts.headings);
  });
  return found;
}

const moneyWords = /[$€£]|USD|EUR|GBP|CHF|euro|dollar|pound|million|billion|milliard|miliard|millon|milion|Mio|Mrd/i;

/** Each with the sentence in which it stands; those of one sentence together, so that it is quoted once. */
function inSentences(facts: readonly { written: string; text: string; line: number }[]): { text: string; line: number }[] {
  const sentences = Map.groupBy(facts, ({ text, line }) => `${line} ${text}`);
  return [...sentences.values()].map((each) => ({
    text: `${each.map(({ written }) => written).join('; ')}: ${each[0]!.text}`,
    line: each[0]!.line,
  }));
}

/** Whether a word such as "until" stands before the date. */
function isDeadline(text: string, written: string): boolean {
  const at = text.indexOf(written);
  return /(?:by|until|till|before|deadline|due|latest|bis|spätestens|frist|runs until)(?: (?:zum|den|dem|am|on|the))?:? $/i.test(
    text.slice(Math.max(0, at - 24), at),
  );
}

/** "who does what", "what do I have to do", "wer macht was". */
function isAskingForActions(tokens: readonly Token[], i: number): boolean {
  const words = tokens
    .slice(i, i + 3)
    .map(({ lower }) => lower)
    .join(' ');
  return /^(?:who does what|who has to|have to do|wer macht was|wer muss was|who needs to|who must do)/.test(words);
}
