/** Parses command line options. */
import { Failure } from './failure.ts';

/** The result of `parse`. If it throws, as `parseArgs` does for an unknown option: `Failure` of kind usage. */
export function parsedOptions<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    // Its first sentence names the option; the rest is not helpful.
    throw new Failure('usage', (error as Error).message.split(/\.\s/)[0]!);
  }
}
