/**
 * The program that drives a browser: a process of its own, so that output of pages (messages, dialogs, pictures) uses no
 * memory and no time of the node. It has no secrets: its environment is empty. It lives as long as its browser and its node.
 */
import { rm } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { ToolError } from '../../../errors.ts';
import { settlesWithin } from '../../../within.ts';
import { createConnector } from '../../outbound/connector.ts';
import type { DriverSettings, FromDriver, ToDriver } from '../protocol.ts';
import { AgentContexts } from './agent-contexts.ts';
import { startChromium } from './chromium.ts';
import { connectChromium, onThisMachine } from './connect-chromium.ts';
import { MemoryWatch } from './memory-watch.ts';
import { visitPage } from './visit.ts';

const closeMs = 3_000;
const watchMs = 500;

/** Its working directory, in which the browser keeps its profile. */
const home = process.cwd();
let isLeaving = false;
const running = new Map<number, AbortController>();
let opened: { browser: Browser; contexts: AgentContexts; memory: MemoryWatch | null } | null = null;

process.on('message', (message: ToDriver) => {
  if (message.op === 'begin') void begin(message.settings);
  else if (message.op === 'abort') running.get(message.id)?.abort();
  else void answer(message);
});
// Signals to the whole group are the node's to handle.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
// The node has ended.
process.on('disconnect', () => void leave());

async function begin(settings: DriverSettings): Promise<void> {
  try {
    const { chromium, allow } = settings;
    const { browser, pid, way } =
      'url' in chromium ? await connectChromium(chromium.url) : { ...(await startChromium(chromium.path, settings)), way: onThisMachine };
    browser.on('disconnected', () => isLeaving || process.exit(1));
    if (pid !== null) leaveWithout(pid);
    const contexts = new AgentContexts(browser, createConnector(allow), way, () => process.exit(1));
    opened = { browser, contexts, memory: pid === null ? null : new MemoryWatch(browser) };
    send({ op: 'ready', version: browser.version(), pid });
  } catch (error) {
    const failed: FromDriver = { op: 'failed', reason: error instanceof Error ? error.message : String(error) };
    process.send!(failed, () => process.exit(1));
  }
}

async function answer(message: Extract<ToDriver, { op: 'visit' | 'probe' }>): Promise<void> {
  const { id } = message;
  const abort = new AbortController();
  running.set(id, abort);
  try {
    const { browser, contexts, memory } = opened!;
    if (message.op === 'probe') {
      await probe(browser);
      return send({ op: 'done', id, result: null });
    }
    const { visit } = message;
    const open = () =>
      contexts.use(visit.agentId, (context) => visitPage(context, visit, abort.signal, () => contexts.drop(visit.agentId)));
    const result = await (memory === null ? open() : memory.during(open));
    send({ op: 'done', id, result });
  } catch (error) {
    // A failure caused by the end of the browser is not reported as a failure of the page.
    if (opened === null || !(await settlesWithin(probe(opened.browser), closeMs))) process.exit(1);
    send({ op: 'threw', id, message: error instanceof Error ? error.message : String(error), forAgent: error instanceof ToolError });
  } finally {
    running.delete(id);
  }
}

/** Resolves when the browser answers; ends this process if the browser has ended. */
async function probe(browser: Browser): Promise<void> {
  const session = await browser.newBrowserCDPSession().catch(() => process.exit(1));
  await session.detach();
}

/** Child processes of Chromium may outlive it and keep its pipe open, so that the pipe does not show its end. */
function leaveWithout(pid: number): void {
  setInterval(() => {
    try {
      process.kill(pid, 0);
    } catch {
      if (!isLeaving) process.exit(1);
    }
  }, watchMs).unref();
}

/** A Chromium that does not close ends when its pipe to this process does. */
async function leave(): Promise<void> {
  isLeaving = true;
  if (opened !== null) await settlesWithin(opened.browser.close(), closeMs);
  // The node does so too, unless it was killed.
  await rm(home, { recursive: true, force: true }).catch(() => {});
  process.exit(0);
}

function send(message: FromDriver): void {
  if (process.connected) process.send!(message);
}
