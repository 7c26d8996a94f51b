/**
 * Ctrl-C and other signals. Code with work to finish (cancelling the task) may handle the first one; otherwise, and from the second on, all
 * waits end.
 */

export type Interrupts = {
  /** Aborted when the command must end; the reason is `Interrupted`. */
  readonly signal: AbortSignal;
  /** The action for the first Ctrl-C, instead of ending. */
  onFirst: (() => void) | null;
  /** Acts as if Ctrl-C had been pressed. */
  interrupt(): void;
};

export class Interrupted extends Error {
  /** The exit code for the shell: 128 plus the number of the signal. */
  readonly exitCode: number;

  constructor(exitCode: number) {
    super('interrupted');
    this.name = 'Interrupted';
    this.exitCode = exitCode;
  }
}

export function watchInterrupts(): Interrupts {
  const leaving = new AbortController();
  const leave = (exitCode: number) => leaving.abort(new Interrupted(exitCode));
  const interrupts: Interrupts = {
    signal: leaving.signal,
    onFirst: null,
    interrupt() {
      const first = interrupts.onFirst;
      interrupts.onFirst = null;
      if (first === null) leave(130);
      else first();
    },
  };
  process.on('SIGINT', () => interrupts.interrupt());
  process.on('SIGTERM', () => leave(143));
  process.on('SIGHUP', () => leave(129));
  // The launcher (scripts/run.mjs) has ended without a signal, and the user's terminal with it.
  process.on('disconnect', () => leave(129));
  process.channel?.unref();
  // The reader of the output has closed it (`| head`): no further output is possible.
  process.stdout.on('error', () => leave(141));
  process.stderr.on('error', () => leave(141));
  return interrupts;
}
