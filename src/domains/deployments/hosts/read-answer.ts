/** Reads answers of hosts without trust in their form. */
import { type Fields, fieldsOf, isFields, textsOf } from '../../../fields.ts';
import { DeployFailed } from './host-failure.ts';

export { type Fields, fieldsOf, textsOf };

/** The objects of a list; none where it is no list. */
export function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : [];
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** An answer that is not understood. If it is that to a creation, the host may have carried it out: see `createOnce`. */
export class UnknownForm extends DeployFailed {
  override name = 'UnknownForm';
  constructor(title: string) {
    super('provider_down', `${title} answered in a form that is not known here`);
  }
}

/** Throws `UnknownForm` if the field is missing. */
export function requiredText(answer: unknown, field: string, title: string): string {
  const text = textOf(fieldsOf(answer)[field]);
  if (text === undefined) throw new UnknownForm(title);
  return text;
}
