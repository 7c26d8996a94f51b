/** Checks a model's arguments of a tool call, and describes errors in a text that a model can act on. */
import type { TObject } from 'typebox';
import { Value } from 'typebox/value';
import { unstorableMessage, unstorablePaths } from '../../../storable-text.ts';

const maxProblems = 5;

/**
 * Arguments that match the tool's schema: unknown fields are dropped, and so is a null where the field takes none; `"5"` is accepted as 5 if a number is required. A string means
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
  const cleaned = Value.Clean(tool.parameters, structuredClone(given)) as Record<string, unknown>;
  const args = Value.Convert(tool.parameters, withoutNulls(tool.parameters, cleaned));
  const unstorable = unstorableArguments(args);
  if (unstorable.length > 0) return refused(tool, unstorable);
  if (Value.Check(tool.parameters, args)) return { ok: true, args: args as Record<string, unknown> };
  return refused(tool, problemsOf(tool.parameters, args));
}

/** Models send null for what they leave out; converted, it would become the text "null". */
function withoutNulls({ properties }: TObject, args: Record<string, unknown>): Record<string, unknown> {
  const isKept = ([name, value]: [string, unknown]) =>
    value !== null || properties[name] === undefined || Value.Check(properties[name], null);
  return Object.fromEntries(Object.entries(args).filter(isKept));
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
