/** One visit of a page, from its address to its result, with limits of time, bytes, dialogs and windows. */
import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import { ToolError } from '../../../errors.ts';
import { settlesWithin } from '../../../within.ts';
import { crashedPage, maxHtmlBytes, maxPngBytes, type Visit, type VisitResult } from '../protocol.ts';
import type { AgentContext } from './agent-contexts.ts';
import { readExpression } from './read-page.ts';

const maxPageBytes = 64 * 2 ** 20;
/** After this time a page that is still loading is read as it is. */
const loadMs = 15_000;
/** The time for requests of scripts after the load. */
const quietMs = 3_000;
const closeTimeoutMs = 1_000;
const closeMs = 3_000;
const maxDialogs = 20;
const maxWindows = 20;
const maxDocuments = 20;
const maxHeight = 10_000;
const noPage = { html: '', truncated: false, png: new Uint8Array() };

/** Throws `ToolError` with the reason for an agent. `stuck`: the page did not close, so its context must not be used again. */
export async function visitPage(
  { context, proxy }: AgentContext,
  visit: Visit,
  signal: AbortSignal,
  stuck: () => Promise<void>,
): Promise<VisitResult> {
  signal.throwIfAborted();
  const { promise: ended, reject } = Promise.withResolvers<never>();
  ended.catch(() => {});
  const host = new URL(visit.url).host;
  const stop = (message: string) => reject(new ToolError(message));
  const onAbort = () => reject(signal.reason);
  const timer = setTimeout(
    () => stop(`${host} could not be read within ${visit.timeMs / 1000} s: its scripts or its parts do not end.`),
    visit.timeMs,
  );
  signal.addEventListener('abort', onAbort, { once: true });
  proxy.beginPage(maxPageBytes, () => stop(`The page of ${host} transfers more than ${maxPageBytes / 2 ** 20} MB.`));
  let page: Page | null = null;
  const onWindow = windowCloser(() => page, stop);
  context.on('page', onWindow);
  try {
    page = await Promise.race([context.newPage(), ended]);
    guard(page, stop);
    return await Promise.race([read(page, visit, proxy), ended]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    proxy.endPage();
    const closed = await closePages(context);
    context.off('page', onWindow);
    if (!closed) await stuck();
  }
}

/** Whether all are closed. If a page computes and does not close, its process is ended. */
async function closePages(context: BrowserContext): Promise<boolean> {
  const closing = Promise.all(context.pages().map((page) => page.close()));
  if (await settlesWithin(closing, closeTimeoutMs)) return true;
  await settlesWithin(Promise.all(context.pages().map(crash)), closeMs);
  return await settlesWithin(closing, closeMs);
}

async function crash(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Page.crash');
}

function windowCloser(own: () => Page | null, stop: (message: string) => void): (opened: Page) => void {
  let windows = 0;
  return (opened) => {
    // Before the page of the visit is known, the only page is that one.
    if (own() === null || opened === own()) return;
    if (++windows > maxWindows) stop('The page opens windows without end.');
    opened.close().catch(() => {});
  };
}

function guard(page: Page, stop: (message: string) => void): void {
  let dialogs = 0;
  page.on('crash', () => stop(crashedPage));
  page.on('close', () => stop('The page closed itself.'));
  let documents = 0;
  page.on('request', (request) => {
    if (!request.isNavigationRequest() || request.frame() !== page.mainFrame()) return;
    if (++documents > maxDocuments) stop('The page leads from one document to the next without end.');
  });
  page.on('dialog', (dialog) => {
    if (++dialogs > maxDialogs) stop('The page shows dialogs without end.');
    dialog.dismiss().catch(() => {});
  });
}

async function read(page: Page, visit: Visit, proxy: AgentContext['proxy']): Promise<VisitResult> {
  if (visit.capture.kind === 'png') await page.setViewportSize({ width: visit.capture.width, height: visit.capture.height });
  const status = await open(page, visit.url, proxy);
  const isLoaded = await settlesWithin(page.waitForLoadState('load'), loadMs);
  if (isLoaded) await settlesWithin(page.waitForLoadState('networkidle'), quietMs);
  const session = await page.context().newCDPSession(page);
  const found = await readDocument(session);
  if (!/^https?:/.test(found.url)) throw new ToolError(`${visit.url} leads to an address that is not http or https.`);
  if (visit.capture.kind === 'html') return { ...noPage, ...found, status };
  return { ...noPage, url: found.url, title: found.title, status, png: await picture(page, session, visit.capture) };
}

/** Resolves with the status once the document begins to arrive. */
async function open(page: Page, url: string, proxy: AgentContext['proxy']): Promise<number> {
  let requestedUrl = url;
  page.on('request', (request) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) requestedUrl = request.url();
  });
  try {
    return (await page.goto(url, { waitUntil: 'commit', timeout: 0 }))?.status() ?? 0;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const { hostname, host } = new URL(requestedUrl);
    const why = proxy.failureOf(hostname);
    if (why !== undefined) throw new ToolError(`${why}.`);
    if (message.includes('Download is starting'))
      throw new ToolError(`${url} is a download, not a page. Call fetch_url without \`render\` to read it.`);
    const code = /net::(ERR_[A-Z0-9_]+)/.exec(message)?.[1];
    if (code !== undefined) throw new ToolError(`${host} could not be opened: ${code}.`);
    throw error;
  }
}

/** Read in an isolated world, which the page's scripts cannot change, and shortened there, so that the message is bounded. */
async function readDocument(session: CDPSession): Promise<{ url: string; title: string; html: string; truncated: boolean }> {
  for (let left = 5; ; left--) {
    try {
      const { frameTree } = await session.send('Page.getFrameTree');
      const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id });
      const { result } = await session.send('Runtime.evaluate', {
        expression: readExpression(maxHtmlBytes),
        contextId: executionContextId,
        returnByValue: true,
      });
      const { url, title, html, truncated } = result.value as { url: string; title: string; html: string; truncated: boolean };
      const bytes = Buffer.from(html);
      return { url, title, html: bytes.subarray(0, maxHtmlBytes).toString(), truncated: truncated || bytes.length > maxHtmlBytes };
    } catch (error) {
      // The page has navigated to another document meanwhile.
      if (left === 0) throw new ToolError('The page leads from one document to the next without end.', { cause: error });
    }
  }
}

async function picture(page: Page, session: CDPSession, size: { width: number; height: number; fullPage: boolean }): Promise<Uint8Array> {
  const { cssContentSize } = await session.send('Page.getLayoutMetrics');
  const height = size.fullPage ? Math.min(maxHeight, Math.max(size.height, Math.ceil(cssContentSize.height))) : size.height;
  const png = await page.screenshot({
    type: 'png',
    fullPage: size.fullPage,
    clip: { x: 0, y: 0, width: size.width, height },
    animations: 'disabled',
    timeout: 0,
  });
  if (png.length > maxPngBytes)
    throw new ToolError(`The picture of the page has more than ${maxPngBytes / 2 ** 20} MB. Ask for a smaller one.`);
  return png;
}
