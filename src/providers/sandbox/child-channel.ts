/**
 * What the programs in sandbox processes share: lines from the parent, read with blocking calls, lines to it, and a watch that ends the process when
 * the parent has ended, even while code runs without a pause.
 */
import { once } from 'node:events';
import { readSync, writeSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { Worker } from 'node:worker_threads';

const pieceBytes = 64 * 1024;

/** Lines of stdin, parsed. The process ends when stdin does. */
export function lines<Line>(): () => Line {
  const chunk = Buffer.alloc(pieceBytes);
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return () => {
    const parts: string[] = [];
    for (;;) {
      const end = rest.indexOf('\n');
      if (end >= 0) {
        parts.push(rest.slice(0, end));
        rest = rest.slice(end + 1);
        return JSON.parse(parts.join(''));
      }
      parts.push(rest);
      const read = readSync(0, chunk);
      if (read === 0) process.exit(0);
      rest = decoder.write(chunk.subarray(0, read));
    }
  };
}

/** Lines of stdin, parsed, and bytes that follow a line as they are. The process ends when stdin does. */
export function linesAndBytes<Line>(): { line(): Line; bytes(into: Uint8Array): void } {
  let rest: Buffer = Buffer.alloc(0);
  const read = (into: Uint8Array): number => {
    const count = readSync(0, into);
    return count === 0 ? process.exit(0) : count;
  };
  return {
    line() {
      for (let searched = 0; ; ) {
        const end = rest.indexOf(10, searched);
        if (end >= 0) {
          const text = rest.toString('utf8', 0, end);
          rest = rest.subarray(end + 1);
          return JSON.parse(text);
        }
        searched = rest.length;
        const piece = Buffer.alloc(pieceBytes);
        rest = Buffer.concat([rest, piece.subarray(0, read(piece))]);
      }
    },
    bytes(into) {
      const there = Math.min(rest.length, into.length);
      into.set(rest.subarray(0, there));
      rest = rest.subarray(there);
      for (let at = there; at < into.length; ) at += read(into.subarray(at));
    },
  };
}

export function writeLine(line: object): void {
  writeBytes(Buffer.from(`${JSON.stringify(line)}\n`));
}

/** What follows a line that says how much it is. */
export function writeBytes(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
}

/** Ends this process when its parent is no longer the one that started it, however busy the main thread is. */
export async function watchParent(): Promise<void> {
  const program = `const parent = ${process.ppid}; setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL'); }, 200);`;
  // Left to itself, the worker would open our stdout, which makes it non-blocking.
  const options = { eval: true, stdout: true, stderr: true, resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2 } };
  await once(new Worker(program, options), 'online');
}
