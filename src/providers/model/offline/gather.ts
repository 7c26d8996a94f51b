/**
 * Gathers the material before anything is written: profiles tables, reads texts page by page, fetches addresses, searches for a question.
 * Limited in files and pages.
 */
import { isDocument } from '../../office/port.ts';
import type { JoinProfile } from '../../table/join.ts';
import { looksLikeTable } from '../../table/looks-like-table.ts';
import { dataTable, isMarkdown } from '../../table/markdown-tables.ts';
import type { TableProfile } from '../../table/table-profile.ts';
import { periodIn } from './asked-period.ts';
import { computedAnswers } from './computed/computed-answers.ts';
import { type Call, type Conversation, findCall, isRecord, textField } from './conversation.ts';
import { measures } from './figure.ts';
import { describeMissing, fileNamesIn, findMentions } from './file-mentions.ts';
import { inlineText } from './inline-text.ts';
import { boundsIn } from './limits.ts';
import { monthsIn } from './month-window.ts';
import type { Orders } from './orders.ts';
import { readTokens } from './prompt-tokens.ts';
import { questionsIn } from './questions.ts';
import { ratioArguments, ratioOfOne, ratioOfTwo } from './ratio-arguments.ts';
import type { Answer, TextMaterial } from './report.ts';
import { promotersIn, scalesIn } from './scales-in-task.ts';
import { sheetIn } from './sheet-in-task.ts';
import { fileMaterial, textMaterial } from './text-material.ts';

export type Hit = { title: string; url: string; snippet: string };

export type Gathered = {
  tables: TableProfile[];
  /** Pairs of tables with a common key. */
  joins: JoinProfile[];
  /** Answers that were computed over the rows of a table, by their questions. */
  computed: ReadonlyMap<string, Answer>;
  /** Some of them compare with a limit. */
  computedLimits: boolean;
  texts: TextMaterial[];
  unreadable: { name: string; reason: string }[];
  hits: Hit[];
  /** Sentences on files that were requested by name and do not exist. */
  absent: string[];
  /** Why a search had no result. */
  searchProblem: string | null;
};

const maxFiles = 10;
const maxPages = 8;
const pagesFollowed = 3;
const callsAtOnce = 10;
const maxRelated = 3;
const maxNamedMeasures = 4;
const comparisonPattern =
  /\b(?:compare|comparison|both|together|join|merge|match|reconcile|against|versus|vs|between|beide|vergleiche?|abgleich|zusammen)\b/;
/** Four tables give six pairs. */
const maxPairs = 6;
/** Files that this model writes itself are not material. */
const ownFiles = /^(?:report|summary)\.md$|^analysis\.json$|^chart\.svg$|^output\.json$/i;
const tableFile = /\.(?:csv|tsv|tab|psv|json|jsonl|ndjson|geojson|xlsx)$/i;
/** Tables among which chains of three are searched. */
const maxChained = 4;
const officeFile = /\.(?:pdf|doc|odt)$/i;
const officeHint = '. Save it as text, Markdown or CSV and upload that';
const otherWorkbook = /\.(?:xls|ods)$/i;
const workbookReason = 'Spreadsheets of this kind are not read. Open it, save it as XLSX, and upload that';
const mediaFile = /\.(?:png|jpe?g|gif|webp|svg|ico|mp[34]|wav|mov|avi|zip|gz|tar|7z|exe|bin|wasm|parquet|sqlite|db)$/i;

