/**
 * Reads answers of services without trusting their form: missing values are empty, and an unreadable answer is a failure of the service.
 */
import { type Fields, fieldsOf, isFields, textsOf } from '../../../fields.ts';
import { ServiceFailed } from './service-failure.ts';

/** `fieldsOf` is for the answer to a completed change, which must not fail afterwards. */
export { type Fields, fieldsOf, textsOf };

/** Throws `ServiceFailed`: the result for the model would be wrong. */
export function requiredFields(value: unknown, title: string): Fields {
  if (isFields(value)) return value;
  throw unknownForm(title);
}

/** The objects of a list; none if it is missing. Throws `ServiceFailed` if it is not a list. */
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

/** An instant, if the text or number is one. */
export function instantOf(ms: number): string | null {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
