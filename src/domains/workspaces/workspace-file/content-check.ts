/** Checks a file's bytes as they stream, and fails as soon as they cannot have the kind of the file's name. Buffers a limited part. */
import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import { TextDecoder } from 'node:util';
import { AppError } from '../../../errors.ts';
import { allowedKinds, type ContentRule, type FileKind, type SignedRule } from '../../../file-kinds.ts';
import { OfficeCheck } from './office-check.ts';

/** Each returns false once the bytes so far, or at the end all of them, certainly do not have its kind. */
export interface ContentCheck {
  take(chunk: Buffer): boolean;
  end(): boolean;
}

/** Passes bytes through; fails with `unsupported_media_type`. */
export class CheckedContent extends Transform {
  private readonly check: ContentCheck;

  constructor(kind: FileKind) {
    super();
    this.check = checkOf(kind.content);
  }

  /** `content`, checked while it streams. A failure of either is a failure of both. */
  static of(content: Readable, kind: FileKind): Readable {
    const checked = new CheckedContent(kind);
    // The reader of the checked content gets the failure.
    pipeline(content, checked, () => {});
    return checked;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.check.take(chunk)) done(null, chunk);
    else done(wrongKind());
  }

  override _flush(done: TransformCallback): void {
    done(this.check.end() ? null : wrongKind());
  }
}

/** The refusal of a file of an unsupported kind, or whose content does not match its name. */
export function wrongKind(): AppError {
  return new AppError(
    'unsupported_media_type',
    `Files of this kind are not taken, or the content is not what the name says. Allowed: ${allowedKinds}`,
  );
}

function checkOf(content: ContentRule): ContentCheck {
  if (content === 'pdf') return new HeadCheck(1024, (head) => head.includes('%PDF-'));
  if (content === 'png') return new HeadCheck(8, (head) => head.equals(pngSignature));
  if (content === 'jpeg') return new HeadCheck(3, (head) => head.equals(jpegSignature));
  if (Object.hasOwn(signatures, content)) {
    const beginning = signatures[content as SignedRule];
    return new HeadCheck(12, (head) => beginning.test(head.toString('latin1')));
  }
  if (content === 'docx') return new OfficeCheck('word/');
  if (content === 'xlsx') return new OfficeCheck('xl/');
  if (content === 'svg') return new Both(new TextCheck(false), new HeadCheck(64 * 1024, beginsWithSvg));
  if (content === 'json') return new Both(new TextCheck(true), new HeadCheck(64 * 1024, beginsAsJson));
  if (content === 'media or text') return new Either(new HeadCheck(12, isMedia), new TextCheck(false));
  return new TextCheck(false);
}

const pngSignature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const jpegSignature = Buffer.from('\xff\xd8\xff', 'latin1');
/** Of the first twelve bytes, as Latin-1. */
const signatures: Readonly<Record<SignedRule, RegExp>> = {
  gif: /^GIF8[79]a/,
  webp: /^RIFF.{4}WEBP/s,
  ico: /^\0\0\x01\0/,
  woff: /^wOFF/,
  woff2: /^wOF2/,
  opentype: /^(\0\x01\0\0|OTTO|true|ttcf)/,
  wasm: /^\0asm/,
  hermes: /^\xc6\x1f\xbc\x03\xc1\x03\x19\x1f/,
  'iso media': /^.{4}ftyp/s,
  matroska: /^\x1a\x45\xdf\xa3/,
  ogg: /^OggS/,
  wav: /^RIFF.{4}WAVE/s,
  // With a tag before it, or a first frame of MPEG audio.
  mp3: /^(ID3|\xff[\xe2-\xff])/,
};
function isMedia(head: Buffer): boolean {
  const begins = (signature: Buffer) => head.subarray(0, signature.length).equals(signature);
  return begins(pngSignature) || begins(jpegSignature) || Object.values(signatures).some((one) => one.test(head.toString('latin1')));
}

/** Formats that may lack a NUL byte in the examined part: PDF, ZIP, PNG, JPEG, GIF, gzip, ELF. */
const binarySignatures = ['%PDF-', 'PK\x03\x04', '\x89PNG', '\xff\xd8\xff', 'GIF8', '\x1f\x8b', '\x7fELF'].map((text) =>
  Buffer.from(text, 'latin1'),
);

class Both implements ContentCheck {
  private readonly checks: [ContentCheck, ContentCheck];

  constructor(first: ContentCheck, second: ContentCheck) {
    this.checks = [first, second];
  }
  take(chunk: Buffer): boolean {
    return this.checks[0].take(chunk) && this.checks[1].take(chunk);
  }
  end(): boolean {
    return this.checks[0].end() && this.checks[1].end();
  }
}

