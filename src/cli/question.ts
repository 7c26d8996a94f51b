/** Asks one question at a time at the terminal. */
import { createInterface } from 'node:readline/promises';

export type Terminal = { input: NodeJS.ReadStream; output: NodeJS.WritableStream };

/** The terminal was closed (Ctrl-D), so there will be no answer. */
export class NoInput extends Error {}

/**
 * The typed line. Rejects with `NoInput`, or the signal's reason.
 *
 * @param onInterrupt Ctrl-C, which does not reach the process while a line is read
 */
export async function question(
  terminal: Terminal,
  text: string,
  { signal, onInterrupt }: { signal: AbortSignal; onInterrupt(): void },
): Promise<string> {
  const lines = createInterface({ ...terminal, terminal: true });
  const closed = Promise.withResolvers<never>();
  closed.promise.catch(() => {});
  lines.once('close', () => closed.reject(new NoInput()));
  lines.on('SIGINT', onInterrupt);
  try {
    return await Promise.race([lines.question(text, { signal }), closed.promise]);
  } catch (error) {
    terminal.output.write('\n');
    throw error;
  } finally {
    lines.close();
    terminal.input.pause();
  }
}
