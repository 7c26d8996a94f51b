/** The options of `troupe run`: parsed, checked and described. No request to the service here. */
import { access, constants, readFile, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { withoutTrailing } from '../trailing.ts';
import { Failure } from './failure.ts';
import { parsedOptions } from './parsed-options.ts';
import { oneLine } from './plain-text.ts';

export type RunOptions = {
  /** The task to start; null with `attach`. */
  start: { prompt: string; config: Record<string, unknown>; workspaceId: string | null; files: string[] } | null;
  /** The running task to follow. */
  attach: string | null;
  /** The budget of the new or running task; null: none is given. */
  maxCredits: number | null;
  url: string | null;
  token: string | null;
  /** Absolute; null for `troupe-out/<task id>`. */
  outDir: string | null;
  decisions: 'ask' | 'approve' | 'reject';
  output: 'human' | 'json';
  cancelOnInterrupt: boolean;
};

const options = {
  file: { type: 'string', multiple: true },
  workspace: { type: 'string' },
  out: { type: 'string' },
  autonomy: { type: 'string' },
  'max-agents': { type: 'string' },
  'max-credits': { type: 'string' },
  model: { type: 'string' },
  schema: { type: 'string' },
  yes: { type: 'boolean' },
  no: { type: 'boolean' },
  json: { type: 'boolean' },
  attach: { type: 'string' },
  'cancel-on-interrupt': { type: 'boolean' },
  url: { type: 'string' },
  token: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Properties of a new task, so they are invalid for a running one. */
const startOptions = ['file', 'workspace', 'autonomy', 'max-agents', 'model', 'schema'] as const;
const maxSchemaBytes = 1_000_000;

export const runUsage = 'npm run troupe -- run "prompt" [--file FILE …] [--out DIR] [options], or --help for all of them';

export const runHelp = `Usage: npm run troupe -- run "prompt" [options]

Starts a task, shows its agents, asks for approvals, and saves the deliverables.

What to do
  --file FILE            give the agents this file; may be repeated
  --workspace ID         the workspace of the task; given files are added to it
  --autonomy N           0 to 100, default 80; below 100 agents request approval before irreversible actions
  --max-agents N         1 to 20, default 3
  --max-credits N        pause the task when it has used this many credits; with --attach, continue it with this budget
  --model NAME           the model to use
  --schema FILE          a JSON Schema; the task delivers an output.json that satisfies it

While it runs
  --yes, --no            approve, or reject, all requests of agents
  --json                 print events as JSON lines, and a last line with the result
  --cancel-on-interrupt  Ctrl-C cancels the task; without it the task continues after Ctrl-C
  --attach TASK          follow a running task, or save the deliverables of an ended one again

Where
  --out DIR              save deliverables here, default troupe-out/<task id>; no file is overwritten
  --url URL              the service, default PUBLIC_URL or this machine's
  --token TOKEN          access token or API key, default TROUPE_TOKEN; without either, a service on this machine
                         gets an account of its own for you, kept in DATA_DIR/cli.json

Exit codes: 0 complete, 1 failed or refused, 2 wrong usage, 3 cancelled, 4 service not reachable, 5 paused by used credits or a limit of the plan, 130 after Ctrl-C.

Examples
  npm run troupe -- run "Analyse sales.csv and tell me what stands out" --file examples/sales.csv
  npm run troupe -- run "E-mail a summary of notes.txt to ann@example.com" --file notes.txt --no
  npm run troupe -- run --attach task_01k…`;

/** `help` if help was requested. Throws a `Failure` (usage) that names the option, before anything has been created. */
export async function readRunOptions(args: string[], folder: string): Promise<RunOptions | 'help'> {
  const { values, positionals } = parse(args);
  if (values.help) return 'help';
  if (values.yes && values.no) throw wrong('Use --yes or --no, not both');
  const rest = {
    url: values.url === undefined ? null : serviceUrl(values.url),
    token: values.token === undefined ? null : checkedToken(values.token),
    outDir: values.out === undefined ? null : await folderToBe(resolve(folder, given('--out', values.out))),
    decisions: values.yes ? ('approve' as const) : values.no ? ('reject' as const) : ('ask' as const),
    output: values.json ? ('json' as const) : ('human' as const),
    cancelOnInterrupt: values['cancel-on-interrupt'] ?? false,
  };
  const maxCredits = values['max-credits'] === undefined ? null : credits(values['max-credits']);
  if (values.attach !== undefined) {
    const idle = startOptions.find((name) => values[name] !== undefined);
    if (idle !== undefined) throw wrong(`--${idle} is an option of new tasks; --attach follows a running task`);
    if (positionals.length > 0) throw wrong('--attach follows a running task and takes no prompt');
    return { ...rest, start: null, attach: given('--attach', values.attach), maxCredits };
  }
  const prompt = positionals.join(' ');
  if (prompt.trim() === '') throw wrong('Give a prompt, in quotes');
  const config: Record<string, unknown> = {};
  if (values.autonomy !== undefined) config.autonomy_level = integer('--autonomy', values.autonomy, 0, 100);
  if (values['max-agents'] !== undefined) config.max_agents = integer('--max-agents', values['max-agents'], 1, 20);
  if (maxCredits !== null) config.max_credits = maxCredits;
  if (values.model !== undefined) config.model = given('--model', values.model);
  if (values.schema !== undefined) config.output_schema = await schemaIn(resolve(folder, given('--schema', values.schema)));
  const files = (values.file ?? []).map((path) => resolve(folder, given('--file', path)));
  for (const file of files) await mustBeFile('--file', file);
  mustDiffer(files);
  const workspaceId = values.workspace === undefined ? null : given('--workspace', values.workspace);
  return { ...rest, start: { prompt, config, workspaceId, files }, attach: null, maxCredits };
}

/** The address without a trailing slash. Throws a `Failure` if it is not a plain http or https address. */
export function serviceUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw wrong(`--url must be an http:// or https:// address, not ${JSON.stringify(oneLine(text))}`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw wrong('--url must have no password, query or fragment');
  }
  return withoutTrailing(url.href, '/');
}

function parse(args: string[]) {
  return parsedOptions(() => parseArgs({ args, options, allowPositionals: true }));
}

function given(option: string, value: string): string {
  if (value.trim() === '' || value.includes('\0')) throw wrong(`${option} is empty`);
  return value;
}

export function checkedToken(value: string): string {
  if (!/^[\x21-\x7e]{1,4096}$/.test(value)) throw wrong('--token must be a token without spaces');
  return value;
}

function integer(option: string, value: string, min: number, max: number): number {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= min && number <= max)) throw wrong(`${option} must be a whole number from ${min} to ${max}`);
  return number;
}

