/** The first value that occurs earlier in the list; undefined if all differ. */
export function firstRepeated(values: readonly string[]): string | undefined {
  return values.find((value, at) => values.indexOf(value) !== at);
}
