/** The first value that stands in the list before; undefined where all differ. */
export function firstRepeated(values: readonly string[]): string | undefined {
  return values.find((value, at) => values.indexOf(value) !== at);
}