/** The calls still to be made, or their results. */
export function gather(conversation: Conversation, orders: Orders, ownReport: string | null): { calls: Call[] } | Gathered {
  const found: Gathered = {
    tables: [],
    joins: [],
    computed: new Map(),
    computedLimits: false,
    texts: [],
    unreadable: [],
    hits: [],
    absent: [],
    searchProblem: null,
  };
  if (conversation.offered.has('list_files') && findCall(conversation, 'list_files') === undefined)
    return { calls: [{ name: 'list_files', args: {} }] };
  const calls: Call[] = [];
  for (const name of chooseFiles(conversation, orders, found, ownReport)) calls.push(...readFile(conversation, name, found));
  if (calls.length > 0) return { calls: calls.slice(0, callsAtOnce) };
  const named = namedMeasures([conversation.task, ...conversation.guidance].join('\n'), found.tables);
  found.tables = found.tables.map((table) => ({
    ...table,
    columns: table.columns.map((column) => (named.includes(column.name) ? { ...column, is_asked: true as const } : column)),
  }));
  const computed = computedAnswers(conversation, profiledTables(conversation, found));
  if ('calls' in computed) return computed;
  found.computed = computed.answers;
  found.computedLimits = computed.hasLimits;
  const profiling = ratioProfiles(conversation, found);
  if (profiling.length > 0) return { calls: profiling };
  const joining = [...relatedTables(conversation, found), ...joinTables(conversation, found, named)];
  if (joining.length > 0) return { calls: joining.slice(0, callsAtOnce) };
  const search = searched(conversation, orders.search, found);
  if (search !== null) return { calls: [search] };
  const pages = [...orders.urls, ...found.hits.slice(0, pagesFollowed).map(({ url }) => url)];
  for (const url of pages) calls.push(...fetchPage(conversation, url, found));
  if (calls.length > 0) return { calls };
  const inline = inlineText(conversation.task);
  if (inline !== null && found.tables.length + found.texts.length === 0)
    found.texts.push(textMaterial('the text of the task', inline, inline.length));
  return found;
}

/** Names of the workspace's files, if they were listed; otherwise null. */
export function listedFiles(conversation: Conversation): string[] | null {
  const listing = findCall(conversation, 'list_files');
  if (listing === undefined || listing.outcome !== 'done') return null;
  const rows = Array.isArray(listing.result)
    ? listing.result
    : isRecord(listing.result)
      ? Object.values(listing.result).find(Array.isArray)
      : null;
  if (!Array.isArray(rows)) return [];
  return rows.map((row) => textField(row, 'name', 'path', 'filename')).filter((name): name is string => name !== null);
}

/** The text of a file read page by page: the next call, the text, or the reason for its absence. */
export function pagedText(
  conversation: Conversation,
  path: string,
): { call: Call } | { text: string; totalChars: number } | { reason: string } {
  let text = '';
  let offset = 0;
  for (let page = 0; page < maxPages; page++) {
    const args = offset === 0 ? { path } : { path, offset };
    const past = conversation.past.find(
      (call) => call.name === 'read_file' && call.args.path === path && (call.args.offset ?? 0) === offset,
    );
    if (past === undefined)
      return conversation.offered.has('read_file')
        ? { call: { name: 'read_file', args } }
        : { reason: 'I was not offered the tool read_file.' };
    if (past.outcome !== 'done') return text === '' ? { reason: past.resultText } : { text, totalChars: offset };
    text += textField(past.result, 'text', 'content') ?? '';
    const { next_offset: next, total_chars: total } = isRecord(past.result) ? past.result : {};
    const totalChars = typeof total === 'number' ? total : text.length;
    if (typeof next !== 'number' || next <= offset || page === maxPages - 1) return { text, totalChars };
    offset = next;
  }
  return { text, totalChars: text.length };
}

