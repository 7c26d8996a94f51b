/** Receives one uploaded file as a stream, no faster than it is stored. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { AppError, invalidField } from '../../errors.ts';
import type { HttpRequest } from './message.ts';

export type UploadedFile = {
  /** As the client sent it, including any path: check it before use. */
  name: string;
  /** The type that the client claims, e.g. `text/csv`. */
  type: string;
  /** The form's field `path`: a name with folders, unchecked. It may follow the file: null then, until `content` has ended; null for ever where there is none. */
  path(): string | null;
  /** Ends only when the whole request has arrived well-formed; fails when it is incomplete, too long or malformed. */
  content: Readable;
};

export const maxFileBytes = 50 * 2 ** 20;
/** Space for the boundaries, the part headers and small fields around the file. */
const overheadBytes = 64 * 1024;
const withinMs = 3_600_000;

/**
 * Passes the file of the form field `file` to `take` and returns its result. Fields other than `path` are ignored.
 *
 * Throws `unsupported_media_type`, `payload_too_large` (while reading), `bad_request` for a form that is malformed or incomplete, `invalid`
 * where there is no file or more than one. When it throws, `content` has failed too and `take` has settled, so its work is undone.
 *
 * @param uploaded gets the hash of the file's name, path and bytes before `content` ends; if it rejects, `content` fails with the same error
 */
export async function receiveFile<T>(
  request: HttpRequest,
  take: (file: UploadedFile) => Promise<T>,
  uploaded: ((hash: string) => Promise<void>) | null = null,
): Promise<T> {
  const { body } = request;
  const contentType = request.header('content-type');
  if (!/^multipart\/form-data\s*;/i.test(contentType)) throw new AppError('unsupported_media_type', 'Send the file as multipart/form-data');
  if (body === null) throw missingFile();
  if (body.declaredBytes !== null && body.declaredBytes > maxFileBytes + overheadBytes) throw tooLarge();
  const parser = openParser(contentType);
  const hash = uploaded === null ? null : createHash('sha256');

  let taking: Promise<T> | null = null;
  let content: Readable | null = null;
  let path: string | null = null;
  let failed = false;
  let receivedBytes = 0;
  const received = new Promise<void>((resolve, reject) => {
    const fail = (error: Error): void => {
      if (failed) return;
      failed = true;
      content?.destroy(error);
      reject(error);
    };
    parser.on('error', (cause) => fail(new AppError('bad_request', 'The form is malformed or incomplete', { cause })));
    parser.on('drain', () => body.resume());
    parser.on('field', (field, value) => {
      if (field !== 'path') return;
      if (path !== null) return fail(invalidField(['body', 'path'], 'Send one path'));
      path = value;
    });
    parser.on('file', (field, file, name, _encoding, type) => {
      // Busboy reports an incomplete request on the file as well as on the parser; without a listener, the former would end the process.
      file.on('error', (cause) => fail(new AppError('bad_request', 'The form is malformed or incomplete', { cause })));
      if (field !== 'file' || !name || failed) return void file.resume();
      if (content !== null) return fail(invalidField(['body', 'file'], 'Send one file at a time'));
      file.on('limit', () => fail(tooLarge()));
      if (hash !== null) {
        hash.update(`${JSON.stringify(name)}\n`);
        file.on('data', (chunk: Buffer) => hash.update(chunk));
      }
      content = throttled(file);
      taking = take({ name, type, path: () => path, content });
      taking.catch((cause: unknown) => {
        failed = true;
        reject(cause);
      });
    });
    for (const limit of ['filesLimit', 'fieldsLimit', 'partsLimit'] as const) {
      parser.on(limit, () => fail(new AppError('bad_request', 'The form has too many parts')));
    }
    parser.on('finish', () => {
      if (failed) return;
      if (content === null) return fail(missingFile());
      const whole = content;
      const end = (): void => {
        if (failed) return;
        whole.push(null);
        resolve();
      };
      if (hash === null) end();
      else uploaded!(withPath(hash.digest('base64url'), path)).then(end, fail);
    });
    body.read(
      {
        data(chunk, last) {
          if (failed) return;
          receivedBytes += chunk.length;
          if (receivedBytes > maxFileBytes + overheadBytes) return fail(tooLarge());
          if (!parser.write(Buffer.from(chunk)) && !last) body.pause();
          if (last) parser.end();
        },
        aborted: () => fail(new AppError('bad_request', 'The request ended before its body')),
      },
      withinMs,
    );
  });
  try {
    await received;
    return await taking!;
  } finally {
    parser.destroy();
    await Promise.allSettled([taking]);
  }
}

/** A form without a path has the hash that it had before there were paths. */
function withPath(contents: string, path: string | null): string {
  return path === null
    ? contents
    : createHash('sha256')
        .update(JSON.stringify([contents, path]))
        .digest('base64url');
}

function openParser(contentType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      preservePath: true,
      limits: { fileSize: maxFileBytes, files: 4, fields: 16, fieldSize: 4096, parts: 20, headerPairs: 32, headerSize: 8192 },
    });
  } catch (cause) {
    throw new AppError('bad_request', 'The multipart boundary is missing or malformed', { cause });
  }
}

/** The file's bytes. The end is passed on only when the rest of the form is well-formed. */
function throttled(file: BusboyFileStream): Readable {
  const content = new Readable({
    read: () => void file.resume(),
    destroy(error, done) {
      file.resume();
      done(error);
    },
  });
  // The consumer gets the failure; without a listener it would end the process.
  content.on('error', () => {});
  file.on('data', (chunk: Buffer) => {
    if (!content.destroyed && !content.push(chunk)) file.pause();
  });
  return content;
}

function missingFile(): AppError {
  return new AppError('invalid', 'Field required', {
    issues: [{ loc: ['body', 'file'], msg: 'Field required', type: 'missing', input: null, ctx: {} }],
  });
}

function tooLarge(): AppError {
  return new AppError('payload_too_large', `A file may have at most ${maxFileBytes} bytes`);
}
