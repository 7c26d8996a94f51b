/**
 * `npm run soak [-- --minutes 5] [--rate 200]`: steady load on the service as a user runs it (reads, lists, uploads that commit, tasks of the
 * offline model, open sockets), and whether heap, resident memory and latency stay where they are. Ends with 1 when they do not, when a request
 * fails, or when a socket misses an event. Everything stays on this machine.
 */
import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../test/support/temporary-folder.ts';
import { residentBytes } from './support/other-process.ts';
import { Service } from './support/service.ts';
import { SoakLoad } from './support/soak-load.ts';
import { percentile, slope } from './support/statistics.ts';

const taskEveryMs = 3_000;
const sampleEveryMs = 10_000;
const tickMs = 5;
const megabyte = 2 ** 20;
/** Caches fill and code is compiled in this first share of the time: what it shows is not judged. */
const warmUpShare = 0.3;
/** Growth a minute that is taken for flat: that of actors which stay five minutes in memory after their task has ended. */
const flatHeapShare = 0.02;
const flatHeapBytes = megabyte;
const flatResidentBytes = 5 * megabyte;
/** The second half's p99 against the first's. */
const flatLatencyFactor = 1.5;
const flatLatencyMs = 5;

type Sample = { minute: number; heapBytes: number; residentBytes: number; p50Ms: number; p99Ms: number; requests: number };

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { minutes: { type: 'string', default: '5' }, rate: { type: 'string', default: '200' } } });
  const minutes = Number(values.minutes);
  const ratePerSecond = Number(values.rate);
  if (!(minutes >= 1 && minutes <= 120 && ratePerSecond >= 1 && ratePerSecond <= 5_000)) {
    console.error('Usage: npm run soak -- [--minutes 1 to 120] [--rate 1 to 5000 requests a second]');
    return 2;
  }
  const folder = await temporaryFolder('troupe-soak-');
  const service = await Service.start({
    dataDir: folder.path,
    nodeOptions: ['--expose-gc', '--import', new URL('./support/heap-report.ts', import.meta.url).href],
  });
  try {
    const load = await SoakLoad.open(service.url);
    const samples = await soak(service, load, minutes * 60_000, ratePerSecond);
    return verdict(samples, load);
  } finally {
    await service.stop();
    await folder.remove();
  }
}

async function soak(service: Service, load: SoakLoad, ms: number, ratePerSecond: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  const beganMs = performance.now();
  let nextSampleMs = sampleEveryMs;
  let nextTaskMs = 0;
  for (let elapsedMs = 0; elapsedMs < ms; elapsedMs = performance.now() - beganMs) {
    load.catchUp((elapsedMs * ratePerSecond) / 1_000);
    if (elapsedMs >= nextTaskMs) {
      nextTaskMs += taskEveryMs;
      load.startTask();
    }
    if (elapsedMs >= nextSampleMs) {
      nextSampleMs += sampleEveryMs;
      const sample = { minute: elapsedMs / 60_000, ...(await memoryOf(service)), ...load.takeLatencies() };
      samples.push(sample);
      console.log(line(sample));
    }
    await after(tickMs);
  }
  await load.close();
  return samples;
}

async function memoryOf(service: Service): Promise<{ heapBytes: number; residentBytes: number }> {
  const answered = once(service.process, 'message', { signal: AbortSignal.timeout(10_000) });
  service.process.send({ heap: true });
  const [{ heapBytes }] = await answered;
  return { heapBytes, residentBytes: residentBytes(service.pid) ?? 0 };
}

function verdict(samples: readonly Sample[], load: SoakLoad): number {
  const judged = samples.slice(Math.floor(samples.length * warmUpShare));
  const perMinute = (of: (sample: Sample) => number) => slope(judged.map((sample) => ({ x: sample.minute, y: of(sample) })));
  const heapGrowth = perMinute(({ heapBytes }) => heapBytes);
  const residentGrowth = perMinute(({ residentBytes }) => residentBytes);
  const half = judged.length >> 1;
  // Other work on the machine lifts some windows, a service that gets slower lifts all: so the better windows are compared.
  const usual = (part: readonly Sample[]) =>
    percentile(
      part.map(({ p99Ms }) => p99Ms),
      0.25,
    );
  const [before, now] = [usual(judged.slice(0, half)), usual(judged.slice(half))];
  const outcomes: [string, boolean][] = [
    [`heap grows ${megabytes(heapGrowth)} MB a minute`, heapGrowth <= Math.max(flatHeapBytes, judged[0]!.heapBytes * flatHeapShare)],
    [`resident memory grows ${megabytes(residentGrowth)} MB a minute`, residentGrowth <= flatResidentBytes],
    [`p99 was ${before.toFixed(1)} ms and is ${now.toFixed(1)} ms`, now <= before * flatLatencyFactor + flatLatencyMs],
    [
      `${load.failures.length} requests failed${load.failures.length > 0 ? `, the first: ${load.failures[0]}` : ''}`,
      load.failures.length === 0,
    ],
    [`${load.missedEvents} events missed of ${load.events} received; ${load.tasks} tasks`, load.missedEvents === 0 && load.events > 0],
  ];
  for (const [text, holds] of outcomes) console.log(`${holds ? 'flat     ' : 'NOT FLAT '} ${text}`);
  return outcomes.every(([, holds]) => holds) ? 0 : 1;
}

function line({ minute, heapBytes, residentBytes, p50Ms, p99Ms, requests }: Sample): string {
  const memory = `heap ${megabytes(heapBytes)} MB  resident ${megabytes(residentBytes)} MB`;
  return `${minute.toFixed(1).padStart(5)} min  ${memory}  p50 ${p50Ms.toFixed(1)} ms  p99 ${p99Ms.toFixed(1)} ms  ${requests} requests`;
}

function megabytes(bytes: number): string {
  return (bytes / megabyte).toFixed(1);
}
