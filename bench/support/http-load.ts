/** Load on one URL from a process of its own: `wrk` where it is installed, else autocannon. */
import { execFile, spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';

export type HttpLoad = { perSecond: number; count: number; p99Ms: number };
export type HttpTarget = { url: string; authorization: string; connections: number };

const run = promisify(execFile);
const hasWrk = spawnSync('wrk', ['--version']).error === undefined;

export const loaderName = hasWrk ? 'wrk' : 'autocannon';

/** Rejects when any answer was not 200, or a connection broke. */
export async function httpLoad(target: HttpTarget, ms: number): Promise<HttpLoad> {
  return hasWrk ? loadByWrk(target, ms) : loadByAutocannon(target, ms);
}

async function loadByWrk({ url, authorization, connections }: HttpTarget, ms: number): Promise<HttpLoad> {
  const seconds = Math.max(1, Math.round(ms / 1_000));
  const header = `Authorization: ${authorization}`;
  const { stdout } = await run('wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '-H', header, url]);
  const failed = /Non-2xx.*|Socket errors.*/.exec(stdout);
  if (failed !== null) throw new Error(failed[0]);
  const [, value, unit] = /99%\s+([\d.]+)(us|ms|s)/.exec(stdout)!;
  return {
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)![1]),
    count: Number(/(\d+) requests in/.exec(stdout)![1]),
    p99Ms: Number(value) * { us: 0.001, ms: 1, s: 1_000 }[unit as 'us' | 'ms' | 's'],
  };
}

async function loadByAutocannon({ url, authorization, connections }: HttpTarget, ms: number): Promise<HttpLoad> {
  const program = createRequire(import.meta.url).resolve('autocannon/autocannon.js');
  const seconds = Math.max(1, Math.round(ms / 1_000));
  const args = [program, '-c', String(connections), '-d', String(seconds), '-H', `Authorization=${authorization}`, '--json', '-n', url];
  const { stdout } = await run(process.execPath, args, { maxBuffer: 16 * 1024 * 1024 });
  const { requests, latency, errors, non2xx } = JSON.parse(stdout);
  if (errors > 0 || non2xx > 0) throw new Error(`${errors} connections broke, ${non2xx} answers were not 2xx`);
  return { perSecond: requests.average, count: requests.total, p99Ms: latency.p99 };
}
