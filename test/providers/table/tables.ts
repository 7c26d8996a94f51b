/** Tables in memory for the tests of this folder. */
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { profileTable } from '../../../src/providers/table/profile.ts';
import type { ColumnProfile, NumberProfile, TableProfile } from '../../../src/providers/table/table-profile.ts';

/** Opens the bytes again and again, in chunks small enough to cut characters and records. */
export function opening(bytes: Buffer, chunkBytes = 65_536): () => Promise<Readable> {
  return async () => {
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += chunkBytes) chunks.push(bytes.subarray(at, at + chunkBytes));
    return Readable.from(chunks);
  };
}

export function profileText(text: string, name = 'table.csv'): Promise<TableProfile> {
  return profileTable(opening(Buffer.from(text)), name);
}

export function column(profile: TableProfile, name: string): ColumnProfile {
  const found = profile.columns.find((each) => each.name === name);
  assert.ok(found, `no column ${name} among ${profile.columns.map((each) => each.name).join(', ')}`);
  return found;
}

export function numbersOf(profile: TableProfile, name: string): NumberProfile {
  const { numbers } = column(profile, name);
  assert.ok(numbers, `column ${name} has no numbers`);
  return numbers;
}
