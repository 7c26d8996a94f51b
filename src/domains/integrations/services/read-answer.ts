/** Reads answers of services without trust in their form: what is missing is empty, and what cannot be read at all is a failure of the service. */
import { type Fields, fieldsOf, isFields, textsOf } from '../../../fields.ts';
import { ServiceFailed } from './service-failure.ts';

/** `fieldsOf` is for an answer to something that was done, which must not fail afterwards. */
export { type Fields, fieldsOf, textsOf };

/** Throws `ServiceFailed`: what a list would show of such an answer would be wrong. */
export function requiredFields(value: unknown, title: string): Fields {
  if (isFields(value)) return value;
  throw unknownForm(title);
}

/** The objects of a list; none where it is left out. Throws `ServiceFailed` for what is no list. */
export function listOf(value: unknown, title: string): Fields[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.filter(isFields);
  throw unknownForm(title);
}

export function unknownForm(title: string): ServiceFailed {
  return new ServiceFailed({ type: 'unavailable', message: `${title} answered in a form that is not known here` });
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** An instant, where the text or number is one. */
export function instantOf(ms: number): string | null {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
