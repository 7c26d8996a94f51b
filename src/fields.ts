/** Reads parts of JSON that comes from elsewhere, without trust in its form. */

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object, or an empty one. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** The texts of a list; none where it is no list. */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
