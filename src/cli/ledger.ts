/** `troupe ledger check`: checks the books in the database, whether or not the service runs. */
import { parseArgs } from 'node:util';
import type { Config } from '../config.ts';
import { toMajor } from '../money.ts';
import { type Books, checkLedger, type LedgerReading, ledgerChecks } from '../storage/ledger-check.ts';
import { exitCodes, Failure } from './failure.ts';
import { parsedOptions } from './parsed-options.ts';
import { oneLine } from './plain-text.ts';
import { readBooks } from './read-books.ts';

const help = `Usage: npm run troupe -- ledger check [--account EMAIL] [--json]

Proves the books by the database alone, as of one moment; payments on their way are counted. Live money and that of test mode, which is none,
are proved and added up apart:

${ledgerChecks.map((check) => `  - ${check}`).join('\n')}

  --account EMAIL  the books of one account alone
  --json           print the outcome as JSON

Finds the service by DATABASE_URL, or by DATA_DIR, whether it runs or not.

Ends with 0 where the books are right, 1 where something differs (the first differences of each kind are named, the others counted) or nobody has
registered EMAIL, 2 wrong use, 4 database out of reach.`;

export async function ledger(args: string[], config: Config): Promise<number> {
  const options = readOptions(args);
  if (options === 'help') {
    process.stdout.write(`${help}\n`);
    return exitCodes.complete;
  }
  const reading = await readBooks(config, options.email, checkLedger);
  process.stdout.write(options.json ? `${JSON.stringify(asJson(reading))}\n` : inWords(reading));
  return reading.findings.length === 0 ? exitCodes.complete : exitCodes.failed;
}

function inWords({ live, test, findings, leftOut }: LedgerReading): string {
  const apart = test.entries + test.wallets + test.cards > 0 ? `Test mode, which is no real money: ${booksInWords(test)}\n` : '';
  if (findings.length === 0) return `The books are right: ${booksInWords(live)}\n${apart}`;
  const lines = findings.map(
    ({ check, accountId, mode, about }) => `  ${accountId ?? '-'}${mode === 'test' ? ' (test)' : ''}  ${oneLine(about)} (${check})\n`,
  );
  const more = leftOut.map(({ check, count }) => `  … and ${count} more (${check})\n`);
  return `The books are wrong: ${booksInWords(live)}\n${apart}In cents:\n${lines.join('')}${more.join('')}`;
}

function booksInWords({ entries, wallets, cards, balanceMinor }: Books): string {
  return `${entries} entries, ${wallets} wallets with ${toMajor(balanceMinor).toFixed(2)} USD, ${cards} cards`;
}

/** The figures at the top level are those of live money. */
function asJson({ live, test, findings, leftOut }: LedgerReading) {
  const figures = ({ balanceMinor, ...counts }: Books) => ({ ...counts, balance: toMajor(balanceMinor) });
  const found = findings.map(({ check, accountId, mode, about }) => ({ check, account_id: accountId, mode, about }));
  return { ok: findings.length === 0, ...figures(live), test: figures(test), findings: found, left_out: leftOut };
}

function readOptions(args: string[]): { email: string | undefined; json: boolean } | 'help' {
  const { values, positionals } = parse(args);
  if (values.help) return 'help';
  if (positionals.length !== 1 || positionals[0] !== 'check') throw new Failure('usage', 'Say what to do: check');
  return { email: values.account, json: values.json };
}

function parse(args: string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const options = { account: { type: 'string' }, json: flag, help: { ...flag, short: 'h' } } as const;
  return parsedOptions(() => parseArgs({ args, allowPositionals: true, options }));
}
