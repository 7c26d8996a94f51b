/**
 * A browser context for each agent: its own cookies, storage, cache and proxy. A context ends when it has been unused for a while, or
 * when another agent needs its slot.
 */
import type { Browser, BrowserContext } from 'playwright-core';
import { settlesWithin } from '../../../within.ts';
import type { Connector } from '../../outbound/connector.ts';
import { PageProxy, type PageProxyOptions } from './page-proxy.ts';

const maxContexts = 16;
const idleMs = 300_000;
const closeTimeoutMs = 5_000;

export type AgentContext = { context: BrowserContext; proxy: PageProxy };
/** How the browser reaches this process. */
export type Way = Pick<PageProxyOptions, 'host' | 'isPeer'>;
type Kept = { opening: Promise<AgentContext>; isBusy: boolean; idle: NodeJS.Timeout | undefined };

export class AgentContexts {
  private readonly browser: Browser;
  private readonly connector: Connector;
  private readonly way: Way;
  private readonly onStuck: () => void;
  /** In the order of their last use. */
  private readonly kept = new Map<string, Kept>();
  /** The last use of each agent that has one. */
  private readonly uses = new Map<string, Promise<unknown>>();

  /** @param onStuck called when a context does not close: the browser must be ended */
  constructor(browser: Browser, connector: Connector, way: Way, onStuck: () => void) {
    this.browser = browser;
    this.connector = connector;
    this.way = way;
    this.onStuck = onStuck;
  }

  /** Runs `work` with the agent's context; of one agent one after the other. */
  async use<T>(agentId: string, work: (context: AgentContext) => Promise<T>): Promise<T> {
    const before = this.uses.get(agentId);
    const run = (async () => {
      await before;
      return await this.useNow(agentId, work);
    })();
    const use = run.catch(() => {});
    this.uses.set(agentId, use);
    void use.then(() => this.uses.get(agentId) === use && this.uses.delete(agentId));
    return await run;
  }

  /** Ends the agent's context; its next page gets a new one. */
  async drop(agentId: string): Promise<void> {
    const kept = this.kept.get(agentId);
    if (kept === undefined) return;
    this.kept.delete(agentId);
    clearTimeout(kept.idle);
    const opened = await kept.opening.catch(() => null);
    if (opened === null) return;
    await opened.proxy.close();
    if (!(await settlesWithin(opened.context.close(), closeTimeoutMs))) this.onStuck();
  }

  private async useNow<T>(agentId: string, work: (context: AgentContext) => Promise<T>): Promise<T> {
    const kept = this.kept.get(agentId) ?? { opening: this.create(), isBusy: true, idle: undefined };
    kept.isBusy = true;
    clearTimeout(kept.idle);
    // Moves to the end.
    this.kept.delete(agentId);
    this.kept.set(agentId, kept);
    kept.opening.catch(() => this.kept.get(agentId) === kept && this.kept.delete(agentId));
    try {
      if (this.kept.size > maxContexts) await this.dropOldest();
      return await work(await kept.opening);
    } finally {
      kept.isBusy = false;
      if (this.kept.get(agentId) === kept) kept.idle = setTimeout(() => void this.drop(agentId), idleMs);
    }
  }

  private async create(): Promise<AgentContext> {
    const proxy = new PageProxy({ ...this.way, connector: this.connector });
    const server = await proxy.listen();
    try {
      const context = await this.browser.newContext({
        proxy: { server },
        acceptDownloads: false,
        serviceWorkers: 'block',
        viewport: { width: 1280, height: 720 },
        locale: 'en-US',
        timezoneId: 'UTC',
        userAgent: userAgentOf(this.browser.version()),
      });
      await context.addInitScript(withoutDatagrams);
      return { context, proxy };
    } catch (error) {
      await proxy.close();
      throw error;
    }
  }

  private async dropOldest(): Promise<void> {
    for (const [agentId, { isBusy }] of this.kept) if (!isBusy) return await this.drop(agentId);
  }
}

/** APIs that use UDP, which passes any proxy. Flags disable them too, but an external browser may be started without these flags. */
const withoutDatagrams = "for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) delete globalThis[name];";

/** In the form of other browsers, with this service's name: some sites refuse a headless browser. */
function userAgentOf(version: string): string {
  return `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version.split('.')[0]}.0.0.0 Safari/537.36 Troupe/0.1`;
}
