/** Connecting: the fields of each broker's credentials, their test, and the broker's figures at that time. */
import type { Clock } from '../../../../clock.ts';
import { AppError, type Issue, invalidField } from '../../../../errors.ts';
import type { AccountMode } from '../../../../mode.ts';
import type { OrderMode } from '../../trading-account/entity.ts';
import type { VenueCredentials } from '../open-broker.ts';
import type { Answer, VenueName } from '../port.ts';
import { readFigures } from './figures.ts';
import type { Figures, NewConnection } from './messages.ts';
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

export type ConnectRequest = AccountMode & { orderMode: OrderMode; credentials: VenueCredentials };

/** Throws `invalid` if the broker refuses the credentials. If a broker does not answer, the connection is made and the test is repeated. */
export async function connect(
  connections: Pick<OpenConnections, 'open'>,
  clock: Clock,
  { accountId, mode, orderMode, credentials }: ConnectRequest,
): Promise<Omit<NewConnection, 'credentials'>> {
  const { venue: brokerName } = credentials;
  const broker = connections.open(credentials, orderMode, accountId);
  const account = await broker.account();
  if (account.kind === 'credentials')
    throw invalidField(['body', 'credentials'], `${brokerName} does not take these credentials: ${account.reason}`, 'credentials_refused');
  // Coinbase has no paper venue; a test key never trades there.
  const filledBy = (brokerName === 'coinbase' && orderMode === 'paper') || mode === 'test' ? ('embedded' as const) : ('broker' as const);
  const base = { accountId, mode, brokerName, orderMode, filledBy };
  if (account.kind !== 'known')
    return { ...base, error: failureText(account), figures: filledBy === 'embedded' ? paperFigures(clock.nowMs()) : null };
  if (filledBy === 'embedded') return { ...base, error: null, figures: paperFigures(clock.nowMs()) };
  const figures = await readFigures(broker, clock.nowMs(), AbortSignal.timeout(figuresWithinMs));
  // Without the broker's figures no order can be checked: the connection is ready once they are known.
  return figures.kind === 'known'
    ? { ...base, error: null, figures: figures.value }
    : { ...base, error: failureText(figures), figures: null };
}

/** The text shown for an invalid answer. */
export function failureText(answer: Exclude<Answer<never>, { kind: 'known' }>): string {
  return answer.kind === 'retry_after' ? 'the broker takes no more requests now' : answer.reason;
}

function paperFigures(nowMs: number): Figures {
  return { cash: paperCash, positions: [], orders: [], cursor: null, sinceMs: nowMs, earlier: [] };
}