class Either implements ContentCheck {
  private checks: readonly ContentCheck[];

  constructor(...checks: ContentCheck[]) {
    this.checks = checks;
  }
  take(chunk: Buffer): boolean {
    this.checks = this.checks.filter((check) => check.take(chunk));
    return this.checks.length > 0;
  }
  end(): boolean {
    return this.checks.some((check) => check.end());
  }
}

/** Decides by the first bytes, as soon as there are enough of them, or by all bytes of a shorter file. */
class HeadCheck implements ContentCheck {
  private readonly headBytes: number;
  private readonly isRight: (head: Buffer) => boolean;
  private head: Buffer | null = Buffer.alloc(0);

  constructor(headBytes: number, isRight: (head: Buffer) => boolean) {
    this.headBytes = headBytes;
    this.isRight = isRight;
  }

  take(chunk: Buffer): boolean {
    if (this.head === null) return true;
    this.head = Buffer.concat([this.head, chunk.subarray(0, this.headBytes - this.head.length)]);
    return this.head.length < this.headBytes || this.decide(this.head);
  }

  end(): boolean {
    return this.head === null || this.decide(this.head);
  }

  private decide(head: Buffer): boolean {
    this.head = null;
    return this.isRight(head);
  }
}

/** Text in UTF-16 with a byte order mark, or in any encoding that has no NUL bytes; with `onlyUnicode` the latter is UTF-8. */
class TextCheck implements ContentCheck {
  private readonly onlyUnicode: boolean;
  private head: Buffer | null = Buffer.alloc(0);
  private decoder: TextDecoder | null = null;
  private nulIsText = false;

  constructor(onlyUnicode: boolean) {
    this.onlyUnicode = onlyUnicode;
  }

  take(chunk: Buffer): boolean {
    if (this.head === null) return this.isText(chunk);
    const start = Buffer.concat([this.head, chunk]);
    if (start.length < 8) {
      this.head = start;
      return true;
    }
    return this.begin(start);
  }

  end(): boolean {
    if (this.head !== null && !this.begin(this.head)) return false;
    return this.decodes(Buffer.alloc(0), false);
  }

  private begin(start: Buffer): boolean {
    this.head = null;
    if (binarySignatures.some((signature) => start.subarray(0, signature.length).equals(signature))) return false;
    const utf16 = utf16Encoding(start);
    this.nulIsText = utf16 !== null;
    if (utf16 !== null || this.onlyUnicode) this.decoder = new TextDecoder(utf16 ?? 'utf-8', { fatal: true });
    return this.isText(start);
  }

  private isText(chunk: Buffer): boolean {
    return (this.nulIsText || !chunk.includes(0)) && this.decodes(chunk, true);
  }

  private decodes(chunk: Buffer, more: boolean): boolean {
    try {
      this.decoder?.decode(chunk, { stream: more });
      return true;
    } catch {
      return false;
    }
  }
}

function utf16Encoding(start: Buffer): 'utf-16le' | 'utf-16be' | null {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  return start[0] === 0xfe && start[1] === 0xff ? 'utf-16be' : null;
}

/** Without the byte order mark. Its callers need only ASCII. */
function headText(head: Buffer): string {
  const utf16 = utf16Encoding(head);
  return (utf16 === null ? new TextDecoder('utf-8') : new TextDecoder(utf16)).decode(head).replace(/^\ufeff/, '');
}

/** An empty file is accepted, to be filled later; any other must begin like a JSON value. */
function beginsAsJson(head: Buffer): boolean {
  const text = headText(head).trimStart();
  return text === '' || /^([{["0-9]|-[0-9]|true\b|false\b|null\b)/.test(text);
}

/** Declarations, comments and a document type may precede the root element, which is `svg`. */
function beginsWithSvg(head: Buffer): boolean {
  const text = headText(head);
  let at = 0;
  for (;;) {
    while (at < text.length && ' \t\r\n'.includes(text[at]!)) at++;
    let end: number;
    if (text.startsWith('<?', at)) end = after(text, '?>', at + 2);
    else if (text.startsWith('<!--', at)) end = after(text, '-->', at + 4);
    else if (/^<!DOCTYPE\s+([\w.-]+:)?svg\b/.test(text.slice(at, at + 200))) end = afterDocumentType(text, at);
    else return /^<([A-Za-z_][\w.-]*:)?svg[\s/>]/.test(text.slice(at, at + 200));
    if (end === -1) return false;
    at = end;
  }
}

function after(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found === -1 ? -1 : found + mark.length;
}

function afterDocumentType(text: string, at: number): number {
  const subset = text.indexOf('[', at);
  const close = text.indexOf('>', at);
  return subset !== -1 && subset < close ? after(text, ']>', subset) : close === -1 ? -1 : close + 1;
}
