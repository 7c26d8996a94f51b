/** Ctrl-C and other signals. The first may be handled by code that has something to finish (cancelling the task); otherwise, and from the second on, all waits end. */

export type Interrupts = {
  /** Aborted when it is time to leave; the reason is `Interrupted`. */
  readonly signal: AbortSignal;
  /** What the first Ctrl-C does instead of leaving. */
  onFirst: (() => void) | null;
  /** As if Ctrl-C had been pressed. */
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
  // The launcher (scripts/run.mjs) has ended without a signal, and with it the user's terminal.
  process.on('disconnect', () => leave(129));
  process.channel?.unref();
  // The reader of the output has closed it (`| head`): nothing more can be written.
  process.stdout.on('error', () => leave(141));
  process.stderr.on('error', () => leave(141));
  return interrupts;
}
