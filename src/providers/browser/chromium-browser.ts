/**
 * The browser of a node: a Chromium behind a process that drives it, both started when the first page is opened and again after they have
 * ended. At most `maxPages` pages are open at a time, `maxPagesEach` of one account; accounts wait in turn.
 */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { monotonicMs } from '../../clock.ts';
import { AppError, ToolError } from '../../errors.ts';
import { FairGate } from '../../fair-queue.ts';
import type { Log } from '../../log.ts';
import { browserUsers } from './browser-user.ts';
import { cannotStart, DriverExited, DriverProcess } from './driver-process.ts';
import type { Browser, PageRequest } from './port.ts';
import type { DriverSettings, Visit, VisitResult } from './protocol.ts';
import { BrowserStats } from './stats.ts';

export type ChromiumBrowserOptions = Pick<DriverSettings, 'allow' | 'chromium'> & {
  log: Log;
  stats?: BrowserStats;
  maxPages?: number;
  maxPagesEach?: number;
  /** Without a page for so long it ends. */
  idleMs?: number;
};

const pageMs = 30_000;
/** The driver must report the time limit of a page within this time after it; otherwise it hangs. */
const graceMs = 20_000;
const tooMany = 'Too many pages wait for the browser';
/** The pause after a failed start. */
const restartPauseMs = 5_000;
/** A health check takes no longer; a start takes one to two seconds on a machine that is not busy. */
const probeMs = 8_000;
const defaultIdleMs = 600_000;

export function createChromiumBrowser(options: ChromiumBrowserOptions): Browser {
  const { log, stats = new BrowserStats(), maxPages = 4, maxPagesEach = 2, idleMs = defaultIdleMs, allow, chromium } = options;
  const gate = new FairGate({
    maxRunning: maxPages,
    maxRunningEach: maxPagesEach,
    maxWaiting: 256,
    maxWaitingEach: 64,
    maxWaitMs: 60_000,
    full: tooMany,
    retryAfterS: 5,
  });
  // Pages of one agent share its context, one after the other: a page's time begins with its turn.
  const agents = new FairGate({ maxRunning: 1_024, maxRunningEach: 1, maxWaiting: 1_024, full: tooMany });
  const suspects = new FairGate({ maxRunning: 1, maxWaiting: maxPages, full: 'The browser ends again and again' });
  stats.load = () => ({ running: gate.size.running, waiting: gate.size.waiting + agents.size.waiting });
  const closing = new AbortController();
  let places = browserUsers('path' in chromium);
  let driver: DriverProcess | null = null;
  /** null: the next page starts it. */
  let starting: Promise<DriverProcess> | null = null;
  let idle: NodeJS.Timeout | undefined;
  let failed: { atMs: number; error: unknown } | null = null;

  async function running(): Promise<DriverProcess> {
    closing.signal.throwIfAborted();
    if (failed !== null && monotonicMs() - failed.atMs < restartPauseMs) throw failed.error;
    starting ??= start();
    return await starting;
  }

  /** As the first user that it can run as, which is kept for its next start. */
  async function start(): Promise<DriverProcess> {
    try {
      if ('path' in chromium) await access(chromium.path, constants.X_OK);
    } catch (cause) {
      throw recordFailure(new AppError('unavailable', cannotStart, { cause }));
    }
    let error: unknown;
    for (const place of [...places]) {
      const started = new DriverProcess({ allow, chromium }, place);
      driver = started;
      try {
        const { version } = await started.ready;
        void started.gone.then(() => {
          if (driver === started) starting = null;
        });
        log[place.isSafe ? 'info' : 'warn']({ version, ...place }, 'browser started');
        places = [place];
        endWhenIdle();
        return started;
      } catch (err) {
        closing.signal.throwIfAborted();
        log.warn({ err, ...place }, 'browser cannot be started');
        error = err;
      }
    }
    throw recordFailure(error);
  }

  /** It takes some 400 MB; the next page starts another. */
  function endWhenIdle(): void {
    clearTimeout(idle);
    idle = setTimeout(() => {
      if (gate.size.running > 0) return;
      const unused = driver;
      driver = starting = null;
      void unused?.close();
    }, idleMs).unref();
  }

  function recordFailure(error: unknown): unknown {
    failed = { atMs: monotonicMs(), error };
    starting = null;
    return error;
  }

  async function visit({ url, agentId, accountId, signal, timeMs = pageMs }: PageRequest, capture: Visit['capture']): Promise<VisitResult> {
    const address = checkedAddress(url);
    const stopped = AbortSignal.any([signal, closing.signal]);
    const once = async () => {
      const started = await running();
      // The driver reports its own time limit; one that does not is killed with all its pages.
      const hung = setTimeout(() => void started.kill(), timeMs + graceMs);
      try {
        return await started.visit({ url: address, agentId, timeMs, capture }, stopped);
      } finally {
        clearTimeout(hung);
        endWhenIdle();
      }
    };
    const ended = (error: unknown): null => {
      if (error instanceof DriverExited) {
        stats.ended++;
        return null;
      }
      throw error;
    };
    const askedAtMs = monotonicMs();
    const pass = () => {
      const begin = () => {
        stats.waitS.record((monotonicMs() - askedAtMs) / 1_000);
        return once().catch(ended);
      };
      return gate.pass(accountId, begin, stopped);
    };
    const leave = await agents.enter(agentId, stopped);
    try {
      // Any open page may have ended it: each is opened once more, one after the other.
      const result = (await pass()) ?? (await suspects.pass(accountId, pass, stopped));
      if (result !== null) return result;
    } finally {
      leave();
    }
    throw new ToolError(`The browser ended while ${new URL(address).host} was open. Read it without the browser.`);
  }

  return {
    isConfigured: true,
    async render(request) {
      const { url, status, title, html, truncated } = await stats.watched(visit(request, { kind: 'html' }));
      return { url, status, title, html, truncated };
    },
    async screenshot({ width, height, fullPage, ...request }) {
      const { url, status, title, png } = await stats.watched(visit(request, { kind: 'png', width, height, fullPage }));
      const header = Buffer.from(png.buffer, png.byteOffset, png.byteLength);
      return { url, status, title, png, width: header.readUInt32BE(16), height: header.readUInt32BE(20) };
    },
    async health() {
      try {
        const late = AbortSignal.any([closing.signal, AbortSignal.timeout(probeMs)]);
        const started = await unlessAborted(running(), late);
        await started.probe(late);
        return { status: 'ok', detail: `Chromium ${(await started.ready).version}` };
      } catch (error) {
        if (error instanceof AppError) return { status: 'unavailable', detail: error.message };
        return { status: 'unavailable', detail: driver?.isReady === false ? 'The browser is starting' : 'The browser does not answer' };
      }
    },
    async close() {
      closing.abort(new AppError('draining', 'The service is stopping'));
      clearTimeout(idle);
      await driver?.close();
    },
  };
}

/** Only http and https; other schemes lead to the browser's own pages or to this machine. */
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
