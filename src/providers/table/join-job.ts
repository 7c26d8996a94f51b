/** Joins two or three tables, or two sheets of one workbook (`left` and `right` are its name), outside the event loop. The caller's source returns the tables in order, one at each open. */

import { Readable } from 'node:stream';
import { ToolError } from '../../errors.ts';
import type { JobFunction } from '../compute/port.ts';
import { type JoinProfile, joinChain, joinSheets, joinTables } from './join.ts';
import type { JoinBounds } from './join-figures.ts';

/** All tables are held in memory. */
const maxBytes = 16 * 1024 * 1024;

const job: JobFunction<{ left: string; right: string; last?: string } & JoinBounds, JoinProfile> = async (
  { left, right, last, ...bounds },
  { open, signal },
) => {
  if (left === right) {
    const bytes = await readAll(await open(), left);
    return joinSheets({ name: left, open: async () => Readable.from([bytes]) }, signal, bounds);
  }
  const [first, second] = [await readAll(await open(), left), await readAll(await open(), right)];
  const third = last === undefined ? null : await readAll(await open(), last);
  const again = (bytes: Buffer) => async () => Readable.from([bytes]);
  if (third !== null)
    return joinChain({ name: left, open: again(first) }, { name: right, open: again(second) }, { name: last!, open: again(third) }, signal);
  return joinTables({ name: left, open: again(first) }, { name: right, open: again(second) }, signal, bounds);
};
export default job;

async function readAll(source: Readable, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const piece of source) {
    const chunk = Buffer.isBuffer(piece) ? piece : Buffer.from(piece);
    size += chunk.length;
    if (size > maxBytes) throw new ToolError(`${name} is larger than ${maxBytes / 2 ** 20} MiB; tables that long are not compared.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
