/** The options of `troupe trading`: read, checked and explained. */
import { parseArgs } from 'node:util';
import { type Mode, modes } from '../mode.ts';
import { tradingChecks } from '../storage/trading-check.ts';
import { Failure } from './failure.ts';
import { parsedOptions } from './parsed-options.ts';
import { checkedToken, serviceUrl } from './run-options.ts';
import type { ServiceOptions } from './service-client.ts';

type Shared = { json: boolean };
/** `email`: signs in with a password that is prompted for. */
type ServiceCommand = Shared & { service: ServiceOptions; email: string | null };
export type TradingOptions =
  | ({ kind: 'account'; broker: string | null } & ServiceCommand)
  | ({ kind: 'orders'; status: string | null; symbol: string | null; limit: number } & ServiceCommand)
  | ({ kind: 'halt'; reason: string | null; mode: Mode | null } & ServiceCommand)
  | ({ kind: 'resume'; broker: string | null; mode: Mode | null } & ServiceCommand)
  | ({ kind: 'check'; account: string | undefined } & Shared);

export const tradingHelp = `Usage: npm run troupe -- trading account [--broker ID] [--json]
       npm run troupe -- trading orders [--status STATUS] [--symbol SYMBOL] [--limit N] [--json]
       npm run troupe -- trading halt --email EMAIL [--mode test] [--reason TEXT] [--json]
       npm run troupe -- trading resume --email EMAIL [--mode test] [--broker ID] [--json]
       npm run troupe -- trading check [--account EMAIL] [--json]

account  cash, equity, the day's result, limits, halts and blocks
  --broker ID      of this connection, or embedded
orders   newest first
  --status STATUS  submitted, accepted, partially_filled, filled, cancelled, rejected or expired
  --symbol SYMBOL  only orders of this symbol
  --limit N        at most this many (default 20, 1 to 100)
halt     cancels all open orders and refuses new ones until resume
  --reason TEXT    recorded with the halt
resume   accepts orders again
  --broker ID      take over the figures of this connection, which was halted because its positions differ
  --mode MODE      of halt and resume: live (default), or test for the trading of test keys

  --email EMAIL    sign in as this user: the password is read from the terminal, or is the first line of standard input. Halt and resume accept no API key
  --url URL        the service, default PUBLIC_URL or this machine's
  --token TOKEN    access token or API key, default TROUPE_TOKEN; a test key acts on the trading of test mode

check    checks the books in one snapshot of the database, whether the service runs or not:

${tradingChecks.map((check) => `  - ${check}`).join('\n')}

  --account EMAIL  only the books of this account

  --json           print the result as JSON

Exit codes: 0 done, or the books are correct; 1 refused, an order could not be cancelled, or the books have errors; 2 wrong usage; 4 service or database not reachable.`;

/** 'help' when that is asked for. Throws `Failure` of kind usage. */
export function readTradingOptions(args: string[]): TradingOptions | 'help' {
  const { values, positionals } = parse(args);
  if (values.help) return 'help';
  const [kind, ...others] = positionals;
  if (others.length > 0 || !isKind(kind)) throw new Failure('usage', `Give a command: ${Object.keys(optionsOf).join(', ')}`);
  const given = Object.keys(values).filter((name) => name !== 'json');
  const foreign = given.find((name) => !optionsOf[kind].includes(name));
  if (foreign !== undefined) throw new Failure('usage', `--${foreign} is not an option of ${kind}`);
  const { json = false, broker = null, reason = null, status = null, symbol = null, email = null, account } = values;
  const mode = values.mode === undefined ? null : modeOf(values.mode);
  if (kind === 'check') return { kind, account, json };
  const url = values.url === undefined ? null : serviceUrl(values.url);
  const token = values.token === undefined ? null : checkedToken(values.token);
  if (email !== null && token !== null) throw new Failure('usage', 'Use --email or --token, not both');
  const common = { json, email, service: { url, token } };
  switch (kind) {
    case 'account':
      return { kind, broker, ...common };
    case 'orders':
      return { kind, status, symbol, limit: limitOf(values.limit), ...common };
    case 'halt':
      return { kind, reason, mode, ...common };
    case 'resume':
      return { kind, broker, mode, ...common };
  }
}

const service = ['url', 'token', 'email'];
const optionsOf: Record<TradingOptions['kind'], readonly string[]> = {
  account: [...service, 'broker'],
  orders: [...service, 'status', 'symbol', 'limit'],
  halt: [...service, 'reason', 'mode'],
  resume: [...service, 'broker', 'mode'],
  check: ['account'],
};

function isKind(name: string | undefined): name is TradingOptions['kind'] {
  return name !== undefined && Object.hasOwn(optionsOf, name);
}

function modeOf(text: string): Mode {
  const mode = modes.find((one) => one === text);
  if (mode === undefined) throw new Failure('usage', `--mode must be one of: ${modes.join(', ')}`);
  return mode;
}

function limitOf(text = '20'): number {
  const limit = Number(text);
  if (!/^\d{1,3}$/.test(text) || limit < 1 || limit > 100) throw new Failure('usage', '--limit must be a whole number from 1 to 100');
  return limit;
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const ofService = { url: text, token: text, email: text } as const;
  const own = { mode: text, broker: text, status: text, symbol: text, limit: text, reason: text, account: text } as const;
  return parsedOptions(() =>
    parseArgs({ args, allowPositionals: true, options: { ...ofService, ...own, json: flag, help: { ...flag, short: 'h' } } }),
  );
}
