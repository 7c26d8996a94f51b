/** Checks a model's arguments of a tool call, and describes errors in a text that a model can act on. */
import type { TObject } from 'typebox';
import { Value } from 'typebox/value';
import { unstorableMessage, unstorablePaths } from '../../../storable-text.ts';

const maxProblems = 5;

/**
 * Arguments that match the tool's schema: unknown fields are dropped, `"5"` is accepted as 5 if a number is required. A string means
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
  const args = Value.Convert(tool.parameters, Value.Clean(tool.parameters, structuredClone(given)));
  const unstorable = unstorableArguments(args);
  if (unstorable.length > 0) return refused(tool, unstorable);
  if (Value.Check(tool.parameters, args)) return { ok: true, args: args as Record<string, unknown> };
  const problems = Value.Errors(tool.parameters, args).map(
    (error) => `${error.instancePath.slice(1).replaceAll('/', '.') || 'the arguments'}: ${error.message}`,
  );
  return refused(tool, problems);
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
