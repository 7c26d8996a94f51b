/** The options of `troupe account`: parsed, checked and described. No database query here. */
import { parseArgs } from 'node:util';
import { plans } from '../plans.ts';
import type { OverrideName, Overrides } from '../storage/account-overrides.ts';
import { Failure } from './failure.ts';
import { parsedOptions } from './parsed-options.ts';
import { oneLine } from './plain-text.ts';

export type AccountOptions = {
  email: string;
  /** The overrides to set; null for `account show`. */
  changes: Partial<Overrides> | null;
  output: 'human' | 'json';
};

/** Each setting: its option, and its name for people and in JSON. */
export const settings: readonly { name: OverrideName; option: string; label: string; field: string }[] = [
  setting('plan', 'plan'),
  setting('requestsPerMinute', 'requests-per-minute'),
  setting('concurrentRequests', 'concurrent-requests'),
  setting('websockets', 'websockets'),
  setting('tasksLimit', 'tasks-limit'),
  setting('credits', 'credits'),
  setting('agentMinutes', 'agent-minutes'),
  setting('concurrentTasks', 'concurrent-tasks'),
  setting('concurrentAgents', 'concurrent-agents'),
  setting('apiKeys', 'api-keys'),
  setting('storageBytes', 'storage-bytes'),
  setting('storageFiles', 'storage-files'),
];

const unset = 'default';
const maxValue = 9_000_000_000_000;

export const accountHelp = `Usage: npm run troupe -- account set EMAIL [options]
       npm run troupe -- account show EMAIL [--json]

Overrides the plan or single limits of one account. Running nodes apply the change within a second, without a restart. The account's
subscription, invoices and usage do not change. A limit for each key also sets the limit of all keys of the account together,
which is five times as large.

Settings; those that are not given do not change
  --plan P                   ${plans.join(', ')}: its limits and features replace those of the subscribed plan
  --requests-per-minute N    requests per minute of each API key
  --concurrent-requests N    concurrent requests of each API key, on each node
  --websockets N             WebSocket connections of each API key
  --tasks-limit N            tasks per billing period
  --credits N                credits per billing period
  --agent-minutes N          agent minutes per billing period
  --concurrent-tasks N       concurrent tasks
  --concurrent-agents N      concurrent agents
  --api-keys N               API keys that are not revoked; existing keys beyond it continue to work
  --storage-bytes N          bytes of files in all workspaces; existing files beyond it stay
  --storage-files N          files in all workspaces
                             N is a whole number, 0 for none, or -1 for unlimited;
                             "${unset}" instead of P or N removes the override, so the plan's value applies again

  --json                     print the result as JSON; null means the plan's own value

Finds the service by DATABASE_URL, or by DATA_DIR, whether it runs or not.

Exit codes: 0 done, 1 unknown account or refused, 2 wrong usage, 4 database not reachable.

Examples
  npm run troupe -- account set ann@example.com --plan business --requests-per-minute 100000 --websockets 1000
  npm run troupe -- account set ann@example.com --credits -1
  npm run troupe -- account set ann@example.com --plan ${unset} --credits ${unset}
  npm run troupe -- account show ann@example.com --json`;

/** `help` if help was requested. Throws a `Failure` (usage) that names the option. */
export function readAccountOptions(args: string[]): AccountOptions | 'help' {
  const { values, positionals } = parse(args);
  if (values.help === true) return 'help';
  const [action, email, ...rest] = positionals;
  if (action !== 'set' && action !== 'show')
    throw wrong(action === undefined ? 'Give a command: set or show' : `There is no command account ${shown(action)}: use set or show`);
  if (email === undefined || !/^[^\s@]+@[^\s@]+$/.test(email))
    throw wrong(email === undefined ? 'Give the e-mail address of the account' : `${shown(email)} is not an e-mail address`);
  if (rest.length > 0) throw wrong(`Give one account only: ${shown(rest[0]!)} is one argument too many`);
  const given = settings.filter(({ option }) => values[option] !== undefined);
  const output = values.json === true ? 'json' : 'human';
  if (action === 'show') {
    if (given.length > 0) throw wrong(`--${given[0]!.option} is an option of account set, not of account show`);
    return { email, changes: null, output };
  }
  if (given.length === 0) throw wrong('Give at least one option to set');
  const changes = Object.fromEntries(given.map(({ name, option }) => [name, checkedValue(name, option, String(values[option]))]));
  return { email, changes, output };
}

function parse(args: string[]) {
  const texts = Object.fromEntries(settings.map(({ option }) => [option, { type: 'string' as const }]));
  const options = { ...texts, json: { type: 'boolean' as const }, help: { type: 'boolean' as const, short: 'h' } };
  return parsedOptions(() => parseArgs({ args: joinNegatives(args), options, allowPositionals: true })) as {
    values: Record<string, string | boolean | undefined>;
    positionals: string[];
  };
}

/** `--credits -1` as `--credits=-1`: the parser reads a single -1 as another option. */
function joinNegatives(args: string[]): string[] {
  return args.flatMap((arg, i) => {
    if (/^--[\w-]+$/.test(arg) && isNegative(args[i + 1])) return [`${arg}=${args[i + 1]}`];
    return isNegative(arg) && /^--[\w-]+$/.test(args[i - 1] ?? '') ? [] : [arg];
  });
}

function isNegative(arg: string | undefined): boolean {
  return arg !== undefined && /^-\d/.test(arg);
}

function checkedValue(name: OverrideName, option: string, text: string): string | number | null {
  if (text === unset) return null;
  if (name === 'plan') {
    if ((plans as readonly string[]).includes(text)) return text;
    throw wrong(`--plan must be ${plans.join(', ')}, or ${unset} for the subscribed one`);
  }
  const number = /^(-1|\d{1,13})$/.test(text) ? Number(text) : Number.NaN;
  if (!(number <= maxValue))
    throw wrong(`--${option} must be a whole number from 0 to ${maxValue}, -1 for unlimited, or ${unset} for the plan's`);
  return number;
}

function setting(name: OverrideName, option: string) {
  return { name, option, label: option.replaceAll('-', ' '), field: option.replaceAll('-', '_') };
}

function shown(text: string): string {
  return JSON.stringify(oneLine(text, 100));
}

function wrong(what: string): Failure {
  return new Failure('usage', what);
}
