/** Load on one URL from a process of its own: `wrk` where it is installed, else autocannon. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type HttpLoad = { perSecond: number; count: number; p99Ms: number };
export type HttpTarget = {
  url: string;
  authorization: string;
  connections: number;
  /** Default: a GET. */
  post?: { body: string; headers: Record<string, string> };
};

const run = promisify(execFile);
const hasWrk = spawnSync('wrk', ['--version']).error === undefined;

export const loaderName = hasWrk ? 'wrk' : 'autocannon';

/** Rejects when any answer was not 200, or a connection broke. */
export async function httpLoad(target: HttpTarget, ms: number): Promise<HttpLoad> {
  return hasWrk ? loadByWrk(target, ms) : loadByAutocannon(target, ms);
}

async function loadByWrk({ url, authorization, connections, post }: HttpTarget, ms: number): Promise<HttpLoad> {
  const seconds = Math.max(1, Math.round(ms / 1_000));
  const header = `Authorization: ${authorization}`;
  const folder = await mkdtemp(join(tmpdir(), 'troupe-wrk-'));
  const script = join(folder, 'post.lua');
  if (post !== undefined) await writeFile(script, postScript(post));
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '-H', header, ...(post === undefined ? [] : ['-s', script]), url];
  const { stdout } = await run('wrk', args).finally(() => rm(folder, { recursive: true }));
  const failed = /Non-2xx.*|Socket errors.*/.exec(stdout);
  if (failed !== null) throw new Error(failed[0]);
  const [, value, unit] = /99%\s+([\d.]+)(us|ms|s)/.exec(stdout)!;
  return {
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)![1]),
    count: Number(/(\d+) requests in/.exec(stdout)![1]),
    p99Ms: Number(value) * { us: 0.001, ms: 1, s: 1_000 }[unit as 'us' | 'ms' | 's'],
  };
}

/** wrk takes a body only from a script. A JSON text is a Lua string but for brackets, which these bodies do not repeat. */
function postScript({ body, headers }: NonNullable<HttpTarget['post']>): string {
  const lines = Object.entries(headers).map(([name, value]) => `wrk.headers["${name}"] = "${value}"`);
  return ['wrk.method = "POST"', `wrk.body = [==[${body}]==]`, ...lines].join('\n');
}

async function loadByAutocannon({ url, authorization, connections, post }: HttpTarget, ms: number): Promise<HttpLoad> {
  const program = createRequire(import.meta.url).resolve('autocannon/autocannon.js');
  const seconds = Math.max(1, Math.round(ms / 1_000));
  const headers = Object.entries(post?.headers ?? {}).flatMap(([name, value]) => ['-H', `${name}=${value}`]);
  const posted = post === undefined ? [] : ['-m', 'POST', '-b', post.body, ...headers];
  const own = ['-c', String(connections), '-d', String(seconds), '-H', `Authorization=${authorization}`];
  const args = [program, ...own, ...posted, '--json', '-n', url];
  const { stdout } = await run(process.execPath, args, { maxBuffer: 16 * 1024 * 1024 });
  const { requests, latency, errors, non2xx } = JSON.parse(stdout);
  if (errors > 0 || non2xx > 0) throw new Error(`${errors} connections broke, ${non2xx} answers were not 2xx`);
  return { perSecond: requests.average, count: requests.total, p99Ms: latency.p99 };
}
