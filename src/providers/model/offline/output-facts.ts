/** Known facts, by the names that a JSON Schema may use. */
import { mainMeasure } from './figure.ts';
import { findings } from './findings.ts';
import type { Gathered } from './gather.ts';

/** Values by name, in lower case with underscores; records of lists under `name[]`. */
export type Facts = ReadonlyMap<string, unknown>;

/** Figures by the names that a schema may use, in lower case with underscores. */
export function knownFacts(material: Gathered | null, said: readonly string[]): Facts {
  const facts = new Map<string, unknown>();
  const learn = (name: string, value: unknown) => {
    const key = normal(name);
    if (!facts.has(key)) facts.set(key, value);
  };
  for (const table of material?.tables ?? []) {
    const main = mainMeasure(table);
    learn('rows', table.rows);
    learn('row_count', table.rows);
    learn(
      'columns',
      table.columns.map(({ name }) => name),
    );
    learn(
      'column_names',
      table.columns.map(({ name }) => name),
    );
    learn('column_count', table.column_count);
    learn(
      'missing',
      table.columns.reduce((sum, { missing }) => sum + missing, 0),
    );
    for (const name of ['findings', 'insights', 'highlights']) learn(name, findings(table));
    for (const { name, numbers, missing, dates } of [...(main === undefined ? [] : [main]), ...table.columns]) {
      learn(`missing_${name}`, missing);
      if (dates !== undefined) learn(`first_${name}`, dates.first);
      if (dates !== undefined) learn(`last_${name}`, dates.last);
      if (numbers === undefined) continue;
      for (const [word, value] of figureWords(numbers)) {
        learn(`${word}_${name}`, value);
        learn(`${name}_${word}`, value);
        if (name === main?.name) learn(word, value);
      }
    }
    for (const { by, values } of table.groups) {
      if (main === undefined) continue;
      const ranked = values
        .filter(({ figures }) => figures[main.name] !== undefined)
        .toSorted((a, b) => b.figures[main.name]!.sum - a.figures[main.name]!.sum);
      const sums = Object.fromEntries(ranked.map(({ value, figures }) => [value, figures[main.name]!.sum]));
      for (const name of [`top_${by}`, `best_${by}`, `largest_${by}`]) learn(name, ranked[0]?.value);
      for (const name of [`by_${by}`, `${main.name}_by_${by}`, `sum_${main.name}_by_${by}`, `sum_by_${by}`]) learn(name, sums);
    }
  }
  const texts = material?.texts ?? [];
  const names = [...(material?.tables ?? []), ...texts].map(({ name }) => name);
  learn('files', names);
  learn('file', names[0]);
  const words = texts.length > 0 ? texts.flatMap(({ summary }) => summary.sentences).join(' ') : said.join(' ');
  for (const name of ['summary', 'description', 'text', 'result', 'answer']) learn(name, words);
  learn(
    'keywords',
    texts.flatMap(({ summary }) => summary.keywords.map(([word]) => word)),
  );
  learn(
    'words',
    texts.reduce((sum, { summary }) => sum + summary.words, 0),
  );
  for (const { facts: found, summary } of texts) {
    const quotes = (list: readonly { text: string }[]) => list.map(({ text }) => text);
    const learnAll = (keys: string, value: unknown) => {
      for (const key of keys.split(' ')) learn(key, value);
    };
    learnAll('lines line_count number_of_lines', found.lines);
    learnAll('word_count number_of_words', summary.words);
    learnAll('sentence_count number_of_sentences', summary.sentenceCount);
    if (found.date?.iso !== undefined && found.date.iso !== null) learnAll('date meeting_date document_date', found.date.iso);
    learnAll('decisions', quotes(found.decisions));
    learnAll('questions open_questions', quotes(found.questions));
    learnAll('risks blockers', quotes(found.risks));
    learnAll('people participants attendees names', [...new Set(quotes(found.people))]);
    learnAll('absent apologies', quotes(found.absent));
    learnAll('emails email_addresses e_mails', quotes(found.addresses));
    learnAll('urls links', quotes(found.urls));
    learnAll('dates', [...new Set(found.dates.map(({ iso, written }) => iso ?? written))]);
    learnAll(
      'figures numbers amounts',
      found.figures.map(({ written }) => written),
    );
    learnAll(
      'actions action_items tasks todos next_steps',
      found.actions.map(({ who, what }) => (who === null || what.startsWith(who) ? what : `${who}: ${what}`)),
    );
    learnAll('decision_count number_of_decisions', found.decisions.length);
    learnAll('action_count number_of_actions', found.actions.length);
    if (found.log !== null) {
      learnAll('entries entry_count', found.log.entries);
      learnAll('errors error_count number_of_errors', found.log.errors);
      learnAll('warnings warning_count', found.log.levels.find(([level]) => level === 'WARN')?.[1] ?? 0);
      learnAll('first_error', found.log.firstError?.message);
      learnAll('last_error', found.log.lastError?.message);
      learnAll('levels', Object.fromEntries(found.log.levels));
    }
  }
  learn('title', names.length > 0 ? `Report: ${names.join(', ')}` : undefined);
  learnRecords(facts, material);
  return facts;
}

