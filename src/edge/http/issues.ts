/** Converts a validator's findings to the issues of a 422, in the types and texts of Pydantic, which generated clients know. */
import type { TLocalizedValidationError } from 'typebox/error';
import type { Issue } from '../../errors.ts';

export const maxIssues = 20;
const maxInputChars = 200;
const secretNames = /pass|token|secret|key|code|cvv|credential/i;

/**
 * @param part where the value came from: the first entry of every `loc`
 * @param schema the schema of `value`, for details that the findings leave out
 */
export function issuesOf(part: string, schema: unknown, value: unknown, errors: readonly TLocalizedValidationError[]): Issue[] {
  const issues: Issue[] = [];
  for (const error of foldUnions(schema, errors)) {
    const path = pointerPath(error.instancePath, value);
    if (error.keyword === 'required') {
      for (const name of error.params.requiredProperties) issues.push(missing([part, ...path.map(String), name]));
    } else {
      const input = valueAt(value, path);
      const { type, msg, ctx = {} } = wording(error, input);
      issues.push({ loc: [part, ...path.map(String)], msg, type, input: shownInput(path, input), ctx });
    }
    if (issues.length >= maxIssues) break;
  }
  return issues.slice(0, maxIssues);
}

export function missing(loc: string[]): Issue {
  return { loc, msg: 'Field required', type: 'missing', input: null, ctx: {} };
}

/** The part of a refused value that may be shown: no secrets, no long texts; of objects and lists only their type. */
export function shownInput(path: readonly (string | number)[], input: unknown): unknown {
  if (path.some((name) => typeof name === 'string' && secretNames.test(name))) return null;
  if (typeof input === 'string') return input.length > maxInputChars ? `${input.slice(0, maxInputChars).toWellFormed()}…` : input;
  if (Array.isArray(input)) return [];
  return typeof input === 'object' && input !== null ? {} : (input ?? null);
}

type Wording = { type: string; msg: string; ctx?: Record<string, unknown> };
/** A union of constants without a match, combined into one error. */
type Choice = { keyword: 'choice'; instancePath: string; allowed: unknown[] };

/** A failed union reports the errors of every branch: keep those of the branch that was meant, or list what is allowed. */
function foldUnions(schema: unknown, errors: readonly TLocalizedValidationError[]): (TLocalizedValidationError | Choice)[] {
  let folded: (TLocalizedValidationError | Choice)[] = [...errors];
  for (const union of errors) {
    if (union.keyword !== 'anyOf') continue;
    const prefix = `${union.schemaPath}/anyOf/`;
    const isBranch = (error: TLocalizedValidationError | Choice): error is TLocalizedValidationError =>
      error.keyword !== 'choice' && error.schemaPath.startsWith(prefix) && error.instancePath.startsWith(union.instancePath);
    const branches = folded.filter(isBranch).filter((error) => !(error.keyword === 'type' && error.params.type === 'null'));
    const rest = folded.filter((error) => error !== union && !isBranch(error));
    const allowed = constants(valueAt(schema, parts(union.schemaPath)));
    const meant = new Set(branches.map((error) => error.schemaPath.slice(prefix.length).split('/')[0]));
    if (allowed.length > 0) folded = [...rest, { keyword: 'choice', instancePath: union.instancePath, allowed }];
    else if (meant.size === 1) folded = [...rest, ...branches];
    else folded = [...rest, union];
  }
  return folded;
}

/** The constants of a union, with or without null; empty if the union has any other member. */
function constants(union: unknown): unknown[] {
  const branches = ((union as { anyOf?: { const?: unknown; type?: string }[] } | undefined)?.anyOf ?? []).filter(
    ({ type }) => type !== 'null',
  );
  return branches.every((branch) => branch.const !== undefined) ? branches.map((branch) => branch.const) : [];
}

