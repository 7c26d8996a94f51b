/** Validates input against the schemas of its route; the OpenAPI description uses the same schemas. */
import Type, { type TNumberOptions, type TObject, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Format } from 'typebox/format';
import { Settings } from 'typebox/system';
import { isEmailAddress } from '../../email.ts';
import type { Issue } from '../../errors.ts';
import { isMoney } from '../../money.ts';
import { isStorable } from '../../storable-text.ts';
import { issuesOf, maxIssues, missing, shownInput } from './issues.ts';
import { sizeIssues } from './size-bounds.ts';

// TypeBox stops at 8 errors by default; a failed union alone reports one for every branch.
Settings.Set({ maxErrors: 100 });
// TypeBox's own format accepts ASCII only.
Format.Set('email', isEmailAddress);

/** Returns the checked value: defaults filled in, unknown fields removed. Errors are added to `issues`. */
export type Check = (value: unknown, issues: Issue[]) => unknown;
/** All text values of a name; empty where it is absent. */
export type TextSource = (name: string) => readonly string[];
export type TextCheck = (source: TextSource, issues: Issue[]) => Record<string, unknown>;

/** An amount of money in major units: a JSON number with at most two decimals. */
export function Money(options: TNumberOptions = {}) {
  const schema = Type.Number({ minimum: 0, maximum: 10_000_000_000, description: 'Major units, at most two decimals', ...options });
  return Type.Refine(
    schema,
    (value) => isMoney(value),
    () => 'Amounts have at most two decimals',
  );
}

/** The name of a field that the client chooses: a record of plain texts skips names with a line break, whose values would be dropped. */
export const AnyName = Type.String({ pattern: '^[\\s\\S]*$' });

/** For JSON bodies. A missing body counts as `{}` where the schema requires nothing. */
export function compileBody(schema: TSchema): Check {
  const validator = Compile(schema);
  const fills = hasDefaults(schema);
  const isEmptyValid = (schema as { type?: string }).type === 'object' && validator.Check({});
  return (given, issues) => {
    let value = given;
    if (value === undefined) {
      if (!isEmptyValid) {
        issues.push(missing(['body']));
        return value;
      }
      value = {};
    }
    const tooLong = sizeIssues(schema, value, maxIssues);
    if (tooLong.length > 0) {
      issues.push(...tooLong);
      return value;
    }
    if (fills) value = validator.Default(value);
    if (validator.Check(value)) return validator.Clean(value);
    issues.push(...issuesOf('body', schema, value, validator.Errors(value)));
    return value;
  };
}

/** For query, path and headers, which arrive as text: numbers and booleans are parsed strictly, then checked like a body. */
export function compileText(part: 'query' | 'path' | 'header', schema: TObject): TextCheck {
  const validator = Compile(schema);
  const fields = Object.entries(schema.properties as Record<string, JsonSchema>);
  const fills = hasDefaults(schema);
  return (source, issues) => {
    const values: Record<string, unknown> = {};
    const before = issues.length;
    for (const [name, field] of fields) {
      const texts = source(name);
      if (texts.length > 0)
        values[name] = field.type === 'array' ? texts.map((text) => parse(field.items ?? {}, text)) : parse(field, texts.at(-1)!);
    }
    const unreadable = new Set<string>();
    for (const [name, value] of Object.entries(values)) {
      for (const item of Array.isArray(value) ? value : [value]) {
        if (!(item instanceof Unreadable)) continue;
        unreadable.add(name);
        issues.push({ loc: [part, name], msg: item.msg, type: item.type, input: shownInput([name], item.text), ctx: {} });
      }
    }
    const filled = (fills ? validator.Default(values) : values) as Record<string, unknown>;
    if (validator.Check(filled)) return filled;
    for (const issue of issuesOf(part, schema, filled, validator.Errors(filled)))
      if (!unreadable.has(String(issue.loc[1]))) issues.push(issue);
    if (issues.length === before) issues.push({ loc: [part], msg: 'Input is not valid', type: 'value_error', input: null, ctx: {} });
    return filled;
  };
}

type JsonSchema = { type?: string; items?: JsonSchema };

/** Replaces a text that cannot be parsed as its schema's type; no schema accepts it. */
class Unreadable {
  readonly text: string;
  readonly type: string;
  readonly msg: string;

  constructor(text: string, type: string, msg: string) {
    this.text = text;
    this.type = type;
    this.msg = msg;
  }
}

function parse({ type }: JsonSchema, text: string): unknown {
  if (!isStorable(text)) return new Unreadable('', 'value_error', 'Text must not hold NUL characters');
  if (type === 'integer') {
    const value = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(value)) return value;
    return new Unreadable(text, 'int_parsing', 'Input should be a valid integer, unable to parse string as an integer');
  }
  if (type === 'number') {
    if (/^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
    return new Unreadable(text, 'float_parsing', 'Input should be a valid number, unable to parse string as a number');
  }
  if (type === 'boolean') {
    if (text === 'true' || text === 'false') return text === 'true';
    return new Unreadable(text, 'bool_parsing', 'Input should be a valid boolean, unable to interpret input');
  }
  return text;
}

function hasDefaults(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  return Object.hasOwn(schema, 'default') || Object.values(schema).some(hasDefaults);
}
