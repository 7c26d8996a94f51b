/** Starts a Chromium. */
import { type Browser, chromium } from 'playwright-core';
import type { DriverSettings } from '../protocol.ts';

/** A start takes one to two seconds; on a busy machine it may take most of a minute, and a second one takes no less. */
const startTimeoutMs = 50_000;
/** Of the JavaScript heap of one page; `memory-watch.ts` bounds the rest. */
const heapMb = 512;

/** A proxy for everything outside of contexts: nothing listens there. Each context has a proxy of its own. */
const nowhere = 'socks5://127.0.0.1:9';

/** All connections use the proxy: names are not resolved by the browser, and UDP is off. */
export const hardening = [
  '--disable-quic',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--no-pings',
  '--disable-domain-reliability',
  '--deny-permission-prompts',
  `--js-flags=--max-old-space-size=${heapMb}`,
];

export async function startChromium(path: string, { sandbox, home }: DriverSettings): Promise<{ browser: Browser; pid: number | null }> {
  const browser = await chromium.launch({
    executablePath: path,
    chromiumSandbox: sandbox,
    args: hardening,
    proxy: { server: nowhere },
    env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: home, TMPDIR: home, LANG: 'C.UTF-8', TZ: 'UTC' },
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    timeout: startTimeoutMs,
  });
  return { browser, pid: (await processesOf(browser)).find(({ type }) => type === 'browser')?.id ?? null };
}

/** The processes that Chromium lists as its own. */
export async function processesOf(browser: Browser): Promise<{ type: string; id: number }[]> {
  const session = await browser.newBrowserCDPSession();
  try {
    return (await session.send('SystemInfo.getProcessInfo')).processInfo;
  } finally {
    await session.detach().catch(() => {});
  }
}