function chooseFiles(conversation: Conversation, orders: Orders, found: Gathered, ownReport: string | null): string[] {
  const request = [conversation.task, ...conversation.guidance].join('\n');
  const listed = listedFiles(conversation);
  if (listed === null)
    return fileNamesIn(request)
      .filter((name) => tableFile.test(name) || /\.(?:txt|md|log|eml|rst|html?)$/i.test(name))
      .slice(0, maxFiles);
  const inputs = listed.filter((name) => name !== ownReport);
  const { named, missing } = findMentions(request, inputs);
  found.absent.push(...missing.map((each) => describeMissing(each, inputs)));
  const chosen = [...new Set([...named, ...missing.flatMap(({ instead }) => instead ?? [])])];
  if (chosen.length > 0) return chosen.slice(0, maxFiles);
  // A question about the outside world does not mean the files, unless it names them.
  if (missing.length > 0 || orders.urls.length > 0 || orders.search !== null) return [];
  const rest = listed.filter((name) => !ownFiles.test(name) && name !== ownReport);
  for (const name of rest.slice(maxFiles)) found.unreadable.push({ name, reason: `Only the first ${maxFiles} files are read.` });
  return rest.slice(0, maxFiles);
}

function readFile(conversation: Conversation, name: string, found: Gathered): Call[] {
  if (mediaFile.test(name)) {
    found.unreadable.push({ name, reason: 'The offline model reads tables and texts only.' });
    return [];
  }
  if (isMarkdown(name) || isDocument(name)) return readMarkdown(conversation, name, found);
  const known = tableFile.test(name) || looksLikeTable(firstPage(conversation, name));
  if (known && conversation.offered.has('profile_table')) {
    const profiled = profileOf(conversation, name);
    if (Array.isArray(profiled)) return profiled;
    if (profiled !== null) {
      found.tables.push(profiled, ...profiled.nested);
      return [];
    }
    // A JSON file without a table can still be read as text; a broken CSV cannot.
    if (tableFile.test(name) && !/\.json$/i.test(name)) {
      found.unreadable.push({ name, reason: profileCall(conversation, name)!.resultText });
      return [];
    }
  }
  if (otherWorkbook.test(name)) {
    found.unreadable.push({ name, reason: workbookReason });
    return [];
  }
  const read = pagedText(conversation, name);
  if ('call' in read) return [read.call];
  if ('reason' in read) found.unreadable.push({ name, reason: `${read.reason}${officeFile.test(name) ? officeHint : ''}` });
  else {
    const { material, problem } = fileMaterial(name, read.text, read.totalChars);
    if (problem !== null) found.unreadable.push({ name, reason: problem });
    found.texts.push(material);
  }
  return [];
}

/** A text; if it has a table of figures, a table and the text around it. */
function readMarkdown(conversation: Conversation, name: string, found: Gathered): Call[] {
  const read = pagedText(conversation, name);
  if ('call' in read) return [read.call];
  if ('reason' in read) {
    found.unreadable.push({ name, reason: read.reason });
    return [];
  }
  const lines = read.text.split('\n');
  const table = dataTable(lines);
  const profiled = table === null ? null : profileOf(conversation, name);
  if (Array.isArray(profiled)) return profiled;
  if (table !== null && profiled !== null) {
    found.tables.push(profiled);
    // Empty lines in place of the table keep the numbers of the lines below it.
    lines.fill('', table.start, table.end);
  }
  found.texts.push(textMaterial(name, lines.join('\n'), read.totalChars, read.text.length));
  return [];
}

/** The profile of a table, or the call that makes it; null if there is none. */
function profileOf(conversation: Conversation, name: string): Call[] | TableProfile | null {
  if (!conversation.offered.has('profile_table')) return null;
  const past = profileCall(conversation, name);
  const request = [conversation.task, ...conversation.guidance].join('\n');
  if (past === undefined)
    return [
      {
        name: 'profile_table',
        args: {
          path: name,
          ...boundsIn(request),
          ...monthsIn(request),
          ...periodIn(request),
          ...scalesIn(request),
          ...promotersIn(request),
        },
      },
    ];
  if (past.outcome !== 'done' || !isProfile(past.result)) return null;
  // The names of the sheets are known only from the first profile.
  const sheet = past.args.sheet === undefined ? sheetIn(request, past.result.sheets ?? []) : null;
  return sheet === null ? past.result : [{ name: 'profile_table', args: { ...past.args, sheet } }];
}

