/** Deployments: a site of a thousand files from the request to the host's having it, beside a bare script; and what requests notice of fifty at once. */
import { mkdir, writeFile } from 'node:fs/promises';
import { constants, getPriority, setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { goodToken } from '../test/support/hosts/host-stand-in.ts';
import type { Received } from './programs/deploy-host.ts';
import type { Published } from './programs/publishers.ts';
import { splitCpus } from './support/cpus.ts';
import { HalfLoad, requestKinds } from './support/half-load.ts';
import { machineMs } from './support/machine-clock.ts';
import { Program } from './support/program.ts';
import { type File, Publisher, siteOf } from './support/publisher.ts';
import { makeRow, type Row } from './support/row.ts';
import { Service } from './support/service.ts';
import { isNoisy, median } from './support/statistics.ts';
import type { Surroundings } from './support/surroundings.ts';

const sliceCount = 5;
const siteFiles = 1_000;
const atOnce = 50;
const smallSiteFiles = 20;
/** A busy node gives deployments about a tenth of one processor. */
const liveWithinMs = 30_000;
const pollMs = 100;
/** As nice values: about a tenth of the weight. */
const lessPriority = 10;

export async function benchDeploy(surroundings: Surroundings): Promise<Row[]> {
  const cpus = splitCpus();
  const host = new Program('programs/deploy-host.ts', { cpus: cpus.clients });
  const raw = new Program('limits/raw-deploy.ts', { cpus: cpus.service });
  const publishers = new Program('programs/publishers.ts', { cpus: cpus.clients });
  const scripts = new Program('limits/raw-deploy.ts', { cpus: cpus.clients });
  // They share a processor with what measures.
  for (const { pid } of [host, publishers, scripts])
    setPriority(pid, Math.min(constants.priority.PRIORITY_LOW, getPriority() + lessPriority));
  const hostUrl = await host.call<string>('listen');
  const service = await Service.start({
    dataDir: await surroundings.emptyFolder('deploy'),
    nodeOptions: surroundings.profiled('deploy'),
    env: { VERCEL_API_URL: hostUrl, OUTBOUND_ALLOW: '127.0.0.0/8' },
    cpus: cpus.service,
  });
  const load = await HalfLoad.prepare(service, cpus, surroundings.seconds);
  try {
    return [
      ...(await oneLargeSite(surroundings, { service, host, raw, hostUrl })),
      ...(await manyAtOnce(surroundings, { service, host, hostUrl, load, publishers, scripts })),
    ];
  } finally {
    await service.stop();
    await Promise.all([host, raw, load, publishers, scripts].map((program) => program.end()));
  }
}

/** Each slice has a site of its own, so that neither side knows a hash. */
async function oneLargeSite(
  surroundings: Surroundings,
  { service, host, raw, hostUrl }: { service: Service; host: Program; raw: Program; hostUrl: string },
): Promise<Row[]> {
  const [ours, limit, again]: [number[], number[], number[]] = [[], [], []];
  let sentAgain = 0;
  for (let slice = -1; slice < sliceCount; slice++) {
    const files = siteOf(siteFiles);
    const folder = await surroundings.emptyFolder(`site ${slice}`);
    await writeSite(folder, files);
    await host.call('forget');
    const rawBeganMs = machineMs();
    await raw.call('publish', { url: hostUrl, token: goodToken, folder });
    const rawTookMs = (await host.call<Received>('received')).atMs - rawBeganMs;

    const publisher = await Publisher.register(service.url, `site${slice}@example.com`, files);
    const untilAtHost = async () => {
      const beganMs = machineMs();
      await publisher.publish(pollMs);
      return (await host.call<Received>('received')).atMs - beganMs;
    };
    await host.call('forget');
    const tookMs = await untilAtHost();
    const { uploads } = await host.call<Received>('received');
    if (uploads !== siteFiles) throw new Error(`${uploads} contents were sent in place of ${siteFiles}`);
    const tookAgainMs = await untilAtHost();
    sentAgain += (await host.call<Received>('received')).uploads - uploads;
    // The first one warms both up.
    if (slice < 0) continue;
    limit.push(rawTookMs);
    ours.push(tookMs);
    again.push(tookAgainMs);
  }
  const noisy = [ours, limit].some(isNoisy);
  const figures = { bench: 'deploy', unit: 'ms', noisy } as const;
  const row = `${siteFiles.toLocaleString('en-US')} new files, from the request to the host`;
  return [
    makeRow({ ...figures, row, ours: median(ours), limit: median(limit), reach: { atMost: 1.5 } }),
    makeRow({ ...figures, row: 'the same site again', ours: median(again), limit: median(ours), reach: null }),
    makeRow({ ...figures, row: 'contents sent again', unit: 'files', ours: sentAgain, limit: 1, reach: { atMost: 0 } }),
  ];
}

type Beside = { service: Service; host: Program; hostUrl: string; load: HalfLoad; publishers: Program; scripts: Program };

/** The limit has the same host as busy: bare scripts send it as many sites. */
async function manyAtOnce(surroundings: Surroundings, { service, host, hostUrl, load, publishers, scripts }: Beside): Promise<Row[]> {
  const sites = Array.from({ length: atOnce }, () => siteOf(smallSiteFiles));
  await publishers.call('register', { url: service.url, sites });
  const folders: string[] = [];
  for (const [i, files] of sites.entries()) {
    folders.push(await surroundings.emptyFolder(`small site ${i}`));
    await writeSite(folders[i]!, files);
  }
  const rows: Row[] = [];
  // Lists first: commands make their table longer.
  for (const what of requestKinds) {
    const rate = await load.rate(what);
    const [alone, beside, tookMs]: [number[], number[], number[]] = [[], [], []];
    let refusals = 0;
    for (let slice = 0; slice < sliceCount; slice++) {
      await host.call('forget');
      const sent = scripts.call('publishAll', { url: hostUrl, token: goodToken, folders });
      alone.push(await load.p99Ms(what, rate));
      await sent;
      await host.call('forget');
      const deployments = publishers.call<Published>('publish');
      beside.push(await load.p99Ms(what, rate));
      const published = await deployments;
      refusals += published.refusals;
      tookMs.push(published.tookMs);
    }
    const row = `p99 of ${what} at half load (${Math.round(rate)}/s), ${atOnce} deployments begun at once`;
    const figures = { ours: median(beside), limit: median(alone), noisy: [alone, beside].some(isNoisy) };
    const aside = { bench: 'deploy', noisy: false } as const;
    rows.push(
      makeRow({ bench: 'deploy', row, unit: 'ms', ...figures, reach: { atMost: 1.25 } }),
      makeRow({
        ...aside,
        row: `these deployments beside ${what}, until all are live`,
        unit: 'ms',
        ours: median(tookMs),
        limit: liveWithinMs,
        reach: { atMost: 1 },
      }),
      makeRow({
        ...aside,
        row: `creations of deployments refused beside ${what}`,
        unit: 'answers',
        ours: refusals,
        limit: 1,
        reach: { atMost: 0 },
      }),
    );
  }
  return rows;
}

async function writeSite(folder: string, files: readonly File[]): Promise<void> {
  for (const { path, content } of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}
