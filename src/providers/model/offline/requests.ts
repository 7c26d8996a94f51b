/** What task and guidance request of a report: figures, focus, and file name. Pure and linear; later requests have priority. */

import { wordSet } from '../../table/word-set.ts';
import { cannotDo } from './cannot.ts';
import { collapseWhitespace, endsSentence, readTokens, type Token } from './prompt-tokens.ts';

export type FigureKind = 'sum' | 'mean' | 'median' | 'count' | 'min' | 'max';

/** "the median of amount by region"; `column` is null if only the grouping was named. */
export type FigureRequest = { kind: FigureKind; column: string | null; by: string | null; wording: string };

export type Requests = {
  /** A report, an analysis or a summary is requested. */
  report: boolean;
  figures: FigureRequest[];
  /** "focus on region North": a column, if named, and a value. */
  focus: { column: string | null; value: string }[];
  reportPath: string | null;
  /** Sentences on requests that no rule can do. */
  cannot: string[];
  /** Guidance that no rule could read. */
  unread: string[];
};

const reportWords = wordSet(
  'analysis profile summary summaries report reports bericht insight insights findings explore describe overview statistics trend trends outlier outliers compare comparison explain read review examine investigate evaluate fasse extract list identify highlight minutes decisions deadlines differences vergleiche übersicht erkläre lies',
);
const reportStems = ['analys', 'analyz', 'summari', 'zusammenfass'];
const reportPairs = new Set([
  'stand out',
  'stands out',
  'look at',
  'sum up',
  'look into',
  'tell me',
  'tell us',
  'action items',
  'action points',
  'what changed',
]);
const figureWords: readonly [FigureKind, ReadonlySet<string>][] = [
  ['median', wordSet('median medians')],
  ['mean', wordSet('average averages mean means durchschnitt')],
  ['sum', wordSet('sum sums total totals summe')],
  ['count', wordSet('count counts')],
  ['max', wordSet('max maximum highest largest')],
  ['min', wordSet('min minimum lowest smallest')],
];
const superlatives = wordSet('most highest largest biggest best lowest least smallest top meiste meisten');
const owning = wordSet('has had have sold sells made makes brought hat is was');
const clauseJoints = wordSet('tell write also median mean average sum total count max min');
const noColumn = wordSet(
  'by per for is in and of was are at on last over from with to as or than that which who we i it hold holds agree agrees match matches fit fits add adds come comes check right correct wrong still not and or',
);
const maxClauseTokens = 80;
const maxFigures = 12;
const maxFocus = 12;
const maxAskedChars = 120;

export function parseRequests(task: string, guidance: readonly string[]): Requests {
  const tokens = readTokens(task);
  const requests: Requests = {
    report: asksForReport(tokens),
    figures: [],
    focus: [],
    reportPath: null,
    cannot: cannotDo(task),
    unread: [],
  };
  readInto(requests, task, tokens);
  for (const text of guidance) if (!readInto(requests, text, readTokens(text))) requests.unread.push(text);
  return requests;
}

/** A file called findings.md is not a request: it is one token. */
function asksForReport(tokens: readonly Token[]): boolean {
  return tokens.some(
    ({ kind, lower }, i) =>
      kind === 'word' &&
      (reportWords.has(lower) ||
        (!lower.includes('.') && reportStems.some((stem) => lower.startsWith(stem))) ||
        reportPairs.has(`${lower} ${tokens[i + 1]?.lower ?? ''}`)),
  );
}

/** False if the text contained no request. */
function readInto(requests: Requests, text: string, tokens: readonly Token[]): boolean {
  const figures = figuresIn(text, tokens);
  requests.figures = [...requests.figures, ...figures].slice(0, maxFigures);
  const focus = focusIn(text, tokens);
  requests.focus.push(...focus);
  const path = reportPathIn(tokens);
  if (path !== null) requests.reportPath = path;
  return figures.length > 0 || focus.length > 0 || path !== null;
}

