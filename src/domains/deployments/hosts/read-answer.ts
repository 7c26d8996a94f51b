/** Reads answers of hosts without trust in their form. */
import { DeployFailed } from './host-failure.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The object, or an empty one. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** The objects of a list; none where it is no list. */
export function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** Throws `DeployFailed`: without this field nothing can go on. */
export function requiredText(answer: unknown, field: string, title: string): string {
  const text = textOf(fieldsOf(answer)[field]);
  if (text === undefined) throw unknownForm(title);
  return text;
}

export function unknownForm(title: string): DeployFailed {
  return new DeployFailed('provider_down', `${title} answered in a form that is not known here`);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
