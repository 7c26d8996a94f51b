/** A terminal's view: past events scroll, and below them a few lines show the state of each agent; only those lines are redrawn. */
import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { eventLine } from './event-line.ts';
import type { AgentProgress, Progress } from './progress.ts';
import { maxHeldLines, type View } from './view.ts';
import { hasColours, logLine } from './view-log.ts';

const frameMs = 120;
const spinner = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const marks: Record<string, string> = { complete: '✔', error: '✖', cancelled: '✖', waiting: '?', paused: '‖', idle: '·' };
const escapes = { wrapOff: '\x1b[?7l', wrapOn: '\x1b[?7h', clearBelow: '\x1b[J', hideCursor: '\x1b[?25l', showCursor: '\x1b[?25h' };

export function liveView(out: WriteStream): View {
  const startedAtMs = performance.now();
  let progress: Progress | null = null;
  let held: string[] | null = null;
  let drawnLines = 0;
  let frame = 0;

  const erase = () => {
    if (drawnLines > 0) out.write(`\x1b[${drawnLines}A\r${escapes.clearBelow}`);
    drawnLines = 0;
  };
  const draw = (above: string[] = []) => {
    if (held !== null) return;
    // The terminal truncates longer lines: the width of characters need not be known here.
    const block = progress === null ? [] : lines(progress).slice(0, Math.max(1, (out.rows || 24) - 1));
    const up = drawnLines > 0 ? `\x1b[${drawnLines}A\r` : '';
    const scrolled = above.map((line) => `${line}\n`).join('');
    const status = block.map((line) => `${line}\n`).join('');
    out.write(
      `${escapes.hideCursor}${up}${escapes.clearBelow}${scrolled}${escapes.wrapOff}${status}${escapes.wrapOn}${escapes.showCursor}`,
    );
    drawnLines = block.length;
  };
  const show = (line: string) => {
    if (held === null) return draw([line]);
    if (held.push(line) > maxHeldLines) held.shift();
  };
  const paint = (style: 'bold' | 'dim' | 'green' | 'red' | 'yellow', text: string) =>
    hasColours(out) ? styleText(style, text, { validateStream: false }) : text;
  const ticks = setInterval(() => {
    frame++;
    if (progress !== null) draw();
  }, frameMs);
  ticks.unref();

  function lines({ status, credits, agents, files }: Progress): string[] {
    const seconds = Math.floor((performance.now() - startedAtMs) / 1000);
    const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    const head = `${spinner[frame % spinner.length]} ${paint('bold', status)}  ${time}  ${credits.toFixed(1)} credits${files.size > 0 ? `  ${[...files].join(', ')}` : ''}`;
    return [head, ...[...agents.values()].map(agentLine)];
  }

  function agentLine({ label, title, status, tool, percent }: AgentProgress): string {
    const mark = marks[status] ?? spinner[frame % spinner.length];
    const tone =
      status === 'complete' ? 'green' : status === 'error' || status === 'cancelled' ? 'red' : status === 'waiting' ? 'yellow' : null;
    const line = `  ${mark} ${label.padEnd(12)} ${String(percent).padStart(3)} %  ${(tool ?? status).padEnd(16)}`;
    return `${tone === null ? line : paint(tone, line)} ${paint('dim', title)}`;
  }

  return {
    event(event, after) {
      progress = after;
      // The lines below show the steps of agents; in the log they would displace more important lines.
      if (eventLine(event, after).step) draw();
      else show(logLine(event, after, out));
    },
    refresh(after) {
      progress = after;
      draw();
    },
    notice: show,
    hold() {
      erase();
      held ??= [];
    },
    release() {
      const waiting = held ?? [];
      held = null;
      draw(waiting);
    },
    end() {
      clearInterval(ticks);
      erase();
      progress = null;
      const waiting = held ?? [];
      held = null;
      for (const line of waiting) draw([line]);
    },
  };
}
