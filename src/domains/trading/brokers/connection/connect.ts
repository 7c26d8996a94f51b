/** Connecting: the fields of each broker's credentials, their test, the account that they belong to, and the broker's figures at that time. */
import { createHash } from 'node:crypto';
import type { ActorSystem } from '../../../../actors/actor-system.ts';
import type { Clock } from '../../../../clock.ts';
import { AppError, type Issue, invalidField } from '../../../../errors.ts';
import type { AccountMode } from '../../../../mode.ts';
import { bookOfVenueAccount } from '../../trading-account/connection-books.ts';
import type { OrderMode } from '../../trading-account/entity.ts';
import { tradingAccount, tradingAccountIdOf } from '../../trading-account/messages.ts';
import type { VenueCredentials } from '../open-broker.ts';
import type { Answer, BrokerConnection, VenueAccount, VenueName } from '../port.ts';
import type { CredentialBox } from './credentials.ts';
import type { ConnectedBrokerRow } from './entity.ts';
import { readFigures } from './figures.ts';
import { brokerConnection, type Figures, type NewConnection } from './messages.ts';
import type { OpenConnections } from './open-connections.ts';

const fieldsOf = {
  alpaca: ['api_key', 'api_secret'],
  tradier: ['access_token', 'account_id'],
  coinbase: ['api_key', 'api_secret'],
} as const satisfies Record<VenueName, readonly string[]>;

const inHeaders = /^[\x21-\x7e]+$/;
const inPaths = /^[\w-]+$/;
/** How the fields are sent. Coinbase's credentials are used only to sign tokens, and its secret has several lines. */
const sendable: Readonly<Record<VenueName, readonly [RegExp | null, RegExp | null]>> = {
  alpaca: [inHeaders, inHeaders],
  tradier: [inHeaders, inPaths],
  coinbase: [null, null],
};

/** The initial cash of a paper account at a broker without a paper venue; the same as in the embedded account. */
const paperCash = '100000';
/** Time for the figures after the test; if it is not enough, the reconciliation requests them again. */
const figuresWithinMs = 15_000;

/** Throws `invalid` for each field that is missing, and for each unknown one. */
export function readCredentials(brokerName: VenueName, given: Readonly<Record<string, string>>): VenueCredentials {
  const fields = fieldsOf[brokerName];
  const issue = (field: string, msg: string, type: string): Issue => ({
    loc: ['body', 'credentials', field],
    msg,
    type,
    input: null,
    ctx: {},
  });
  const issues = [
    ...fields.filter((field) => !Object.hasOwn(given, field)).map((field) => issue(field, 'Field required', 'missing')),
    ...Object.keys(given)
      .filter((field) => !(fields as readonly string[]).includes(field))
      .map((field) => issue(field, `${brokerName} has ${fields.join(' and ')}`, 'extra_forbidden')),
    ...fields
      .filter((field, at) => Object.hasOwn(given, field) && sendable[brokerName][at]?.test(given[field]!) === false)
      .map((field) => issue(field, 'It holds characters that cannot be sent', 'value_error')),
  ];
  if (issues.length > 0) throw new AppError('invalid', `Credentials of ${brokerName}: ${fields.join(', ')}`, { issues });
  const [first, second] = fields.map((field) => given[field]!) as [string, string];
  if (brokerName === 'tradier') return { venue: brokerName, accessToken: first, accountId: second };
  return { venue: brokerName, apiKey: first, apiSecret: second };
}

export type ConnectRequest = AccountMode & {
  orderMode: OrderMode;
  credentials: VenueCredentials;
  /** Of a new connection. */
  id: string;
  commandId?: string;
  /** Rejects if the account may have no further connection. Not called where the credentials are those of an existing connection. */
  mayCreate(): Promise<void>;
};
export type ConnectParts = { actors: ActorSystem; connections: Pick<OpenConnections, 'open'>; credentials: CredentialBox; clock: Clock };