/** Lists of records with the possible names of each entry, so that a schema's own names can be filled. */
export type KnownRecords = { records: ReadonlyMap<string, unknown>[] };

function learnRecords(facts: Map<string, unknown>, material: Gathered | null): void {
  const all = (material?.texts ?? []).map(({ facts: found }) => found);
  const record = (fields: Record<string, unknown>) =>
    new Map(Object.entries(fields).flatMap(([keys, value]) => (value === null ? [] : keys.split(' ').map((key) => [key, value] as const))));
  const learn = (keys: string, records: ReadonlyMap<string, unknown>[]) => {
    for (const key of keys.split(' ')) facts.set(`${key}[]`, { records } satisfies KnownRecords);
  };
  if (all.length === 0) return;
  learn(
    'actions action_items tasks todos next_steps',
    all.flatMap(({ actions }) =>
      actions.map(({ who, what, due, iso, done, line }) =>
        record({
          'owner who assignee responsible assigned_to person': who,
          'task action what description title text item': what,
          'due deadline due_date by_when date by': iso ?? due,
          'due_text deadline_text': due,
          'done completed': done,
          'line line_number': line,
        }),
      ),
    ),
  );
  const quoted = (list: readonly { text: string; line: number }[]) =>
    list.map(({ text, line }) => record({ 'text decision description title question quote risk name': text, 'line line_number': line }));
  learn('decisions', quoted(all.flatMap(({ decisions }) => decisions)));
  learn('questions open_questions', quoted(all.flatMap(({ questions }) => questions)));
  learn('risks', quoted(all.flatMap(({ risks }) => risks)));
  learn('people participants attendees', quoted(all.flatMap(({ people }) => people)));
  learn(
    'dates',
    all.flatMap(({ dates }) =>
      dates.map(({ iso, written, text, line }) =>
        record({
          'date iso value': iso ?? written,
          'written as_written': written,
          'text context quote event description': text,
          'line line_number': line,
        }),
      ),
    ),
  );
}

function figureWords(numbers: {
  sum: number;
  mean: number;
  median: number;
  min: number;
  max: number;
  count: number;
  outliers: { count: number };
}): [string, number][] {
  const { sum, mean, median, min, max, count, outliers } = numbers;
  return [
    ['sum', sum],
    ['total', sum],
    ['mean', mean],
    ['average', mean],
    ['avg', mean],
    ['median', median],
    ['min', min],
    ['max', max],
    ['count', count],
    ['outliers', outliers.count],
  ];
}

/** A property's name in the form of facts: `sumAmount` and `Sum of amount` become `sum_amount` and `sum_of_amount`. */
export function normal(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_');
}
