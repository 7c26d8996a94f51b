/**
 * A `json` column keeps its text unchanged, also escapes that PostgreSQL cannot turn into text: NUL and unpaired surrogates. Every access to
 * a field of such a value then fails, whichever field it is. Where a column can hold the text of customers or of other services, queries
 * read its fields through this.
 */

/**
 * SQL: the json value without these escapes. An escaped backslash and a pair of surrogates (`\1`) are kept: the first, so that the text
 * after it is not taken for an escape. PostgreSQL takes the longest alternative, so a pair precedes its first half.
 */
export function readableJson(column: string): string {
  return String.raw`regexp_replace(${column}::text, '(\\\\|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})|\\u(?:0000|d[89a-f][0-9a-f]{2})', '\1', 'gi')::json`;
}
