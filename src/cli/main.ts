/** `npm run troupe -- COMMAND …`: the commands, their help, and failures as one line. */
import { type Config, ConfigError, readCaller, readConfig } from '../config.ts';
import { clusterUsage } from './cluster-options.ts';
import { deadLetterUsage } from './dead-letter-options.ts';
import { deployUsage } from './deploy-options.ts';
import { exitCodes, Failure } from './failure.ts';
import { leftWorkUsage } from './left-work-options.ts';
import { type Caller, run } from './run.ts';
import { runUsage } from './run-options.ts';
import { tradingUsage } from './trading-usage.ts';

type Command = {
  summary: string;
  usage: string;
  /** The exit code; throws `Failure`. */
  run(args: string[], config: Config, caller: Caller): Promise<number>;
};

const commands: Record<string, Command> = {
  run: { summary: 'start a task, follow it, save its deliverables', usage: runUsage, run },
  deploy: {
    summary: 'publish a folder at a host',
    usage: deployUsage,
    run: async (args, config, caller) => (await import('./deploy.ts')).deploy(args, config, caller),
  },
  account: {
    summary: 'give one account another plan or other limits',
    usage: 'npm run troupe -- account set EMAIL [--plan P] [--requests-per-minute N] …, account show EMAIL, or --help for all options',
    // Loaded on use: the database's packages would slow the start of other commands.
    run: async (args, config) => (await import('./account.ts')).account(args, config),
  },
  ledger: {
    summary: 'check the books of all accounts, or of one',
    usage: 'npm run troupe -- ledger check [--account EMAIL] [--json]',
    run: async (args, config) => (await import('./ledger.ts')).ledger(args, config),
  },
  trading: {
    summary: "show, halt or resume an account's trading; check its books",
    usage: tradingUsage,
    run: async (args, config) => (await import('./trading.ts')).trading(args, config),
  },
  'dead-letter': {
    summary: 'list, retry or discard dead letters',
    usage: deadLetterUsage,
    run: async (args, config) => (await import('./dead-letter.ts')).deadLetter(args, config),
  },
  'left-work': {
    summary: 'list or put aside work that only a newer version knows',
    usage: leftWorkUsage,
    run: async (args, config) => (await import('./left-work.ts')).leftWork(args, config),
  },
  cluster: {
    summary: 'show the nodes and shards, drain a node',
    usage: clusterUsage,
    run: async (args, config, caller) => (await import('./cluster.ts')).cluster(args, config, caller),
  },
};

let outputFault: NodeJS.ErrnoException | null = null;
process.stdout.on('error', (error) => {
  outputFault ??= error;
});
process.exitCode = await main(process.argv.slice(2));
// An idle connection must not delay the exit.
process.stdout.write('', () => setImmediate(end));

/** A full disk must not look like success; a reader that has read enough (`| head`) is no failure. */
function end(): void {
  if (outputFault !== null && outputFault.code !== 'EPIPE') {
    process.stderr.write(`The output could not be written: ${outputFault.message}\n`);
    process.exitCode ||= exitCodes.failed;
  }
  process.exit();
}

async function main([name, ...args]: string[]): Promise<number> {
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    process[name === undefined ? 'stderr' : 'stdout'].write(help());
    return name === undefined ? exitCodes.usage : exitCodes.complete;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    process.stderr.write(`There is no command ${JSON.stringify(name.slice(0, 40))}.\n${help()}`);
    return exitCodes.usage;
  }
  try {
    return await command.run(args, readConfig(), readCaller());
  } catch (error) {
    if (error instanceof ConfigError) {
      process.stderr.write(`${error.message}\n`);
      return exitCodes.usage;
    }
    if (!(error instanceof Failure)) throw error;
    process.stderr.write(`${error.message}\n${error.kind === 'usage' ? `Usage: ${command.usage}\n` : ''}`);
    return error.exitCode;
  }
}

function help(): string {
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(12)} ${summary}\n`);
  return `Usage: npm run troupe -- COMMAND [options]\n\nCommands\n${lines.join('')}\nnpm run troupe -- COMMAND --help lists all options.\n`;
}