/** The tables of files, without the lists in their records. */
function profiledTables(conversation: Conversation, found: Gathered): TableProfile[] {
  return found.tables.filter(({ name, rows }) => rows > 0 && conversation.past.some(({ args }) => args.path === name));
}

/** The columns are known only when all tables are: a requested ratio of two columns needs a second profile of their table. */
function ratioProfiles(conversation: Conversation, found: Gathered): Call[] {
  const tables = profiledTables(conversation, found);
  const request =
    found.computed.size === 0
      ? conversation.task
      : questionsIn(conversation.task)
          .filter((question) => !found.computed.has(question))
          .join('\n');
  const asked = ratioOfOne([request, ...conversation.guidance].join('\n'), tables);
  const past = asked === null ? undefined : profileCall(conversation, asked.table);
  if (asked === null || past === undefined || past.args.ratio_of !== undefined) return [];
  return [{ name: 'profile_table', args: { ...past.args, ...ratioArguments(asked.ratio) } }];
}

function profileCall(conversation: Conversation, name: string) {
  return conversation.past.findLast(
    (call) =>
      call.name === 'profile_table' && call.args.path === name && call.args.compare_with === undefined && call.args.queries === undefined,
  );
}

/** The part of a file that was read so far; a table may have any name. */
function firstPage(conversation: Conversation, name: string): string {
  const past = conversation.past.find((call) => call.name === 'read_file' && call.args.path === name && (call.args.offset ?? 0) === 0);
  return past?.outcome === 'done' ? (textField(past.result, 'text', 'content') ?? '') : '';
}

/**
 * A task that names a subject and no file ("what is our stock worth?"), or asks for a comparison, may mean a second file: files with a
 * common key are read too.
 */
function relatedTables(conversation: Conversation, found: Gathered): Call[] {
  const request = [conversation.task, ...conversation.guidance].join('\n').toLowerCase();
  const [only] = found.tables.filter(({ name }) => conversation.past.some(({ args }) => args.path === name));
  const read = new Set([...found.tables, ...found.texts, ...found.unreadable].map(({ name }) => name));
  if (only === undefined || only.rows === 0 || [...read].filter((name) => tableFile.test(name)).length !== 1) return [];
  if (request.includes(only.name.toLowerCase()) && !comparisonPattern.test(request)) return [];
  const others = (listedFiles(conversation) ?? []).filter((name) => tableFile.test(name) && !ownFiles.test(name) && !read.has(name));
  if (others.length > maxRelated) return [];
  const calls: Call[] = [];
  for (const name of others) {
    const args = { path: only.name, compare_with: name };
    const past = findCall(conversation, 'profile_table', args);
    if (past === undefined) calls.push({ name: 'profile_table', args });
    else if (past.outcome === 'done' && isRecord(past.result) && isRecord(past.result.key))
      calls.push(...readFile(conversation, name, found));
  }
  return calls;
}

/** Each pair of tables is searched for a common key. @param named the columns that the figures should be about */
function joinTables(conversation: Conversation, found: Gathered, named: readonly string[]): Call[] {
  const profiled = profiledTables(conversation, found);
  const names = profiled.map(({ name }) => name);
  const request = [conversation.task, ...conversation.guidance].join('\n');
  const period = periodIn(request);
  const asked = { ...period, ...(named.length === 0 ? {} : { measures: named }) };
  const workbooks = profiled.filter(({ sheets = [], nested }) => sheets.length > 1 && nested.length > 0).map(({ name }) => [name, name]);
  const pairs = [...names.flatMap((left, i) => names.slice(i + 1).map((right) => [left, right])), ...workbooks].map(([path, other]) => ({
    path: path!,
    compare_with: other!,
    ...asked,
  }));
  const calls: Call[] = [];
  for (const args of pairs.slice(0, maxPairs)) {
    const past = conversation.past.findLast(
      (call) =>
        call.name === 'profile_table' &&
        call.args.path === args.path &&
        call.args.compare_with === args.compare_with &&
        call.args.extended_by === undefined,
    );
    if (past === undefined) calls.push({ name: 'profile_table', args });
    else if (past.outcome === 'done' && isRecord(past.result) && isRecord(past.result.key)) {
      const ratio = past.args.ratio_of === undefined ? ratioOfTwo(request, profiled, args.path, args.compare_with) : null;
      if (ratio !== null) calls.push({ name: 'profile_table', args: { ...args, ...ratioArguments(ratio) } });
      else found.joins.push(past.result as unknown as JoinProfile);
    }
  }
  return calls.length > 0 ? calls : chains(conversation, found);
}

