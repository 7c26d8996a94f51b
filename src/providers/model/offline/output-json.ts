/** output.json by a JSON Schema, filled from known figures by the names of its properties. What is not known is null where that is allowed, else empty or zero. */
import { Check } from 'typebox/schema';
import { type Conversation, findCall, isRecord } from './conversation.ts';
import { mainMeasure } from './figure.ts';
import { findings } from './findings.ts';
import type { Gathered } from './gather.ts';
import { nothing, notOffered, over, type Progress } from './job.ts';

type Schema = Record<string, unknown>;
type Facts = ReadonlyMap<string, unknown>;

const marker = 'output.json must satisfy this JSON Schema:';
const deepest = 12;

export function writeOutput(talk: Conversation, material: Gathered | null, said: readonly string[]): Progress {
  const schema = outputSchema(talk.system);
  if (schema === null) return nothing;
  if (!talk.offered.has('write_file')) return notOffered('write_file', 'output.json');
  const { value, unknown } = fillSchema(schema, knownFacts(material, said));
  const gaps =
    unknown.length > 0
      ? [`In output.json these fields are left empty, because I do not know them: ${unknown.slice(0, 20).join(', ')}.`]
      : [];
  if (!satisfies(schema, value)) return over('output.json was not written: the offline model cannot fill its schema truthfully.');
  const args = { path: 'output.json', content: `${JSON.stringify(value, null, 2)}\n` };
  const past = findCall(talk, 'write_file', args);
  if (past === undefined) return { calls: [{ name: 'write_file', args }] };
  return over(past.outcome === 'done' ? 'output.json is written.' : `output.json was not written: ${past.said.slice(0, 300)}`, ...gaps);
}

/** A value of the schema's shape, and the paths of what had to be left empty. It may still miss the schema's finer rules. */
export function fillSchema(schema: Schema, facts: Facts): { value: unknown; unknown: string[] } {
  const unknown: string[] = [];
  return { value: fill(schema, '', facts, schema, unknown, 0), unknown };
}

/** False also for a schema that cannot be read. */
export function satisfies(schema: Schema, value: unknown): boolean {
  try {
    return Check(schema, value);
  } catch {
    return false;
  }
}

function outputSchema(system: string): Schema | null {
  const at = system.indexOf(marker);
  if (at === -1) return null;
  const text = system
    .slice(at + marker.length)
    .trimStart()
    .replace(/^```(?:json)?\s*/, '');
  // The schema ends where the text so far is JSON; what follows it is prose.
  for (let end = text.indexOf('}'); end !== -1; end = text.indexOf('}', end + 1)) {
    try {
      const parsed: unknown = JSON.parse(text.slice(0, end + 1));
      return isRecord(parsed) ? parsed : null;
    } catch {}
  }
  return null;
}

/** Figures by the names a schema may call them, in lower case with underscores. */
function knownFacts(material: Gathered | null, said: readonly string[]): Facts {
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
    texts.flatMap(({ summary }) => summary.keywords),
  );
  learn(
    'words',
    texts.reduce((sum, { summary }) => sum + summary.words, 0),
  );
  learn('title', names.length > 0 ? `Report: ${names.join(', ')}` : undefined);
  return facts;
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

function fill(schema: unknown, path: string, facts: Facts, root: Schema, unknown: string[], depth: number): unknown {
  if (!isRecord(schema) || depth > deepest) return null;
  if (typeof schema.$ref === 'string') return fill(resolve(root, schema.$ref), path, facts, root, unknown, depth + 1);
  if ('const' in schema) return schema.const;
  const name = path.split('.').at(-1) ?? '';
  const fact = facts.get(normal(name));
  if (fact !== undefined && satisfies({ ...schema, $defs: root.$defs, definitions: root.definitions }, fact)) return fact;
  const options = [schema.anyOf, schema.oneOf].find(Array.isArray) as unknown[] | undefined;
  if (options !== undefined)
    return fill(options.find((option) => isRecord(option) && option.type === 'null') ?? options[0], path, facts, root, unknown, depth + 1);
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? (isRecord(schema.properties) ? 'object' : undefined)];
  if (types.includes('object')) return fillObject(schema, path, facts, root, unknown, depth);
  unknown.push(path === '' ? '(all)' : path);
  if (types.includes('null') || types[0] === undefined) return null;
  if (Array.isArray(schema.enum)) return schema.enum.includes(null) ? null : schema.enum[0];
  if (types.includes('array'))
    return Array.from({ length: Math.min(Number(schema.minItems ?? 0), 100) }, () =>
      fill(schema.items ?? {}, path, facts, root, unknown, depth + 1),
    );
  if (types.includes('string')) return '';
  if (types.includes('boolean')) return false;
  return typeof schema.minimum === 'number' && schema.minimum > 0 ? schema.minimum : 0;
}

function fillObject(schema: Schema, path: string, facts: Facts, root: Schema, unknown: string[], depth: number): unknown {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.filter((name): name is string => typeof name === 'string') : [];
  const names = new Set([...Object.keys(properties), ...required]);
  const entries = [...names].flatMap((name): [string, unknown][] => {
    const gaps: string[] = [];
    const value = fill(properties[name] ?? {}, path === '' ? name : `${path}.${name}`, facts, root, gaps, depth + 1);
    // What is neither known nor required is better left out.
    if (gaps.length > 0 && !required.includes(name) && !isRecord(value)) return [];
    unknown.push(...gaps);
    return [[name, value]];
  });
  return Object.fromEntries(entries);
}

function resolve(root: Schema, ref: string): unknown {
  if (!ref.startsWith('#')) return null;
  const steps = ref
    .slice(1)
    .split('/')
    .filter((step) => step !== '');
  return steps.reduce<unknown>((value, step) => (isRecord(value) ? value[step.replaceAll('~1', '/').replaceAll('~0', '~')] : null), root);
}

function normal(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_');
}
