/** A plain log, one line per event, for files, pipes and simple terminals. */
import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { type EventLine, eventLine } from './event-line.ts';
import type { Progress } from './progress.ts';
import type { TaskEvent } from './task.ts';
import { maxHeldLines, type View } from './view.ts';

const sourceWidth = 12;
const colours = { good: 'green', bad: 'red', ask: 'yellow', faint: 'dim' } as const;

/** @param notices stream for the command's own messages; separate from the events if a program reads those */
export function logView(out: NodeJS.WritableStream, notices: NodeJS.WritableStream): View {
  let held: string[] | null = null;
  const show = (line: string) => {
    if (held === null) return void out.write(line);
    if (held.push(line) > maxHeldLines) held.shift();
  };
  return {
    event: (event, progress) => show(`${logLine(event, progress, out)}\n`),
    refresh() {},
    notice: (line) => void notices.write(`${line}\n`),
    hold: () => void (held ??= []),
    release() {
      const lines = held ?? [];
      held = null;
      for (const line of lines) out.write(line);
    },
    end() {},
  };
}

/** `09:30:00  analyst       starts: Analyse sales.csv` */
export function logLine(event: TaskEvent, progress: Progress, out: NodeJS.WritableStream): string {
  const line = eventLine(event, progress);
  return `${timeOf(event)}  ${line.source.padEnd(sourceWidth)}  ${coloured(line, out)}`;
}

function coloured({ text, tone }: EventLine, out: NodeJS.WritableStream): string {
  return tone !== 'plain' && hasColours(out) ? styleText(colours[tone], text, { validateStream: false }) : text;
}

/** Decided by NO_COLOR, FORCE_COLOR and the terminal. */
export function hasColours(out: NodeJS.WritableStream): boolean {
  return (out as WriteStream).isTTY === true && (out as WriteStream).hasColors();
}

function timeOf({ created_at: at }: TaskEvent): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? '--:--:--' : date.toTimeString().slice(0, 8);
}
