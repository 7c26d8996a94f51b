/**
 * The schemas of stored inputs: of messages, timers and effects. Another version of the service may have written them, so they are checked
 * where they are taken. Unknown fields are allowed: a newer version may add them (`recorded-name.ts` describes changes for which that is
 * not enough).
 */
import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import type { Contract } from './define-actor.ts';

/** By command. Every command that is sent or scheduled has one (`test/actors/inputs.test.ts`). */
export type DurableInputs = { readonly [command: string]: TSchema };

/** The compiler refuses a schema that does not accept every input of the contract. */
type Fitting<C extends Contract, S> = {
  [K in keyof S]: K extends keyof C['commands']
    ? S[K] extends TSchema
      ? Parameters<C['commands'][K]>[0] extends Static<S[K]>
        ? S[K]
        : never
      : never
    : never;
};

export function durableInputs<C extends Contract>(): <S extends DurableInputs>(forms: S & Fitting<C, S>) => S {
  return (forms) => forms;
}

const compiled = new WeakMap<TSchema, Validator>();

/** The mismatch of the input and its schema, without any value of it; null if there is none. */
export function inputMismatch(form: TSchema | undefined, input: unknown): string | null {
  if (form === undefined) return null;
  let validator = compiled.get(form);
  if (validator === undefined) compiled.set(form, (validator = Compile(form)));
  if (validator.Check(input)) return null;
  const [first] = validator.Errors(input);
  return `The input does not match the schema of this version: ${first?.instancePath || '/'} ${first?.message ?? 'does not fit'}`;
}
