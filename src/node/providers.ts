/** The providers of a node: real if configured, otherwise embedded. */
import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { createChromiumBrowser } from '../providers/browser/chromium-browser.ts';
import { noBrowser } from '../providers/browser/no-browser.ts';
import type { Browser } from '../providers/browser/port.ts';
import { BrowserStats } from '../providers/browser/stats.ts';
import { ComputePool } from '../providers/compute/pool.ts';
import { createEmbeddedMail } from '../providers/mail/embedded.ts';
import type { MailProvider } from '../providers/mail/port.ts';
import { createSmtpMail } from '../providers/mail/smtp.ts';
import { createModel } from '../providers/model/create-model.ts';
import { offlineModel } from '../providers/model/embedded.ts';
import { ModelStats, observedModel } from '../providers/model/observed.ts';
import type { Model } from '../providers/model/port.ts';
import { createOutbound, type Outbound } from '../providers/outbound/outbound.ts';
import { createSandboxPool } from '../providers/sandbox/pool.ts';
import type { SandboxPool } from '../providers/sandbox/port.ts';
import type { Tracer } from '../tracing.ts';
import type { Disposers } from './disposers.ts';

export type Providers = {
  outbound: Outbound;
  /** For webhooks, which limit their connections themselves: many receivers may share an address, and one may hang. */
  deliveries: Outbound;
  /** For services that accounts connect: many accounts share an address, and answers may take seconds. */
  connected: Outbound;
  mail: MailProvider;
  model: Model;
  compute: ComputePool;
  sandbox: SandboxPool;
  browser: Browser;
  stats: { model: ModelStats; sandbox: Pick<SandboxPool, 'load'>; browser: BrowserStats };
};

/** To one service at once, half of them for one account. 500 calls that wait for answers take about 11 MB. */
export const serviceConnections = 1_000;

export function createProviders(config: Config, log: Log, disposers: Disposers, tracer: Tracer | null): Providers {
  const outbound = createOutbound({ allow: [...config.outboundAllow] });
  const deliveries = createOutbound({ allow: [...config.outboundAllow], connections: null });
  const connected = createOutbound({ allow: [...config.outboundAllow], connections: serviceConnections });
  disposers.push(() => Promise.all([outbound.close(), deliveries.close(), connected.close()]));
  const source = { from: config.mailFrom, clock: systemClock };
  const mail =
    config.smtpUrl === null
      ? createEmbeddedMail({ directory: join(config.dataDir, 'mail'), ...source })
      : createSmtpMail({ url: config.smtpUrl, ...source });
  const sandbox = createSandboxPool({ directory: join(config.dataDir, 'sandbox'), log });
  disposers.push(() => sandbox.close());
  const compute = new ComputePool({ processes: config.computeProcesses });
  disposers.push(() => compute.close());
  const browserStats = new BrowserStats();
  const browser = createBrowser(config, log, browserStats);
  disposers.push(() => browser.close());
  const stats = { model: new ModelStats(), sandbox, browser: browserStats };
  const model = observedModel(createModel(config, { log, offline: () => offlineModel(compute) }), stats.model, tracer);
  return { outbound, deliveries, connected, mail, model, compute, sandbox, browser, stats };
}

function createBrowser({ browserUrl, chromiumPath, outboundAllow }: Config, log: Log, stats: BrowserStats): Browser {
  if (browserUrl === null && chromiumPath === null) return noBrowser;
  const chromium = browserUrl === null ? { path: chromiumPath! } : { url: browserUrl };
  return createChromiumBrowser({ chromium, allow: [...outboundAllow], log, stats });
}
