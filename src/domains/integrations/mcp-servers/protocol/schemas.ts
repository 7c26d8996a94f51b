/**
 * Schemas that another server wrote, for checks on this node: without regular expressions, whose cost has no bound, and of bounded size. What cannot be
 * checked is left to the server.
 */
import Schema from 'typebox/schema';

/** Keywords with regular expressions, and with rules that the validator would have to look up elsewhere. */
const unchecked = new Set(['pattern', 'patternProperties', 'format', '$schema', '$id']);
const deepest = 32;
const maxSchemaChars = 64_000;
const maxShown = 5;

/** The errors of a value, as one text; null: it satisfies the schema, or the schema cannot be followed. */
export function problemIn(schema: object, value: unknown): string | null {
  if (JSON.stringify(schema).length > maxSchemaChars) return null;
  const plain = withoutPatterns(schema, 0);
  try {
    const [fits, errors] = Schema.Errors(plain as object, value);
    if (fits) return null;
    return errors
      .slice(0, maxShown)
      .map((error) => `${error.instancePath.slice(1).replaceAll('/', '.') || 'the value'}: ${error.message}`)
      .join('; ')
      .slice(0, 1_000);
  } catch {
    // References to nowhere and in circles are the server's affair.
    return null;
  }
}

function withoutPatterns(part: unknown, depth: number): unknown {
  if (depth > deepest) return true;
  if (Array.isArray(part)) return part.map((item) => withoutPatterns(item, depth + 1));
  if (typeof part !== 'object' || part === null) return part;
  const kept = Object.entries(part).filter(([keyword, value]) => !unchecked.has(keyword) || isSchemaOfProperty(value));
  return Object.fromEntries(kept.map(([keyword, value]) => [keyword, withoutPatterns(value, depth + 1)]));
}

/** A property may be named like a keyword: `{properties: {format: {type: 'string'}}}`. */
function isSchemaOfProperty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && ('type' in value || 'anyOf' in value || 'enum' in value);
}
