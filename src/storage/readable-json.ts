/**
 * A `json` column keeps its text unchanged, also escapes that PostgreSQL cannot turn into text: NUL and unpaired surrogates. Every access to
 * a field of such a value then fails, whichever field it is. Where a column can hold the text of customers or of other services, queries
 * read its fields through this.
 */

/** SQL: the json value without these escapes. An escaped backslash (`\1`) is kept, so that the text after it is not taken for an escape. */
export function readableJson(column: string): string {
  return String.raw`regexp_replace(${column}::text, '(\\\\)|\\u(?:0000|d[89a-f][0-9a-f]{2})', '\1', 'gi')::json`;
}
