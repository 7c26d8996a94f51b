/** `troupe trading`: an account's trading from the terminal, and the proof of the books by the database alone. */
import type { Config } from '../config.ts';
import { checkTrading } from '../storage/trading-check.ts';
import { type Client, createClient } from './client.ts';
import { exitCodes } from './failure.ts';
import { Interrupted, watchInterrupts } from './interrupts.ts';
import { readBooks } from './read-books.ts';
import { serviceClient, serviceUrlOf } from './service-client.ts';
import { signIn } from './sign-in.ts';
import { readTradingOptions, type TradingOptions, tradingHelp } from './trading-options.ts';
import { type AccountView, accountText, booksJson, booksText, type HaltView, haltText, type OrderView, orderText } from './trading-view.ts';

/** The exit code; throws `Failure`. */
export async function trading(args: string[], config: Config): Promise<number> {
  const options = readTradingOptions(args);
  if (options === 'help') {
    print(tradingHelp);
    return exitCodes.complete;
  }
  if (options.kind === 'check') {
    const reading = await readBooks(config, options.account, checkTrading);
    process.stdout.write(options.json ? `${JSON.stringify(booksJson(reading))}\n` : booksText(reading));
    return reading.findings.length === 0 ? exitCodes.complete : exitCodes.failed;
  }
  const interrupts = watchInterrupts();
  try {
    return await withClient(options, config, interrupts.signal, (client) => runCommand(client, options));
  } catch (error) {
    const { reason } = interrupts.signal;
    if (reason instanceof Interrupted) return reason.exitCode;
    throw error;
  }
}

type ServiceCommand = Exclude<TradingOptions, { kind: 'check' }>;

async function withClient(
  { email, service }: ServiceCommand,
  config: Config,
  signal: AbortSignal,
  work: (client: Client) => Promise<number>,
): Promise<number> {
  const notice = (line: string) => void process.stderr.write(`${line}\n`);
  if (email === null) return work(await serviceClient(service, config, notice, signal));
  const url = serviceUrlOf(service, config);
  const session = await signIn(email, (token) => createClient({ url, token, signal, notice }));
  try {
    return await work(session.client);
  } finally {
    await session.end();
  }
}

async function runCommand(client: Client, options: ServiceCommand): Promise<number> {
  const { json } = options;
  const printResult = <T>(value: T, text: (value: T) => string) => print(json ? JSON.stringify(value) : text(value).trimEnd());
  switch (options.kind) {
    case 'account':
      printResult(await client.request<AccountView>('GET', `/v1/trading/account${query({ broker_id: options.broker })}`), accountText);
      return exitCodes.complete;
    case 'orders': {
      const { status, symbol, limit } = options;
      const page = await client.request<{ data: OrderView[] }>(
        'GET',
        `/v1/trading/orders${query({ status, symbol, limit: String(limit) })}`,
      );
      printResult(page, ({ data }) => data.map(orderText).join('\n') || 'No orders');
      return exitCodes.complete;
    }
    case 'halt': {
      const body = options.reason === null ? {} : { reason: options.reason };
      const halted = await client.request<HaltView>('POST', `/v1/trading/halt${query({ mode: options.mode })}`, { json: body });
      printResult(halted, haltText);
      return halted.not_cancelled.length === 0 ? exitCodes.complete : exitCodes.failed;
    }
    case 'resume': {
      const body = options.broker === null ? {} : { broker_id: options.broker };
      const path = `/v1/trading/resume${query({ mode: options.mode })}`;
      printResult(await client.request<{ halted: boolean }>('POST', path, { json: body }), ({ halted }) =>
        halted ? 'Trading is still halted' : 'Trading continues',
      );
      return exitCodes.complete;
    }
  }
}

function query(fields: Record<string, string | null>): string {
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== null);
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
