/** How long a picture of a page takes, once the browser runs. */
import { existsSync } from 'node:fs';
import { createLog } from '../src/log.ts';
import { createChromiumBrowser } from '../src/providers/browser/chromium-browser.ts';
import { WebSite } from '../test/support/web-site.ts';
import { machineMs } from './support/machine-clock.ts';
import { makeRow, type Row } from './support/row.ts';
import { isNoisy, median } from './support/statistics.ts';

const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((file) => existsSync(file));
const pictures = 10;
const limitMs = 2_000;
const page = `<!doctype html><title>A page</title><h1>Heading</h1>${'<p>Some text that stands in a line.</p>'.repeat(200)}<script>document.title = 'Done'</script>`;

/** No row where no Chromium is installed. */
export async function benchBrowser(): Promise<Row[]> {
  if (chromium === undefined) return [];
  const site = await WebSite.open({ '/': page });
  const browser = createChromiumBrowser({ allow: ['127.0.0.1'], chromium: { path: chromium }, log: createLog('silent') });
  const shoot = async () => {
    const beganAtMs = machineMs();
    const who = { agentId: 'agnt_1', accountId: 'acct_1', signal: new AbortController().signal };
    await browser.screenshot({ url: `${site.url}/`, ...who, width: 1_280, height: 800, fullPage: false });
    return machineMs() - beganAtMs;
  };
  try {
    await shoot();
    const tookMs: number[] = [];
    for (let i = 0; i < pictures; i++) tookMs.push(await shoot());
    const figures = { ours: median(tookMs), limit: limitMs, noisy: isNoisy(tookMs) };
    return [makeRow({ bench: 'browser', row: 'picture of a local page after the first', unit: 'ms', reach: { atMost: 1 }, ...figures })];
  } finally {
    await browser.close();
    await site.close();
  }
}
