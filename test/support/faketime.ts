/** Processes whose wall clock is wrong: libfaketime of Debian's package `faketime`, with true monotonic clocks. */
import { globSync } from 'node:fs';

const [library] = globSync('/usr/lib/**/faketime/libfaketimeMT.so.1');

/** The reason to skip a test that needs it; false where it is there. Where `CI` is set nothing is skipped: the test fails instead. */
export const withoutFaketime: string | false = library !== undefined || process.env.CI ? false : 'there is no libfaketime';
if (withoutFaketime) console.error(`SKIPPED: tests of nodes whose clocks differ, because ${withoutFaketime} (Debian: faketime)`);

/** What a process is given so that its clock is so many seconds ahead (or, below zero, behind). */
export function clockAhead(seconds: number): Record<string, string> {
  if (library === undefined) throw new Error('There is no libfaketime, and tests of wrong clocks need it');
  return { LD_PRELOAD: library, FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}s`, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
}