function focusIn(text: string, tokens: readonly Token[]): Requests['focus'] {
  const found: Requests['focus'] = [];
  for (let i = 0; i < tokens.length && found.length < maxFocus; i++) {
    if (tokens[i]!.lower !== 'focus' && tokens[i]!.lower !== 'concentrate') continue;
    let at = i + 1;
    while (at < i + 3 && ['only', 'mainly'].includes(tokens[at]?.lower ?? '')) at++;
    if (tokens[at]?.lower !== 'on') continue;
    at++;
    if (tokens[at]?.lower === 'the') at++;
    const first = nameToken(tokens[at]);
    if (first === null) continue;
    at++;
    while (at < tokens.length && ['is', '=', 'only'].includes(tokens[at]!.lower) && at < i + 10) at++;
    const from = at;
    while (
      at < from + 6 &&
      at < tokens.length &&
      nameToken(tokens[at]) !== null &&
      !['and', 'in', 'when', 'please'].includes(tokens[at]!.lower)
    )
      at++;
    if (at === from) found.push({ column: null, value: first });
    else
      found.push({
        column: first,
        value: at === from + 1 ? tokens[from]!.text : collapseWhitespace(text.slice(tokens[from]!.start, tokens[at - 1]!.end)),
      });
  }
  return found;
}

const writingVerbs = wordSet('write save put store call name deliver schreibe speichere create');
const reportNouns = wordSet('it report analysis summary result results findings everything bericht zusammenfassung ergebnis them');
const nameLeads = wordSet('to as into in called named under file it als unter nach namens : with');

/** "save the report as findings.md". A name that is only mentioned does not count: it must follow "to", "as" and similar words. */
function reportPathIn(tokens: readonly Token[]): string | null {
  for (let i = 0; i < tokens.length; i++) {
    if (!writingVerbs.has(tokens[i]!.lower)) continue;
    let noun = false;
    for (let at = i + 1; at < tokens.length && at < i + 30 && !endsSentence(tokens, at); at++) {
      const { lower, text, kind } = tokens[at]!;
      noun ||= reportNouns.has(lower);
      if ((kind !== 'word' && kind !== 'quoted') || !isReportName(text)) continue;
      let before = at - 1;
      while (before > i && ['file', 'the', 'a', 'new', 'markdown', 'text'].includes(tokens[before]!.lower)) before--;
      // "write findings.md with the results": the verb's own object.
      const own = before === i && tokens[at + 1]?.lower === 'with';
      if ((noun && (nameLeads.has(tokens[before]!.lower) || ['file'].includes(tokens[at - 1]!.lower))) || own) return text;
    }
  }
  return null;
}

function isReportName(text: string): boolean {
  return text.length <= 100 && /^[\p{L}\p{N}_][\p{L}\p{N}_ .-]*$/u.test(text) && /\.(?:md|markdown|txt)$/i.test(text.slice(-9));
}

function figuresIn(text: string, tokens: readonly Token[]): FigureRequest[] {
  const found: FigureRequest[] = [];
  for (const [from, to] of clausesOf(tokens)) {
    if (found.length >= maxFigures) break;
    found.push(...clauseFigures(text, tokens, from, to));
  }
  return found.slice(0, maxFigures);
}

/** Sentences, split again where "and" begins another request, and after 80 tokens. */
function clausesOf(tokens: readonly Token[]): [number, number][] {
  const clauses: [number, number][] = [];
  let from = 0;
  const close = (to: number, next: number) => {
    if (to > from) clauses.push([from, to]);
    from = next;
  };
  for (let i = 0; i < tokens.length; i++) {
    if (endsSentence(tokens, i) || i - from >= maxClauseTokens) close(i, i + 1);
    else if (tokens[i]!.lower === 'and' || tokens[i]!.lower === 'then') {
      const next = tokens[i + 1]?.lower === 'the' ? tokens[i + 2] : tokens[i + 1];
      if (clauseJoints.has(next?.lower ?? '')) close(i, i + 1);
    }
  }
  close(tokens.length, tokens.length);
  return clauses;
}

