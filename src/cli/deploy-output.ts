/** What `troupe deploy` prints: for people, at a terminal or not, or as JSON lines. */
import { isoTimestamp, machineClock } from '../clock.ts';
import { fileSize, oneLine, plainText } from './plain-text.ts';
import type { Uploaded } from './site-upload.ts';

export type Deployment = {
  id: string;
  status: string;
  url: string | null;
  error: { code: string; message: string } | null;
  target: string;
};
export type LogLine = { at: string; source: string; text: string };

export interface DeployOutput {
  /** About the command itself, on one line. */
  notice(line: string): void;
  uploading(sofar: Uploaded, all: Uploaded): void;
  log(line: LogLine): void;
  status(deployment: Deployment): void;
  result(deployment: Deployment): void;
  /** Removes the live part. */
  end(): void;
}

type Streams = { out: NodeJS.WritableStream; notices: NodeJS.WritableStream };

/** A notice that differs from the last one in its numbers alone is not repeated within this time: files are uploaded several at once. */
const sameNoticeMs = 5_000;

export function jsonOutput({ out, notices }: Streams): DeployOutput {
  const print = (value: object) => void out.write(`${JSON.stringify(value)}\n`);
  return {
    notice: seldom((line) => void notices.write(`${line}\n`)),
    uploading() {},
    log: (line) => print({ type: 'log', ...line }),
    status: (deployment) => print({ type: 'status', status: deployment.status, deployment }),
    result: (deployment) => print({ type: 'result', deployment }),
    end() {},
  };
}

/** @param isLive one line shows how far the upload is; otherwise a line now and then */
export function humanOutput({ out, notices }: Streams, isLive: boolean): DeployOutput {
  let isDrawn = false;
  const erase = () => {
    if (isDrawn) out.write('\r\x1b[K');
    isDrawn = false;
  };
  const print = (to: NodeJS.WritableStream, line: string) => {
    erase();
    to.write(`${line}\n`);
  };
  let printedAtMs = performance.now();
  return {
    notice: seldom((line) => print(notices, line)),
    uploading(sofar, all) {
      if (!isLive) {
        if (performance.now() - printedAtMs < sameNoticeMs) return;
        printedAtMs = performance.now();
        return print(notices, `Uploaded ${sofar.files} of ${all.files} files`);
      }
      erase();
      out.write(`Uploading ${sofar.files} of ${all.files} files, ${fileSize(sofar.bytes)} of ${fileSize(all.bytes)}`);
      isDrawn = true;
    },
    log({ at, source, text }) {
      for (const line of plainText(text).split('\n')) print(out, `${timeOf(at)}  ${oneLine(source).padEnd(10)}  ${line}`);
    },
    status: ({ status }) => print(out, `${timeOf(isoTimestamp(machineClock.nowMs()))}  ${oneLine(status)}`),
    result({ status, url, error }) {
      if (status === 'live') return print(out, `Live: ${oneLine(url ?? '', 2_048)}`);
      if (error?.code === 'cancelled') return print(notices, 'The deployment was cancelled.');
      print(
        notices,
        `The deployment failed (${oneLine(error?.code ?? 'unknown')}): ${oneLine(error?.message ?? 'no reason given', 4_000)}`,
      );
    },
    end: erase,
  };
}

function seldom(print: (line: string) => void): (line: string) => void {
  let last = { form: '', atMs: 0 };
  return (line) => {
    const form = line.replace(/\d+/g, '');
    const atMs = performance.now();
    if (form === last.form && atMs - last.atMs < sameNoticeMs) return;
    last = { form, atMs };
    print(line);
  };
}

function timeOf(at: string): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? '--:--:--' : date.toTimeString().slice(0, 8);
}
