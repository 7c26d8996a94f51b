/** The output of a build as lines for its log: without what moves a terminal's cursor, of bounded length and number. */
import { StringDecoder } from 'node:string_decoder';

const maxLineChars = 2_000;
const maxLines = 10_000;
/** Shown where the output was too long, and in the message of a failure. */
const lastLines = 20;
const lastChars = 2_000;

export class OutputLines {
  private readonly decoder = new StringDecoder('utf8');
  private readonly emit: (lines: string[]) => void;
  private unfinished = '';
  private last: string[] = [];
  private shown = 0;
  private leftOut = false;

  /** @param emit is called with a few lines or with thousands, in order */
  constructor(emit: (lines: string[]) => void) {
    this.emit = emit;
  }

  add(bytes: Buffer): void {
    const lines = (this.unfinished + this.decoder.write(bytes)).split('\n');
    this.unfinished = lines.pop()!;
    // A line without an end is shown in pieces.
    while (this.unfinished.length > maxLineChars) {
      const piece = beginning(this.unfinished);
      lines.push(piece);
      this.unfinished = this.unfinished.slice(piece.length);
    }
    this.take(lines);
  }

  /** Some output is missing here, and of the rest only the last lines are shown. */
  skip(): void {
    this.finishLine();
    this.leftOut = true;
  }

  /** Nothing follows. */
  end(): void {
    this.finishLine();
    if (this.leftOut) this.emit(['[the rest of the output is left out, but for its last lines]', ...this.last]);
  }

  /** The last lines, for a message. */
  get tail(): string {
    const tail = this.last.join('\n').slice(-lastChars);
    return tail.isWellFormed() ? tail : tail.slice(1);
  }

  private finishLine(): void {
    const rest = this.unfinished + this.decoder.end();
    this.unfinished = '';
    if (rest !== '') this.take([rest]);
  }

  private take(raw: string[]): void {
    // Lines that are not shown are not parsed: a chunk may have thousands of lines.
    const ends = raw
      .slice(-2 * lastLines)
      .map(plainLine)
      .flatMap(pieces);
    this.last = [...this.last, ...ends.filter((line) => line !== '')].slice(-lastLines);
    if (this.leftOut || raw.length === 0) return;
    const room = maxLines - this.shown;
    const lines = raw.slice(0, room).map(plainLine).flatMap(pieces).slice(0, room);
    this.shown += lines.length;
    this.leftOut = raw.length > room;
    this.emit(lines);
  }
}

/** The text that a terminal shows in the end: without escape sequences, control characters, and text that a carriage return overwrites. */
function plainLine(line: string): string {
  const shown = line.trimEnd();
  return shown
    .slice(shown.lastIndexOf('\r') + 1)
    .replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007]*\u0007?|[@-Z\\-_])/g, '')
    .replace(/\t/g, '  ')
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '')
    .toWellFormed()
    .trimEnd();
}

function pieces(line: string): string[] {
  const found: string[] = [];
  let rest = line;
  while (rest.length > maxLineChars) {
    const piece = beginning(rest);
    found.push(piece);
    rest = rest.slice(piece.length);
  }
  return [...found, rest];
}

/** The part that fits into a line, without half of a surrogate pair at its end. */
function beginning(text: string): string {
  const part = text.slice(0, maxLineChars);
  return part.isWellFormed() ? part : part.slice(0, -1);
}
