/** Processes whose wall clock is wrong: libfaketime of Debian's package `faketime`, with true monotonic clocks. */
import { globSync, renameSync, writeFileSync } from 'node:fs';

const [library] = globSync('/usr/lib/**/faketime/libfaketimeMT.so.1');

/** The reason to skip a test that needs it; false where it is there. Where `CI` is set nothing is skipped: the test fails instead. */
export const withoutFaketime: string | false = library !== undefined || process.env.CI ? false : 'there is no libfaketime';
if (withoutFaketime) console.error(`SKIPPED: tests of nodes whose clocks differ, because ${withoutFaketime} (Debian: faketime)`);

/** The file that says how far off a process's clock is, where it was given `settableClock`. */
const fileVariable = 'FAKETIME_TIMESTAMP_FILE';

/** What a process is given so that its wall clock can be set while it runs, by `setClock`. Until then it is right. */
export function settableClock(file: string, seconds = 0): Record<string, string> {
  if (library === undefined) throw new Error('There is no libfaketime, and tests of wrong clocks need it');
  writeOffset(file, seconds);
  return { LD_PRELOAD: library, [fileVariable]: file, FAKETIME_NO_CACHE: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}

export function hasSettableClock(env: Readonly<Record<string, string>>): boolean {
  return env[fileVariable] !== undefined;
}

/** The clock of processes with this environment jumps: it is this many seconds ahead (below zero: behind) from now on. */
export function setClock(env: Readonly<Record<string, string>>, seconds: number): void {
  writeOffset(env[fileVariable]!, seconds);
}

/** At once: a reader never finds half of it. */
function writeOffset(file: string, seconds: number): void {
  writeFileSync(`${file}.new`, offset(seconds));
  renameSync(`${file}.new`, file);
}

function offset(seconds: number): string {
  return `${seconds < 0 ? '' : '+'}${seconds}s`;
}
