/** `troupe deploy`: uploads a folder as a workspace, publishes it, and follows that to its end. */
import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isoTimestamp, machineClock } from '../clock.ts';
import type { Config } from '../config.ts';
import { type Client, createClient } from './client.ts';
import { type DeployOptions, type DeployStart, deployHelp, readDeployOptions } from './deploy-options.ts';
import { type Deployment, type DeployOutput, humanOutput, jsonOutput, type LogLine } from './deploy-output.ts';
import { exitCodes, Failure } from './failure.ts';
import { Interrupted, type Interrupts, watchInterrupts } from './interrupts.ts';
import { fileSize, oneLine } from './plain-text.ts';
import type { Caller } from './run.ts';
import { serviceClient } from './service-client.ts';
import { readSiteFolder, type SiteFolder } from './site-folder.ts';
import { uploadSite } from './site-upload.ts';

/** Quick at first: a preview is live at once. Then seldom enough for the rate of the smallest plan. */
const pausesMs = [250, 500, 1_000, 1_000, 2_000];
const logPage = 1_000;
const maxNameChars = 150;
const shownLeftOut = 5;

/** The exit code; throws `Failure`. */
export async function deploy(args: string[], config: Config, { folder, dumbTerminal }: Caller): Promise<number> {
  const options = await readDeployOptions(args, folder);
  if (options === 'help') {
    process.stdout.write(`${deployHelp}\n`);
    return exitCodes.complete;
  }
  const streams = { out: process.stdout, notices: process.stderr };
  const output = options.json ? jsonOutput(streams) : humanOutput(streams, process.stdout.isTTY && !dumbTerminal);
  const interrupts = watchInterrupts();
  let id = options.attach;
  try {
    // Before the service is asked for anything.
    const site = options.start === null ? null : await readSiteFolder(options.start.folder);
    const client = await serviceClient(options, config, output.notice, interrupts.signal);
    const creation = site === null ? null : await upload(client, options.start!, site, output);
    const first =
      creation === null
        ? await client.request<Deployment>('GET', deploymentPath(id!))
        : await client.request<Deployment>('POST', '/v1/deployments', { json: creation });
    id = first.id;
    if (creation !== null) output.notice(`Deployment ${oneLine(id)}`);
    const ended = await follow(client, first, { output, interrupts });
    output.result(ended);
    return ended.status === 'live' ? exitCodes.complete : ended.error?.code === 'cancelled' ? exitCodes.cancelled : exitCodes.failed;
  } catch (error) {
    const { reason } = interrupts.signal;
    if (!(reason instanceof Interrupted)) throw id === null ? error : withAttachHint(error, attachCommand(id, options));
    output.notice(
      id === null
        ? 'Ended before the deployment was created.'
        : `The deployment continues. Follow it again with: ${attachCommand(id, options)}`,
    );
    return reason.exitCode;
  } finally {
    output.end();
  }
}

/** The body of the request that creates the deployment. */
async function upload(client: Client, start: DeployStart, site: SiteFolder, output: DeployOutput): Promise<object> {
  const { leftOut, files, bytes } = site;
  const { target, configId } = await whereTo(client, start);
  if (leftOut.length > 0) output.notice(`Left out: ${shownNames(leftOut)}`);
  const workspaceId = start.workspaceId ?? (await newWorkspace(client, start.folder));
  output.notice(
    `Uploading ${files.length} ${files.length === 1 ? 'file' : 'files'} (${fileSize(bytes)}) into workspace ${oneLine(workspaceId)}`,
  );
  const all = { files: files.length, bytes };
  try {
    await uploadSite(client, workspaceId, files, (sofar) => output.uploading(sofar, all));
  } catch (error) {
    // Files of a given workspace may have become new versions; only a new workspace is emptied.
    if (start.workspaceId === null) await emptied(client, workspaceId);
    throw error;
  }
  return { workspace_id: workspaceId, target, ...(configId === null ? {} : { config_id: configId }) };
}

type ListedConfig = { id: string; name: string; target: string };

/** Found before anything is uploaded. */
async function whereTo(client: Client, { target, config }: DeployStart): Promise<{ target: string; configId: string | null }> {
  const { data } = await client.request<{ data: ListedConfig[] }>('GET', '/v1/deployments/configs?limit=100');
  const fitting = data.filter((one) => target === null || one.target === target);
  const named = fitting.find((one) => one.id === config || one.name === config);
  if (named !== undefined) return { target: named.target, configId: named.id };
  const where = target === null ? '' : ` of ${oneLine(target)}`;
  if (config !== null) {
    const known = fitting.length === 0 ? 'there is none' : `there are ${shownNames(fitting.map(({ name }) => name))}`;
    throw new Failure('usage', `There is no deploy configuration${where} called ${oneLine(config)}: ${known}`);
  }
  // A test key needs none: its deployments do not leave the service.
  const isLive = /^(m[kt]_live_|v4\.)/.test(client.token ?? '');
  if (fitting.length === 0 && isLive)
    throw new Failure('usage', `There is no deploy configuration${where}: create one with POST /v1/deployments/configs`);
  return { target: target!, configId: null };
}

