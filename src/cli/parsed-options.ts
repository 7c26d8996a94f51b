/** Reads what was given on a command line. */
import { Failure } from './failure.ts';

/** What `parse` returns. Where it throws, as `parseArgs` does for an option that is not known: `Failure` of kind usage. */
export function parsedOptions<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    // Its first sentence names the option; the rest is about dashes.
    throw new Failure('usage', (error as Error).message.split(/\.\s/)[0]!);
  }
}
