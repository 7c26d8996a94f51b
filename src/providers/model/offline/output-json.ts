/**
 * output.json by a JSON Schema, filled from known facts by the names of its properties. An unknown value is left out, null or empty if the
 * schema allows it; a number, a boolean or a choice is never invented: without it nothing is written.
 */
import { Check } from 'typebox/schema';
import { type Conversation, findCall, isRecord } from './conversation.ts';
import type { Gathered } from './gather.ts';
import { nothing, notOffered, over, type Progress } from './job.ts';
import { type Facts, type KnownRecords, knownFacts, normal } from './output-facts.ts';

type Schema = Record<string, unknown>;

const marker = 'output.json must satisfy this JSON Schema:';
const deepest = 12;
const maxNodes = 2000;
const maxRecords = 100;

export function writeOutput(conversation: Conversation, material: Gathered | null, said: readonly string[]): Progress {
  const schema = outputSchema(conversation.system);
  if (schema === null) return nothing;
  if (!conversation.offered.has('write_file')) return notOffered('write_file', 'output.json');
  const { value, unknown, invented } = fillSchema(schema, knownFacts(material, said));
  if (invented.length > 0)
    return over(
      `output.json was not written: its schema demands values that I do not know and do not make up: ${invented.slice(0, 20).join(', ')}.`,
    );
  const gaps =
    unknown.length > 0
      ? [`In output.json these fields are left empty, because I do not know them: ${unknown.slice(0, 20).join(', ')}.`]
      : [];
  if (!satisfies(schema, value)) return over('output.json was not written: the offline model cannot fill its schema truthfully.');
  const args = { path: 'output.json', content: `${JSON.stringify(value, null, 2)}\n` };
  const past = findCall(conversation, 'write_file', args);
  if (past === undefined) return { calls: [{ name: 'write_file', args }] };
  return over(
    past.outcome === 'done' ? 'output.json is written.' : `output.json was not written: ${past.resultText.slice(0, 300)}`,
    ...gaps,
  );
}

/** A value of the schema's shape, and the paths that had to be left empty. It may still violate the schema's finer rules. */
export function fillSchema(schema: Schema, facts: Facts): { value: unknown; unknown: string[]; invented: string[] } {
  const filling: Filling = { root: schema, facts, invented: [], left: maxNodes };
  const unknown: string[] = [];
  return { value: fill(schema, '', filling, unknown, 0), unknown, invented: filling.invented };
}

/** `left` limits the work: schemas may be recursive. */
type Filling = { root: Schema; facts: Facts; invented: string[]; left: number };

/** Also false for an invalid schema. */
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
  const from = system.indexOf('{', at + marker.length);
  const text = from === -1 ? '' : system.slice(from, objectEnd(system, from));
  try {
    const parsed: unknown = JSON.parse(text);
    return isRecord(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** The end of the JSON object that begins at `from`; one pass, braces in strings do not count. */
function objectEnd(text: string, from: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === '\\' && quoted) at++;
    else if (char === '"') quoted = !quoted;
    else if (!quoted && char === '{') depth++;
    else if (!quoted && char === '}' && --depth === 0) return at + 1;
  }
  return text.length;
}

function fill(schema: unknown, path: string, filling: Filling, unknown: string[], depth: number): unknown {
  if (!isRecord(schema) || depth > deepest || filling.left-- <= 0) return null;
  const { root, facts } = filling;
  if (typeof schema.$ref === 'string') return fill(resolve(root, schema.$ref), path, filling, unknown, depth + 1);
  if ('const' in schema) return schema.const;
  const name = normal(path.split('.').at(-1) ?? '');
  const fact = facts.get(name);
  if (fact !== undefined && satisfies({ ...schema, $defs: root.$defs, definitions: root.definitions }, fact)) return fact;
  const options = [schema.anyOf, schema.oneOf].find(Array.isArray) as unknown[] | undefined;
  if (options !== undefined)
    return fill(options.find((option) => isRecord(option) && option.type === 'null') ?? options[0], path, filling, unknown, depth + 1);
  const types = Array.isArray(schema.type) ? schema.type : [schema.type ?? (isRecord(schema.properties) ? 'object' : undefined)];
  const known = facts.get(`${name}[]`) as KnownRecords | undefined;
  if (types.includes('array') && known !== undefined && isRecord(schema.items))
    return records(schema, known, path, filling, unknown, depth);
  if (types.includes('object')) return fillObject(schema, path, filling, unknown, depth);
  const named = path === '' ? '(all)' : path;
  unknown.push(named);
  if (types.includes('null') || types[0] === undefined) return null;
  if (Array.isArray(schema.enum) && schema.enum.includes(null)) return null;
  if (types.includes('array') && Number(schema.minItems ?? 0) <= 0) return [];
  if (
    types.includes('string') &&
    !Array.isArray(schema.enum) &&
    Number(schema.minLength ?? 0) <= 0 &&
    schema.pattern === undefined &&
    schema.format === undefined
  )
    return '';
  filling.invented.push(named);
  return null;
}

/** A list whose entries are known: each is filled by its own names. */
function records(schema: Schema, known: KnownRecords, path: string, filling: Filling, unknown: string[], depth: number): unknown {
  const most = Math.min(maxRecords, typeof schema.maxItems === 'number' ? schema.maxItems : maxRecords);
  return known.records.slice(0, most).map((facts) => {
    const own: Filling = { ...filling, facts };
    const value = fill(schema.items, path, own, unknown, depth + 1);
    filling.left = own.left;
    return value;
  });
}

function fillObject(schema: Schema, path: string, filling: Filling, unknown: string[], depth: number): unknown {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.filter((name): name is string => typeof name === 'string') : [];
  const names = new Set([...Object.keys(properties), ...required]);
  const entries = [...names].flatMap((name): [string, unknown][] => {
    const gaps: string[] = [];
    const before = filling.invented.length;
    const value = fill(properties[name] ?? {}, path === '' ? name : `${path}.${name}`, filling, gaps, depth + 1);
    const isRequired = required.includes(name);
    // A property that is neither known nor required is left out.
    if (!isRequired) filling.invented.length = before;
    if (gaps.length > 0 && !isRequired && !(isRecord(value) && Object.keys(value).length > 0 && filling.invented.length === before))
      return [];
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
