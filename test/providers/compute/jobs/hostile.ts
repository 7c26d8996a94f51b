/** Jobs that break every rule, for the tests of the computing processes. */

import { AppError, ToolError } from '../../../../src/errors.ts';
import type { JobFunction } from '../../../../src/providers/compute/port.ts';

const deeds = {
  echo: (value: unknown) => value,
  loop: () => {
    for (;;);
  },
  regex: () => /^(a+)+$/.test(`${'a'.repeat(60)}b`),
  objects: () => {
    for (const kept: object[] = []; ; ) kept.push({ n: kept.length });
  },
  // Allocations within one built-in function end a whole process where they break its limit, a thread's or not.
  map: () => {
    for (let n = 0, kept = new Map(); ; n++) kept.set(`k${n}`, n);
  },
  strings: () => {
    for (const kept: string[] = [], parts = new Array(1e6).fill('x'.repeat(400)); ; ) kept.push(parts.join(','));
  },
  buffers: () => {
    for (const kept: Buffer[] = []; ; ) kept.push(Buffer.alloc(50e6, 1));
  },
  stack: () => {
    const deeper = (n: number): number => deeper(n + 1) + 1;
    return deeper(0);
  },
  exit: () => process.exit(3),
  toolError: () => {
    throw new ToolError('no table');
  },
  appError: () => {
    throw new AppError('conflict', 'not now');
  },
  defect: () => {
    throw new TypeError('a defect');
  },
  // Holds the process alive and computes nothing.
  idle: () => new Promise(() => {}),
  env: () => Object.keys(process.env),
  pid: () => process.pid,
} satisfies Record<string, (value: unknown) => unknown>;
export type Deed = keyof typeof deeds | 'bytes';

const job: JobFunction<{ deed: Deed; value?: unknown }, unknown> = async ({ deed, value }, { open }) => {
  if (deed !== 'bytes') return deeds[deed](value);
  let bytes = 0;
  // Twice over, as a profile reads its table.
  for (let time = 0; time < 2; time++) for await (const piece of await open()) bytes += (piece as Uint8Array).length;
  return bytes;
};
export default job;
