/**
 * The program that drives a browser: a process of its own, so that what pages make the browser say (messages, dialogs, pictures) takes no
 * memory and no time of the node. It has no secrets: its environment is empty. It lives as long as its browser and its node.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { ToolError } from '../../../errors.ts';
import { createConnector } from '../../outbound/connector.ts';
import type { DriverSettings, FromDriver, ToDriver } from '../protocol.ts';
import { AgentContexts } from './agent-contexts.ts';
import { openChromium } from './chromium.ts';
import { visitPage } from './visit.ts';

const running = new Map<number, AbortController>();
let home: string | null = null;
let opened: { browser: Browser; contexts: AgentContexts } | null = null;

process.on('message', (message: ToDriver) => {
  if (message.op === 'begin') void begin(message.settings);
  else if (message.op === 'abort') running.get(message.id)?.abort();
  else void answer(message);
});
// The node has ended.
process.on('disconnect', () => void leave());

async function begin(settings: DriverSettings): Promise<void> {
  try {
    home = await mkdtemp(join(tmpdir(), 'troupe-browser-'));
    const { browser, pid } = await openChromium(settings, home);
    browser.on('disconnected', () => void leave());
    opened = { browser, contexts: new AgentContexts(browser, createConnector(settings.allow), () => void leave()) };
    say({ op: 'ready', version: browser.version(), pid });
  } catch (error) {
    say({ op: 'failed', reason: error instanceof Error ? error.message : String(error) });
    await leave();
  }
}

async function answer(message: Extract<ToDriver, { op: 'visit' | 'probe' }>): Promise<void> {
  const { id } = message;
  const abort = new AbortController();
  running.set(id, abort);
  try {
    const { browser, contexts } = opened!;
    if (message.op === 'probe') {
      await (await browser.newBrowserCDPSession()).detach();
      return say({ op: 'done', id, result: null });
    }
    const { visit } = message;
    const result = await contexts.use(visit.agentId, (context) =>
      visitPage(context, visit, abort.signal, () => contexts.drop(visit.agentId)),
    );
    say({ op: 'done', id, result });
  } catch (error) {
    say({ op: 'threw', id, message: error instanceof Error ? error.message : String(error), forAgent: error instanceof ToolError });
  } finally {
    running.delete(id);
  }
}

/** Chromium ends when its pipe to this process is closed. */
async function leave(): Promise<void> {
  if (home !== null) await rm(home, { recursive: true, force: true, maxRetries: 2 }).catch(() => {});
  process.exit(0);
}

function say(message: FromDriver): void {
  if (process.connected) process.send!(message);
}