function credits(value: string): number {
  const number = /^\d{1,12}(\.\d{1,6})?$/.test(value) ? Number(value) : Number.NaN;
  if (!(number > 0)) throw wrong('--max-credits must be a number above 0');
  return number;
}

async function mustBeFile(option: string, path: string): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found === null) throw wrong(`${option} ${shown(path)} does not exist`);
  if (found.isDirectory()) throw wrong(`${option} ${shown(path)} is a folder: give a file`);
  if (!found.isFile()) throw wrong(`${option} ${shown(path)} is not a regular file: save its content to a file first`);
  await access(path, constants.R_OK).catch(() => {
    throw wrong(`${option} ${shown(path)} cannot be read: permission denied`);
  });
}

/** In the workspace a second file of the same name would replace the first one. */
function mustDiffer(files: string[]): void {
  const names = files.map((path) => basename(path).normalize('NFC'));
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw wrong(`Two files have the name ${shown(twice)}: rename one of them`);
}

async function schemaIn(path: string): Promise<object> {
  await mustBeFile('--schema', path);
  if ((await stat(path)).size > maxSchemaBytes) throw wrong(`--schema ${shown(path)} is larger than ${maxSchemaBytes} bytes`);
  let schema: unknown;
  try {
    schema = JSON.parse((await readFile(path, 'utf8')).replace(/^\ufeff/, ''));
  } catch (error) {
    throw wrong(`--schema ${shown(path)} cannot be read as JSON: ${oneLine((error as Error).message)}`);
  }
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    throw wrong(`--schema ${shown(path)} must contain a JSON object`);
  return schema;
}

async function folderToBe(path: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  if (found !== null && !found.isDirectory()) throw wrong(`--out ${shown(path)} is not a folder`);
  return path;
}

function shown(path: string): string {
  return oneLine(path, 500);
}

function wrong(what: string): Failure {
  return new Failure('usage', what);
}
