/**
 * The browser of a node: a Chromium behind a process that drives it, both started when the first page is opened and again after they have
 * ended. At most `maxPages` pages are open at a time, `maxPagesEach` of one account; accounts wait in turn.
 */
import { monotonicMs } from '../../clock.ts';
import { AppError, ToolError } from '../../errors.ts';
import { FairGate } from '../../fair-queue.ts';
import type { Log } from '../../log.ts';
import { DriverGone, DriverProcess } from './driver-process.ts';
import type { Browser, PageRequest } from './port.ts';
import type { DriverSettings, Visit, VisitResult } from './protocol.ts';

export type ChromiumBrowserOptions = DriverSettings & {
  log: Log;
  maxPages?: number;
  maxPagesEach?: number;
  /** For one page. */
  timeMs?: number;
};

/** After the time of a page has passed, its driver must have said so within this; otherwise it hangs. */
const graceMs = 10_000;
/** A start that failed is not tried again at once. */
const restMs = 5_000;
const probeMs = 3_000;

export function createChromiumBrowser(options: ChromiumBrowserOptions): Browser {
  const { log, maxPages = 4, maxPagesEach = 2, timeMs = 30_000, allow, chromium } = options;
  const gate = new FairGate({
    maxRunning: maxPages,
    maxRunningEach: maxPagesEach,
    maxWaiting: 256,
    maxWaitingEach: 64,
    maxWaitMs: 60_000,
    full: 'Too many pages wait for the browser',
    retryAfterS: 5,
  });
  const closing = new AbortController();
  let driver: DriverProcess | null = null;
  let failed: { atMs: number; error: unknown } | null = null;

  async function running(): Promise<DriverProcess> {
    closing.signal.throwIfAborted();
    if (driver === null) {
      if (failed !== null && monotonicMs() - failed.atMs < restMs) throw failed.error;
      driver = start();
    }
    const started = driver;
    try {
      await started.ready;
      return started;
    } catch (error) {
      failed = { atMs: monotonicMs(), error };
      throw error;
    }
  }

  function start(): DriverProcess {
    const started = new DriverProcess({ allow, chromium });
    started.ready.then(
      ({ version }) => log.info({ version }, 'browser started'),
      (err: unknown) => log.warn({ err }, 'browser cannot be started'),
    );
    void started.gone.then(() => {
      if (driver === started) driver = null;
    });
    return started;
  }

  async function visit({ url, agentId, accountId, signal }: PageRequest, want: Visit['want']): Promise<VisitResult> {
    const address = checkedAddress(url);
    const stopped = AbortSignal.any([signal, closing.signal]);
    return await gate.pass(
      accountId,
      async () => {
        const started = await running();
        // It tells of its own limit; a driver that does not is killed with all its pages.
        const hung = setTimeout(() => void started.kill(), timeMs + graceMs);
        try {
          return await started.visit({ url: address, agentId, timeMs, want }, stopped);
        } catch (error) {
          if (error instanceof DriverGone)
            throw new ToolError(`The browser ended while ${new URL(address).host} was open. Try again, or read it without the browser.`);
          throw error;
        } finally {
          clearTimeout(hung);
        }
      },
      stopped,
    );
  }

  return {
    async render(request) {
      const { url, status, title, html, truncated } = await visit(request, { kind: 'html' });
      return { url, status, title, html, truncated };
    },
    async screenshot({ width, height, fullPage, ...request }) {
      const { url, title, png } = await visit(request, { kind: 'png', width, height, fullPage });
      const header = Buffer.from(png.buffer, png.byteOffset, png.byteLength);
      return { url, title, png, width: header.readUInt32BE(16), height: header.readUInt32BE(20) };
    },
    async health() {
      try {
        const late = AbortSignal.any([closing.signal, AbortSignal.timeout(probeMs)]);
        const started = await unlessAborted(running(), late);
        await started.probe(late);
        return { status: 'ok', detail: `Chromium ${(await started.ready).version}` };
      } catch (error) {
        const detail = error instanceof AppError ? error.message : 'The browser does not answer';
        return { status: 'unavailable', detail };
      }
    },
    async close() {
      closing.abort(new AppError('draining', 'The service is stopping'));
      await driver?.kill();
    },
  };
}

/** Only what is http or https; anything else would be the browser's own, or this machine's. */
function checkedAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new ToolError('Only http and https addresses can be opened');
  if (url.username || url.password) throw new ToolError('An address with a user name or password in it is not opened');
  return url.href;
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}
