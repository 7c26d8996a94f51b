/**
 * Connects to a Chromium that runs elsewhere. It must reach this process, because its contexts have no other connection to the network: the proxies listen on
 * the address from which this machine reaches the browser. At first one page asks for a name that only this process knows; from then on the
 * proxies serve the address that this came from, and no other.
 */
import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import { type Browser, chromium } from 'playwright-core';
import { settlesWithin } from '../../../within.ts';
import type { Way } from './agent-contexts.ts';
import { PageProxy } from './page-proxy.ts';

const connectMs = 10_000;
const pairingMs = 10_000;

export const onThisMachine: Way = { host: '127.0.0.1', isPeer: (address) => address === '::1' || address.startsWith('127.') };

export async function connectChromium(address: string): Promise<{ browser: Browser; pid: null; way: Way }> {
  const url = new URL(address);
  const isPlain = url.protocol === 'http:' || url.protocol === 'ws:';
  // Chromium answers only requests whose Host is an address, as a protection against pages that use its name.
  if (isPlain) url.hostname = bracketed((await lookup(url.hostname.replace(/^\[|\]$/g, ''))).address);
  const host = await ownAddressTowards(url, isPlain ? 80 : 443);
  const browser = await chromium.connectOverCDP(url.href, { timeout: connectMs });
  const peer = await peerOf(browser, host);
  return { browser, pid: null, way: { host, isPeer: (asking) => asking === peer } };
}

async function ownAddressTowards({ hostname, port }: URL, defaultPort: number): Promise<string> {
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || defaultPort, timeout: connectMs });
  try {
    return await new Promise((resolve, reject) => {
      socket.once('connect', () => resolve(socket.localAddress!.replace(/^::ffff:/, '')));
      socket.once('error', () => reject(new Error(`nothing answers at ${hostname}:${port}`)));
      socket.once('timeout', () => reject(new Error(`${hostname}:${port} does not answer`)));
    });
  } finally {
    socket.destroy();
  }
}

/** The address from which the browser reaches `host`. */
async function peerOf(browser: Browser, host: string): Promise<string> {
  const secret = `${randomBytes(20).toString('hex')}.invalid`;
  const { promise: found, resolve } = Promise.withResolvers<string>();
  const proxy = new PageProxy({
    connector: { connect: () => Promise.reject(new Error('it serves nobody')) },
    host,
    isPeer: () => false,
    onRefusedPeer: (peerSecret, address) => peerSecret === secret && resolve(address),
  });
  const server = await proxy.listen();
  const context = await browser.newContext({ proxy: { server } });
  try {
    const page = await context.newPage();
    page.goto(`http://${secret}/`).catch(() => {});
    if (!(await settlesWithin(found, pairingMs))) throw new Error(`the browser does not reach this node at ${host}`);
    return await found;
  } finally {
    await settlesWithin(context.close(), connectMs);
    await proxy.close();
  }
}

function bracketed(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}
