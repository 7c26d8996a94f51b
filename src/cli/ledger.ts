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

Checks the books in one snapshot of the database; payments in progress are included. Live money and test mode (no real money)
are checked and totalled separately:

${ledgerChecks.map((check) => `  - ${check}`).join('\n')}

  --account EMAIL  only the books of this account
  --json           print the result as JSON

Finds the service by DATABASE_URL, or by DATA_DIR, whether it runs or not.

Exit codes: 0 the books are correct; 1 errors found (the first errors of each kind are listed, the others counted) or EMAIL is
unknown; 2 wrong usage; 4 database not reachable.`;

export async function ledger(args: string[], config: Config): Promise<number> {
  const options = readOptions(args);
  if (options === 'help') {
    process.stdout.write(`${help}\n`);
    return exitCodes.complete;
  }
  const reading = await readBooks(config, options.email, checkLedger);
  process.stdout.write(options.json ? `${JSON.stringify(asJson(reading))}\n` : ledgerText(reading));
  return reading.findings.length === 0 ? exitCodes.complete : exitCodes.failed;
}

function ledgerText({ live, test, findings, leftOut }: LedgerReading): string {
  const apart = test.entries + test.wallets + test.cards > 0 ? `Test mode (no real money): ${booksText(test)}\n` : '';
  if (findings.length === 0) return `The books are correct: ${booksText(live)}\n${apart}`;
  const lines = findings.map(
    ({ check, accountId, mode, about }) => `  ${accountId ?? '-'}${mode === 'test' ? ' (test)' : ''}  ${oneLine(about)} (${check})\n`,
  );
  const more = leftOut.map(({ check, count }) => `  … and ${count} more (${check})\n`);
  return `The books have errors: ${booksText(live)}\n${apart}In cents:\n${lines.join('')}${more.join('')}`;
}

function booksText({ entries, wallets, cards, balanceMinor }: Books): string {
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
  if (positionals.length !== 1 || positionals[0] !== 'check') throw new Failure('usage', 'Give the command: check');
  return { email: values.account, json: values.json };
}

function parse(args: string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const options = { account: { type: 'string' }, json: flag, help: { ...flag, short: 'h' } } as const;
  return parsedOptions(() => parseArgs({ args, allowPositionals: true, options }));
}
