/** The options of `troupe deploy`: parsed, checked and described. No request to the service here. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Failure } from './failure.ts';
import { parsedOptions } from './parsed-options.ts';
import { oneLine } from './plain-text.ts';
import { checkedToken, serviceUrl } from './run-options.ts';

export type DeployStart = {
  /** Absolute. */
  folder: string;
  /** null: that of the configuration. */
  target: string | null;
  /** Name or id; null: the newest of the target. */
  config: string | null;
  workspaceId: string | null;
};

export type DeployOptions = {
  /** null with `attach`. */
  start: DeployStart | null;
  /** The deployment to follow. */
  attach: string | null;
  url: string | null;
  token: string | null;
  json: boolean;
};

const options = {
  target: { type: 'string' },
  config: { type: 'string' },
  workspace: { type: 'string' },
  attach: { type: 'string' },
  json: { type: 'boolean' },
  url: { type: 'string' },
  token: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Those of the service of the same version. */
export const hosts: readonly string[] = ['vercel', 'netlify', 'cloudflare', 'expo'];
const hostsText = `${hosts.slice(0, -1).join(', ')} or ${hosts.at(-1)}`;
/** Properties of a new deployment. */
const startOptions = ['target', 'config', 'workspace'] as const;

export const deployUsage = 'npm run troupe -- deploy DIR --target TARGET [--config NAME] [options], or --help for all of them';

export const deployHelp = `Usage: npm run troupe -- deploy DIR --target TARGET [options]

Uploads a folder as a workspace, publishes it at a host, and prints the log until the site is live.

What to publish
  DIR              the folder, without names that begin with a dot (except .well-known), node_modules, and links
  --target TARGET  vercel, netlify, cloudflare or expo; not needed with --config
  --config NAME    the deploy configuration, by its name or id; default: the newest of the target
  --workspace ID   upload into this workspace, beside its other files; default: a new one

While it runs
  --json           print log lines and statuses as JSON lines, and a last line with the result
  --attach ID      follow a running deployment
  Ctrl-C           cancels the deployment; a second Ctrl-C ends the command at once

Where
  --url URL        the service, default PUBLIC_URL or this machine's
  --token TOKEN    access token or API key, default TROUPE_TOKEN; without either, a service on this machine
                   gets an account of its own for you, kept in DATA_DIR/cli.json. With a test key nothing is sent to
                   a host: the address is a preview

Exit codes: 0 live, 1 failed or refused, 2 wrong usage, 3 cancelled, 4 service not reachable, 130 after Ctrl-C.

Examples
  npm run troupe -- deploy ./site --target netlify
  npm run troupe -- deploy ./site --config Website`;

/** `help` if help was requested. Throws a `Failure` (usage) that names the option, before anything has been created. */
export async function readDeployOptions(args: string[], folder: string): Promise<DeployOptions | 'help'> {
  const { values, positionals } = parsedOptions(() => parseArgs({ args, options, allowPositionals: true }));
  if (values.help) return 'help';
  const rest = {
    url: values.url === undefined ? null : serviceUrl(values.url),
    token: values.token === undefined ? null : checkedToken(values.token),
    json: values.json ?? false,
  };
  if (values.attach !== undefined) {
    const idle = startOptions.find((name) => values[name] !== undefined);
    if (idle !== undefined) throw wrong(`--${idle} is an option of new deployments; --attach follows a running deployment`);
    if (positionals.length > 0) throw wrong('--attach follows a running deployment and takes no folder');
    return { ...rest, start: null, attach: given('attach', values.attach)! };
  }
  const [named, ...more] = positionals;
  if (named === undefined || named.trim() === '') throw wrong('Give the folder to publish');
  if (more.length > 0) throw wrong('Give one folder only: put its name in quotes if it contains spaces');
  const target = given('target', values.target);
  const config = given('config', values.config);
  if (target === null && config === null) throw wrong(`Give a host: --target ${hostsText}`);
  if (target !== null && !hosts.includes(target)) throw wrong(`${oneLine(target)} is no host: --target ${hostsText}`);
  const path = resolve(folder, named);
  const found = await stat(path).catch(() => null);
  if (found === null) throw wrong(`${oneLine(path, 500)} does not exist`);
  if (!found.isDirectory()) throw wrong(`${oneLine(path, 500)} is not a folder`);
  return { ...rest, start: { folder: path, target, config, workspaceId: given('workspace', values.workspace) }, attach: null };
}

function given(option: string, value: string | undefined): string | null {
  if (value !== undefined && (value.trim() === '' || value.includes('\0'))) throw wrong(`--${option} is empty`);
  return value ?? null;
}

function wrong(what: string): Failure {
  return new Failure('usage', what);
}