function clauseFigures(text: string, tokens: readonly Token[], from: number, to: number): FigureRequest[] {
  const wording = collapseWhitespace(
    text.slice(tokens[from]!.start, Math.min(tokens[to - 1]!.end, tokens[from]!.start + 4 * maxAskedChars)),
  ).slice(0, maxAskedChars);
  const by = groupingIn(tokens, from, to);
  const which = by === null ? leaderAsked(tokens, from, to) : null;
  // The sums by group, in order, show the leader.
  if (which !== null) return [{ kind: 'sum', column: null, by: which, wording }];
  const found: FigureRequest[] = [];
  for (const [kind, names] of figureWords) {
    const end = kindEnd(tokens, from, to, kind, names);
    if (end === 0) continue;
    const column = columnAt(tokens, end, to);
    if (column === null && by === null) continue;
    found.push({ kind, column, by, wording });
  }
  return found;
}

function kindEnd(tokens: readonly Token[], from: number, to: number, kind: FigureKind, names: ReadonlySet<string>): number {
  for (let at = from; at < to; at++) {
    const { lower } = tokens[at]!;
    // "Sum up the report" asks for a summary.
    if (names.has(lower) && !(kind === 'sum' && tokens[at + 1]?.lower === 'up')) return at + 1;
    if (kind !== 'count') continue;
    const [next, afterNext] = [tokens[at + 1]?.lower, tokens[at + 2]?.lower ?? ''];
    if (lower === 'how' && next === 'many') return at + 2;
    if (lower === 'number' && next === 'of' && ['rows', 'records', 'entries'].includes(afterNext)) return at + 3;
  }
  return 0;
}

function columnAt(tokens: readonly Token[], from: number, to: number): string | null {
  let at = from;
  const skip = (...names: string[]) => {
    if (at < to && names.includes(tokens[at]!.lower)) at++;
  };
  skip('value', 'number');
  skip('of', 'in', 'for', 'von', 'der', 'des');
  skip('the', 'all', 'column');
  skip('column');
  if (at >= to) return null;
  const name = nameToken(tokens[at]);
  return name === null || noColumn.has(tokens[at]!.lower) ? null : name;
}

function groupingIn(tokens: readonly Token[], from: number, to: number): string | null {
  for (let at = from; at < to; at++) {
    const { lower } = tokens[at]!;
    let next = at + 1;
    if (lower === 'for' && tokens[next]?.lower === 'each') next++;
    else if (lower !== 'by' && lower !== 'per' && lower !== 'nach' && lower !== 'je') continue;
    while (next < at + 4 && ['the', 'each'].includes(tokens[next]?.lower ?? '')) next++;
    const name = next < to ? nameToken(tokens[next]) : null;
    if (name !== null) return name;
  }
  return null;
}

/** "which region has the highest amount": the region; null where no such question is asked. */
function leaderAsked(tokens: readonly Token[], from: number, to: number): string | null {
  for (let at = from; at + 2 < to; at++) {
    if (!['which', 'what', 'welche', 'welcher', 'welches', 'welchen'].includes(tokens[at]!.lower)) continue;
    const name = nameToken(tokens[at + 1]);
    if (name === null || !owning.has(tokens[at + 2]!.lower)) continue;
    const end = Math.min(to, at + 20);
    for (let next = at + 3; next < end; next++) if (superlatives.has(tokens[next]!.lower)) return name;
  }
  return null;
}

/** A column or a value in a text: a word, a figure or a quoted span. */
function nameToken(token: Token | undefined): string | null {
  if (token === undefined || (token.kind !== 'word' && token.kind !== 'quoted' && token.kind !== 'figure')) return null;
  return token.text.length > 100 ? null : token.text;
}
