/** Checks a model's arguments of a tool call, and describes errors in a text that a model can act on. */
import type { TObject, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { unstorableMessage, unstorablePaths } from '../../../storable-text.ts';

const maxProblems = 5;

/**
 * Arguments that match the tool's schema: unknown fields are dropped, and so is, at every depth, a null where the field takes none; `"5"` is accepted as 5 if a number is required. A string means
 * arguments that were not valid JSON. The error names each field and its required form.
 */
export function checkArguments(
  tool: { name: string; parameters: TObject },
  sent: unknown,
): { ok: true; args: Record<string, unknown> } | { ok: false; message: string } {
  const given = sent === undefined || sent === null || sent === '' ? {} : sent;
  if (typeof given !== 'object' || Array.isArray(given)) {
    return refused(tool, [typeof given === 'string' ? 'the arguments are not valid JSON' : 'the arguments must be a JSON object']);
  }
  const args = Value.Convert(tool.parameters, Value.Clean(tool.parameters, withoutNulls(tool.parameters, structuredClone(given))));
  const unstorable = unstorableArguments(args);
  if (unstorable.length > 0) return refused(tool, unstorable);
  if (Value.Check(tool.parameters, args)) return { ok: true, args: args as Record<string, unknown> };
  return refused(tool, problemsOf(tool.parameters, args));
}

/** The keywords with schemas of parts of a value. */
type Parts = TSchema & {
  properties?: Record<string, TSchema>;
  patternProperties?: Record<string, TSchema>;
  items?: TSchema;
  anyOf?: TSchema[];
};

/**
 * Models send null for what they leave out; converted, it would become the text "null". An element of a list stays: the elements after it
 * would change their places.
 */
function withoutNulls(schema: Parts, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { anyOf, items, properties = {}, patternProperties = {} } = schema;
  if (anyOf !== undefined) {
    const choices = anyOf.map((choice) => withoutNulls(choice, value));
    return choices.find((choice, at) => Value.Check(anyOf[at]!, choice)) ?? value;
  }
  if (Array.isArray(value)) return items === undefined ? value : value.map((one) => withoutNulls(items, one));
  // All fields of a record have one schema.
  const [ofRecord] = Object.values(patternProperties);
  const fields = Object.entries(value).flatMap(([name, field]) => {
    const part = Object.hasOwn(properties, name) ? properties[name] : ofRecord;
    if (part === undefined) return [[name, field]];
    return field === null && !Value.Check(part, null) ? [] : [[name, withoutNulls(part, field)]];
  });
  return Object.fromEntries(fields);
}

function problemsOf(parameters: TObject, args: unknown): string[] {
  const byPath = Map.groupBy(Value.Errors(parameters, args), ({ instancePath }) => instancePath);
  return [...byPath].flatMap(([path, errors]) => {
    const name = path.slice(1).replaceAll('/', '.') || 'the arguments';
    const allowed = errors.flatMap(({ keyword, params }) => (keyword === 'const' ? [JSON.stringify(params.allowedValue)] : []));
    const isChoice = errors.every(({ keyword }) => keyword === 'const' || keyword === 'anyOf');
    if (allowed.length > 0 && isChoice) return [`${name}: must be one of ${allowed.join(', ')}`];
    return errors.map(({ message }) => `${name}: ${message}`);
  });
}

/** The arguments with text that cannot be stored: REST refuses it, so an agent's call must not bring it in either. */
export function unstorableArguments(args: unknown): string[] {
  return unstorablePaths(args, maxProblems).map((path) => `${path.join('.') || 'the arguments'}: ${unstorableMessage}`);
}

function refused(tool: { name: string; parameters: TObject }, problems: string[]): { ok: false; message: string } {
  const required = new Set<string>(tool.parameters.required ?? []);
  const fields = Object.keys(tool.parameters.properties).map((name) => (required.has(name) ? name : `${name} (optional)`));
  const expected = fields.length > 0 ? `a JSON object with ${fields.join(', ')}` : 'an empty JSON object';
  return { ok: false, message: `Wrong arguments for ${tool.name}: ${problems.slice(0, maxProblems).join('; ')}. Expected: ${expected}.` };
}