/**
 * Connects a broker. If the credentials belong to the broker account of an existing connection, that connection gets them and keeps its id,
 * orders and positions (`isNew` false). If a broker does not answer, the connection is made and the test is repeated.
 *
 * Throws `invalid` if the broker refuses the credentials.
 */
export async function connect(parts: ConnectParts, request: ConnectRequest): Promise<{ row: ConnectedBrokerRow; isNew: boolean }> {
  const { actors, connections, credentials: box, clock } = parts;
  const { accountId, mode, orderMode, credentials, id, commandId } = request;
  const { venue: brokerName } = credentials;
  const broker = connections.open(credentials, orderMode, accountId);
  const account = await broker.account();
  if (account.kind === 'credentials')
    throw invalidField(['body', 'credentials'], `${brokerName} does not take these credentials: ${account.reason}`, 'credentials_refused');
  const venueAccount = account.kind === 'known' ? venueAccountKey(account.value) : null;
  // Coinbase has no paper venue; a test key never trades there.
  const filledBy = (brokerName === 'coinbase' && orderMode === 'paper') || mode === 'test' ? ('embedded' as const) : ('broker' as const);
  const base = { accountId, mode, brokerName, orderMode, filledBy, venueAccount };

  const renewed = async () => {
    const existing = venueAccount === null ? null : await connectionTo(actors, { ...base, venueAccount });
    // A repeat of the request that created it is answered with its first answer.
    if (existing === null || existing === id) return null;
    const row = await actors.ask(brokerConnection, existing, 'renew', { credentials: box.seal(credentials, existing) }, { commandId });
    return { row, isNew: false };
  };
  const known = await renewed();
  if (known !== null) return known;
  await request.mayCreate();
  const input = { ...base, ...(await firstFigures(broker, account, filledBy, clock)), credentials: box.seal(credentials, id) };
  try {
    return { row: await actors.ask(brokerConnection, id, 'create', input, { commandId }), isNew: true };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
    // Another request connected the same account at the same time.
    const other = await renewed();
    if (other === null) throw error;
    return other;
  }
}

/** Identifies an account at a broker, without the number that the broker gives it. null: the broker does not report it. */
export function venueAccountKey({ id }: VenueAccount): string | null {
  return id === null ? null : createHash('sha256').update(id).digest('base64url');
}

/** The id of the connection to this account at the broker. */
async function connectionTo(actors: ActorSystem, of: AccountMode & Parameters<typeof bookOfVenueAccount>[1]): Promise<string | null> {
  const row = await actors.query(tradingAccount, tradingAccountIdOf(of), 'get', null);
  return row === null ? null : bookOfVenueAccount(row.books, of);
}

/** The figures of a new connection; `error`: why it has none yet. */
async function firstFigures(
  broker: BrokerConnection,
  account: Answer<VenueAccount>,
  filledBy: NewConnection['filledBy'],
  clock: Clock,
): Promise<Pick<NewConnection, 'error' | 'figures'>> {
  const error = account.kind === 'known' ? null : failureText(account);
  if (filledBy === 'embedded') return { error, figures: paperFigures(clock.nowMs()) };
  if (error !== null) return { error, figures: null };
  const figures = await readFigures(broker, clock.nowMs(), AbortSignal.timeout(figuresWithinMs));
  // Without the broker's figures no order can be checked: the connection is ready once they are known.
  return figures.kind === 'known' ? { error: null, figures: figures.value } : { error: failureText(figures), figures: null };
}

/** The text shown for an invalid answer. */
export function failureText(answer: Exclude<Answer<never>, { kind: 'known' }>): string {
  return answer.kind === 'retry_after' ? 'the broker takes no more requests now' : answer.reason;
}

function paperFigures(nowMs: number): Figures {
  return { cash: paperCash, positions: [], orders: [], cursor: null, sinceMs: nowMs, earlier: [] };
}