/** The columns of numbers whose names stand in the request as they are written in the file. */
function namedMeasures(request: string, tables: readonly TableProfile[]): string[] {
  const written = new Set(readTokens(request).map(({ lower }) => lower));
  const named = tables.flatMap(measures).filter(({ name }) => written.has(name.toLowerCase()));
  return [...new Set(named.map(({ name }) => name))].slice(0, maxNamedMeasures);
}

/** If one table leads to another and that one to a third, the first is grouped by the third's columns. */
function chains(conversation: Conversation, found: Gathered): Call[] {
  const linked = (one: string, other: string) =>
    found.joins.some(({ left, right }) => (left === one && right === other) || (left === other && right === one));
  const names = [...new Set(found.joins.flatMap(({ left, right }) => [left, right]))].slice(0, maxChained);
  const calls: Call[] = [];
  for (const path of names) {
    for (const middle of names.filter((name) => linked(path, name))) {
      for (const last of names.filter((name) => name !== path && linked(middle, name) && !linked(path, name))) {
        const args = { path, compare_with: middle, extended_by: last };
        const past = findCall(conversation, 'profile_table', args);
        if (past === undefined) calls.push({ name: 'profile_table', args });
        else if (past.outcome === 'done' && isRecord(past.result) && isRecord(past.result.key))
          found.joins.push(past.result as unknown as JoinProfile);
      }
    }
  }
  return calls;
}

function searched(conversation: Conversation, query: string | null, found: Gathered): Call | null {
  if (query === null) return null;
  if (!conversation.offered.has('web_search')) {
    found.searchProblem = 'I was not offered the tool web_search.';
    return null;
  }
  const past = findCall(conversation, 'web_search', { query });
  if (past === undefined) return { name: 'web_search', args: { query } };
  const rows =
    isRecord(past.result) && Array.isArray(past.result.results) ? past.result.results : Array.isArray(past.result) ? past.result : [];
  if (past.outcome !== 'done') found.searchProblem = past.resultText;
  else if (rows.length === 0) found.searchProblem = `The search for "${query}" found nothing.`;
  for (const row of rows.slice(0, 10)) {
    const url = textField(isRecord(row) ? row : null, 'url', 'link');
    if (url !== null)
      found.hits.push({ url, title: textField(row, 'title') ?? url, snippet: textField(row, 'snippet', 'content', 'description') ?? '' });
  }
  return null;
}

function fetchPage(conversation: Conversation, url: string, found: Gathered): Call[] {
  if (!conversation.offered.has('fetch_url')) {
    found.unreadable.push({ name: url, reason: 'I was not offered the tool fetch_url.' });
    return [];
  }
  const past = findCall(conversation, 'fetch_url', { url });
  if (past === undefined) return [{ name: 'fetch_url', args: { url } }];
  const text = past.outcome === 'done' ? textField(past.result, 'text', 'content', 'markdown', 'body') : null;
  if (text === null) found.unreadable.push({ name: url, reason: past.resultText });
  else found.texts.push(textMaterial(url, text, text.length));
  return [];
}

function isProfile(result: unknown): result is TableProfile {
  return isRecord(result) && typeof result.rows === 'number' && Array.isArray(result.columns) && Array.isArray(result.groups);
}
