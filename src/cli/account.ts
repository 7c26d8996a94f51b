/** `troupe account set|show EMAIL`: an operator's overrides for one account, changed in the database and read back. */
import type { Config } from '../config.ts';
import type { Plan } from '../plans.ts';
import { accountByEmail, type Overrides, readOverrides, setOverrides } from '../storage/account-overrides.ts';
import type { Database } from '../storage/database.ts';
import { type AccountOptions, accountHelp, readAccountOptions, settings } from './account-options.ts';
import { exitCodes, Failure } from './failure.ts';
import { withDatabase } from './find-database.ts';
import { oneLine } from './plain-text.ts';

type Account = { email: string; accountId: string; plan: Plan };

export async function account(args: string[], config: Config): Promise<number> {
  const options = readAccountOptions(args);
  if (options === 'help') {
    process.stdout.write(`${accountHelp}\n`);
    return exitCodes.complete;
  }
  process.stdout.write(await withDatabase(config, (database) => carryOut(database, options)));
  return exitCodes.complete;
}

async function carryOut(database: Database, { email, changes, output }: AccountOptions): Promise<string> {
  const held = await accountByEmail(database, email);
  if (held === null) throw new Failure('refused', `No account of this service has the e-mail address ${oneLine(email, 300)}`);
  const of: Account = { email: email.toLowerCase(), ...held };
  if (changes === null) {
    const overrides = (await readOverrides(database, [held.accountId])).get(held.accountId)!;
    return output === 'json' ? jsonLine({ ...head(of), overrides: fields(overrides) }) : shownAccount(of, overrides);
  }
  const { before, after } = await setOverrides(database, held.accountId, changes);
  if (output === 'json') return jsonLine({ ...head(of), before: fields(before), after: fields(after) });
  return shownChange(of, before, after, Object.keys(changes));
}

function shownAccount(of: Account, overrides: Overrides): string {
  const lines = settings.map(({ name, label }) => line(label, valueText(of, name, overrides)));
  return `${of.email}  ${of.accountId}\n${lines.join('')}`;
}

function shownChange(of: Account, before: Overrides, after: Overrides, changed: string[]): string {
  const lines = settings
    .filter(({ name }) => changed.includes(name))
    .map(({ name, label }) => {
      const [was, is] = [valueText(of, name, before), valueText(of, name, after)];
      return line(label, was === is ? `${is}, as before` : `${was} → ${is}`);
    });
  return `${of.email}  ${of.accountId}\n${lines.join('')}Every running node applies this within a second.\n`;
}

function line(label: string, value: string): string {
  return `  ${label.padEnd(21)}${value}\n`;
}

function valueText({ plan }: Account, name: keyof Overrides, overrides: Overrides): string {
  const value = overrides[name];
  if (name === 'plan') return value === null ? `${plan} (as subscribed)` : `${value} (set by an operator; ${plan} is subscribed)`;
  if (value === null) return "the plan's";
  return value === -1 ? 'unlimited' : String(value);
}

function head({ email, accountId, plan }: Account) {
  return { email, account_id: accountId, subscribed_plan: plan };
}

function fields(overrides: Overrides) {
  return Object.fromEntries(settings.map(({ name, field }) => [field, overrides[name]]));
}

function jsonLine(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