async function newWorkspace(client: Client, folder: string): Promise<string> {
  const nowText = `${isoTimestamp(machineClock.nowMs()).slice(0, 19)}Z ${randomBytes(2).toString('hex')}`;
  const name = `${nowText} ${oneLine(basename(folder), maxNameChars)}`.toWellFormed();
  return (await client.request<{ id: string }>('POST', '/v1/workspaces', { json: { name } })).id;
}

/** What cannot be removed now stays. */
async function emptied({ url, token }: Client, workspaceId: string): Promise<void> {
  const client = createClient({ url, token, signal: AbortSignal.timeout(10_000), notice: () => {} });
  const folder = `/v1/workspaces/${encodeURIComponent(workspaceId)}/files`;
  try {
    for (;;) {
      const files = await client.request<{ id: string }[]>('GET', `${folder}?limit=100`, { retries: 0 });
      if (files.length === 0) return;
      for (const { id } of files) await client.request('DELETE', `${folder}/${encodeURIComponent(id)}`, { retries: 0 });
    }
  } catch {
    // The first failure is reported.
  }
}

type Following = { output: DeployOutput; interrupts: Interrupts };

/** A deployment has them in this order. One that failed may have had fewer. */
const statuses = ['pending', 'building', 'deploying', 'live'];

/** The deployment when it has ended. Each status from `first` on is printed, also one that passes between two polls, but not those between the last two of a failure. */
async function follow(client: Client, first: Deployment, { output, interrupts }: Following): Promise<Deployment> {
  const path = deploymentPath(first.id);
  interrupts.onFirst = () => void cancel(client, path, output);
  output.status(first);
  let last = first;
  let lines = 0;
  for (let polls = 0; ; polls++) {
    const deployment = await client.request<Deployment>('GET', path);
    const hasEnded = deployment.status === 'live' || deployment.status === 'failed';
    const isNew = deployment.status !== last.status;
    // Log lines need another request: while nothing happens, only every second poll has one.
    if (isNew || hasEnded || polls % 2 === 1) lines = await printLines(client, path, lines, output);
    for (const status of statusesBetween(last, deployment)) output.status({ ...last, status });
    if (isNew) output.status(deployment);
    if (hasEnded) return deployment;
    last = deployment;
    await sleep(pausesMs[Math.min(polls, pausesMs.length - 1)], undefined, { signal: interrupts.signal });
  }
}

export function statusesBetween(last: Deployment, next: Deployment): string[] {
  return statuses.slice(statuses.indexOf(last.status) + 1, Math.max(0, statuses.indexOf(next.status)));
}

function deploymentPath(id: string): string {
  return `/v1/deployments/${encodeURIComponent(id)}`;
}

/** Those after the first `from`. Returns how many there are. */
async function printLines(client: Client, path: string, from: number, output: DeployOutput): Promise<number> {
  let offset = from;
  for (;;) {
    const query = `limit=${logPage}&offset=${offset}`;
    const { data, has_more: more } = await client.request<{ data: LogLine[]; has_more: boolean }>('GET', `${path}/logs?${query}`);
    for (const line of data) output.log(line);
    offset += data.length;
    if (!more || data.length === 0) return offset;
  }
}

async function cancel(client: Client, path: string, output: DeployOutput): Promise<void> {
  output.notice('Cancelling the deployment ... (press Ctrl-C again to end this command without waiting)');
  try {
    await client.request('POST', `${path}/cancel`, { json: {} });
  } catch (error) {
    output.notice(`The deployment was not cancelled: ${(error as Error).message}`);
  }
}

/** The deployment continues after this command, unless the service reports that it does not exist. */
function withAttachHint(error: unknown, command: string): unknown {
  if (!(error instanceof Failure) || error.status === 404) return error;
  const options = { cause: error, ...(error.status === null ? {} : { status: error.status }) };
  return new Failure(error.kind, `${error.message}\nThe deployment continues; follow it again with: ${command}`, options);
}

function attachCommand(id: string, { url }: DeployOptions): string {
  return `npm run troupe -- deploy --attach ${oneLine(id)}${url === null ? '' : ` --url ${url}`}`;
}

function shownNames(names: readonly string[]): string {
  const rest = names.length - shownLeftOut;
  const shown = names.slice(0, shownLeftOut).map((name) => oneLine(name, 80));
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
