/** Ids of requests: made for every request, so one id is drawn from `ids.ts` per block and the others are counted from it. */
import { idPrefixes, newId } from '../../ids.ts';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
/** All endings of two characters, in order: one block is 1,024 ids. */
const endings = Array.from({ length: 1024 }, (_, i) => alphabet[i >> 5]! + alphabet[i & 31]!);

let block = '';
let used = endings.length;

/** A new `req_` id. Ids of one process are unique and, block by block, increasing. */
export function newRequestId(): string {
  if (used === endings.length) startBlock();
  return block + endings[used++]!;
}

/** The last two characters of a drawn id are replaced. Two blocks drawn in one millisecond may begin alike, so draw until the new one differs. */
function startBlock(): void {
  const before = block;
  do block = newId(idPrefixes.request, null).slice(0, -2);
  while (block === before);
  used = 0;
}