function wording(error: Exclude<TLocalizedValidationError, { keyword: 'required' }> | Choice, input: unknown): Wording {
  switch (error.keyword) {
    case 'type':
      return typeWording(String(error.params.type), input);
    case 'minLength': {
      const n = error.params.limit;
      return { type: 'string_too_short', msg: `String should have at least ${n} ${plural(n)}`, ctx: { min_length: n } };
    }
    case 'maxLength': {
      const n = error.params.limit;
      return { type: 'string_too_long', msg: `String should have at most ${n} ${plural(n)}`, ctx: { max_length: n } };
    }
    case 'pattern': {
      const pattern = String(error.params.pattern);
      return { type: 'string_pattern_mismatch', msg: `String should match pattern '${pattern}'`, ctx: { pattern } };
    }
    case 'minimum':
      return {
        type: 'greater_than_equal',
        msg: `Input should be greater than or equal to ${error.params.limit}`,
        ctx: { ge: error.params.limit },
      };
    case 'exclusiveMinimum':
      return { type: 'greater_than', msg: `Input should be greater than ${error.params.limit}`, ctx: { gt: error.params.limit } };
    case 'maximum':
      return {
        type: 'less_than_equal',
        msg: `Input should be less than or equal to ${error.params.limit}`,
        ctx: { le: error.params.limit },
      };
    case 'exclusiveMaximum':
      return { type: 'less_than', msg: `Input should be less than ${error.params.limit}`, ctx: { lt: error.params.limit } };
    case 'multipleOf':
      return {
        type: 'multiple_of',
        msg: `Input should be a multiple of ${error.params.multipleOf}`,
        ctx: { multiple_of: error.params.multipleOf },
      };
    case 'minItems':
      return { type: 'too_short', msg: `List should have at least ${error.params.limit} items`, ctx: { min_length: error.params.limit } };
    case 'maxItems':
      return { type: 'too_long', msg: `List should have at most ${error.params.limit} items`, ctx: { max_length: error.params.limit } };
    case 'additionalProperties':
      return { type: 'extra_forbidden', msg: 'Extra inputs are not permitted' };
    case 'choice':
      return choiceWording(error.allowed);
    case 'enum':
      return choiceWording(error.params.allowedValues);
    case 'const':
      return choiceWording([error.params.allowedValue]);
    case '~refine':
      return { type: 'value_error', msg: error.params.message, ctx: { error: error.params.message } };
    default:
      return { type: 'value_error', msg: `Input ${error.message}` };
  }
}

const typeWordings: Record<string, Wording> = {
  string: { type: 'string_type', msg: 'Input should be a valid string' },
  integer: { type: 'int_type', msg: 'Input should be a valid integer' },
  number: { type: 'float_type', msg: 'Input should be a valid number' },
  boolean: { type: 'bool_type', msg: 'Input should be a valid boolean' },
  array: { type: 'list_type', msg: 'Input should be a valid list' },
  object: { type: 'dict_type', msg: 'Input should be an object' },
  null: { type: 'none_required', msg: 'Input should be null' },
};

function typeWording(type: string, input: unknown): Wording {
  if (type === 'integer' && typeof input === 'number') {
    return { type: 'int_from_float', msg: 'Input should be a valid integer, got a number with a fractional part' };
  }
  return typeWordings[type] ?? { type: 'value_error', msg: `Input should be of type ${type}` };
}

function choiceWording(allowed: readonly unknown[]): Wording {
  const values = allowed.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)));
  const expected = values.length > 1 ? `${values.slice(0, -1).join(', ')} or ${values.at(-1)}` : (values[0] ?? '');
  return { type: 'enum', msg: `Input should be ${expected}`, ctx: { expected } };
}

export function plural(count: number): string {
  return count === 1 ? 'character' : 'characters';
}

function parts(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** A JSON pointer as a path; array positions become numbers. */
function pointerPath(pointer: string, root: unknown): (string | number)[] {
  const path: (string | number)[] = [];
  let value = root;
  for (const name of parts(pointer)) {
    path.push(Array.isArray(value) ? Number(name) : name);
    value = (value as Record<string, unknown> | undefined)?.[name];
  }
  return path;
}

function valueAt(root: unknown, path: readonly (string | number)[]): unknown {
  let value = root;
  for (const name of path) value = (value as Record<string | number, unknown> | undefined)?.[name];
  return value;
}
