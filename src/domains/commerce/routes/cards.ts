/** Cards: issued, listed, frozen and cancelled; and the hook by which a card processor asks whether to approve a payment. */

import Type, { type Static } from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { type Clock, isoTimestamp } from '../../../clock.ts';
import type { Principal } from '../../../edge/auth/principal.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { Money } from '../../../edge/http/validate.ts';
import { commandIds } from '../../../edge/idempotency.ts';
import { answer } from '../../../edge/routes/answer.ts';
import { ModeField, modeNote } from '../../../edge/routes/mode.ts';
import { ownedInMode } from '../../../edge/routes/ownership.ts';
import { PageOf, PageQuery, page } from '../../../edge/routes/page.ts';
import { AppError, invalidField } from '../../../errors.ts';
import { toMajor, toMinor, walletCurrency } from '../../../money.ts';
import type { Database } from '../../../storage/database.ts';
import { account } from '../../accounts/contract.ts';
import { findAuthorization } from '../card/authorizations.ts';
import { Card, CardAuthorization, type CardAuthorizationRow, type CardRow } from '../card/entity.ts';
import type { CardRequest, IssuedNow } from '../card/issue.ts';
import { card, cardIdOf, type DeclineReason, declineReasonOf } from '../card/messages.ts';
import { commerceIds } from '../ids.ts';
import { cardsNeedBusiness, mayUseCards } from '../policy.ts';
import { walletIdOf } from '../wallet/messages.ts';

export type CardRouteParts = {
  actors: ActorSystem;
  database: Database;
  /** Makes a card; the same ids make the same one again. */
  issue(id: string, request: CardRequest, commandId: string | undefined): Promise<IssuedNow>;
  clock: Clock;
};

const base = '/commerce/cards';
const CardSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    last4: Type.String(),
    spend_limit: Type.Number({ description: 'Approved authorizations together never exceed it; reaching it freezes the card' }),
    spent: Type.Number(),
    currency: Type.String({ description: 'ISO 4217' }),
    status: Type.Enum(['active', 'frozen', 'cancelled']),
    mode: ModeField,
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Card' },
);
const Secret = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const CardWithDetails = Type.Object(
  {
    ...CardSchema.properties,
    number: Secret('Shown once: a replay of this answer holds null after 24 hours. A test number, which no shop takes'),
    cvv: Secret('Shown once'),
    expiry: Secret('MM/YY; shown once'),
  },
  { title: 'IssuedCard' },
);
const AuthorizationSchema = Type.Object(
  {
    id: Type.String(),
    card_id: Type.String(),
    amount: Type.Number({ description: 'The requested amount; for an approved authorization, without reversed amounts' }),
    merchant: Type.String(),
    status: Type.Enum(['approved', 'declined', 'reversed'], {
      description: 'reversed: approved, then returned completely because the issuer of the card did not accept it',
    }),
    reversed_amount: Type.Number({ description: 'The part of an approved amount that was returned to the wallet' }),
    mode: ModeField,
    decline_reason: Type.Union([
      Type.Enum(['card_frozen', 'card_cancelled', 'spend_limit_exceeded', 'insufficient_funds', 'daily_limit', 'monthly_limit']),
      Type.Null(),
    ]),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'CardAuthorization' },
);
const shared = { errors: [402], extension: true } as const;

export function cardRoutes({ actors, database, issue, clock }: CardRouteParts): AnyRoute[] {
  const list = route({
    method: 'GET',
    path: base,
    summary: 'List cards, newest first',
    description: modeNote,
    scope: 'commerce.read',
    errors: [402],
    query: PageQuery,
    responses: { 200: PageOf(CardSchema) },
    async handler({ principal, query: { limit, offset } }) {
      await mustIssueCards(principal);
      const { accountId, mode } = principal;
      const where = { accountId, mode };
      const [rows, total] = await database.listPage(accountId, Card, where, { limit, offset });
      return answer(
        200,
        page(
          rows.map((row) => view(row as CardRow)),
          offset,
          total,
        ),
      );
    },
  });

  const create = route({
    method: 'POST',
    path: base,
    summary: 'Issue a virtual card',
    description:
      'Payments of the card are made from the wallet of its mode. Number, CVV and expiry are only in this response. Needs the business plan, in test mode too.',
    scope: 'commerce.write',
    errors: [402],
    secretFields: ['number', 'cvv', 'expiry'],
    body: Type.Object({
      name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }),
      spend_limit: Money({ exclusiveMinimum: 0 }),
      currency: Type.String({ pattern: '^[A-Z]{3}$', description: `ISO 4217; the wallet's: ${walletCurrency}` }),
    }),
    responses: { 201: CardWithDetails },
    async handler(context) {
      const { principal, body } = context;
      const { name, currency } = body;
      if (currency !== walletCurrency)
        throw invalidField(['body', 'currency'], `Cards have the wallet's currency, ${walletCurrency}`, 'value_error', currency);
      await mustIssueCards(principal);
      const { id, commandId } = commandIds(context, commerceIds.card, clock.nowMs());
      const { accountId, mode } = principal;
      const request = { accountId, mode, name, spendLimitMinor: toMinor(body.spend_limit), currency };
      const { row, number, cvv, expiry } = await issue(cardIdOf(walletIdOf(principal), id), request, commandId);
      return answer(201, { ...view(row), number, cvv, expiry });
    },
  });

  const get = route({
    ...shared,
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'Get a card',
    scope: 'commerce.read',
    responses: { 200: CardSchema },
    async handler({ principal, params }) {
      return answer(200, view(await own(principal, params.id)));
    },
  });

  const become = (command: 'freeze' | 'unfreeze' | 'cancel', summary: string, description: string) =>
    route({
      ...shared,
      method: 'POST',
      path: `${base}/{id}/${command}`,
      summary,
      description,
      scope: 'commerce.write',
      errors: [402, 409],
      responses: { 200: CardSchema },
      async handler(context) {
        const { id } = await own(context.principal, context.params.id);
        const { commandId } = commandIds(context, commerceIds.card);
        return answer(200, view(await actors.ask(card, id, command, null, { commandId })));
      },
    });

  const authorize = route({
    ...shared,
    method: 'POST',
    path: `${base}/{id}/authorizations`,
    summary: 'Authorize a payment by card',
    description:
      'For card processors. Approved: the amount is booked on the wallet and on the card. A declined authorization is returned with its reason. The same Idempotency-Key is the same authorization.',
    scope: 'commerce.write',
    body: Type.Object({ amount: Money({ exclusiveMinimum: 0 }), merchant: Type.String({ minLength: 1, maxLength: 200 }) }),
    responses: { 201: AuthorizationSchema },
    async handler(context) {
      const { body } = context;
      const of = await own(context.principal, context.params.id);
      const { id: authorizationId, commandId } = commandIds(context, commerceIds.authorization, clock.nowMs());
      const input = { authorizationId, amountMinor: toMinor(body.amount), merchant: body.merchant };
      return answer(201, authorizationView(await actors.ask(card, of.id, 'authorize', input, { commandId }), 0));
    },
  });

  const authorizations = route({
    ...shared,
    method: 'GET',
    path: `${base}/{id}/authorizations`,
    summary: 'List the authorizations of a card, newest first',
    scope: 'commerce.read',
    query: PageQuery,
    responses: { 200: PageOf(AuthorizationSchema) },
    async handler({ principal, params, query: { limit, offset } }) {
      const { id: cardId } = await own(principal, params.id);
      const [rows, total] = await database.listPage(principal.accountId, CardAuthorization, { cardId }, { limit, offset });
      const returned = await returnedMinor(
        database,
        rows.map(({ id }) => id),
      );
      const data = rows.map((row) => authorizationView(row as CardAuthorizationRow, returned.get(row.id)));
      return answer(200, page(data, offset, total));
    },
  });

  const authorization = route({
    ...shared,
    method: 'GET',
    path: `${base}/{id}/authorizations/{authorization_id}`,
    summary: 'Get an authorization',
    scope: 'commerce.read',
    responses: { 200: AuthorizationSchema },
    async handler({ principal, params }) {
      const { id: cardId } = await own(principal, params.id);
      const found = await findAuthorization(database, params.authorization_id);
      if (found === null || found.cardId !== cardId) throw new AppError('not_found', 'Authorization not found');
      return answer(200, authorizationView(found, (await returnedMinor(database, [found.id])).get(found.id)));
    },
  });

  return [
    list,
    create,
    get,
    become('freeze', 'Freeze a card', 'New authorizations are declined until it is unfrozen.'),
    become('unfreeze', 'Unfreeze a card', 'A card that has reached its spend limit stays frozen.'),
    become('cancel', 'Cancel a card', 'For good.'),
    authorize,
    authorizations,
    authorization,
  ];

  async function mustIssueCards({ accountId }: Principal): Promise<void> {
    const row = await actors.query(account, accountId, 'get', null);
    if (!mayUseCards(row)) throw new AppError('plan_required', cardsNeedBusiness);
  }

  async function own(principal: Principal, id: string): Promise<CardRow> {
    const row = id.startsWith(commerceIds.card) ? await actors.query(card, id, 'get', null) : null;
    const own = ownedInMode(principal, row, 'Card');
    await mustIssueCards(principal);
    return own;
  }
}

function view(row: CardRow): Static<typeof CardSchema> {
  return {
    id: row.id,
    name: row.name,
    last4: row.last4,
    spend_limit: toMajor(row.spendLimitMinor),
    spent: toMajor(row.spentMinor),
    currency: row.currency,
    status: row.status,
    mode: row.mode,
    created_at: isoTimestamp(row.createdAt),
  };
}

/** The refunded amounts of these authorizations, if there are any. */
async function returnedMinor(database: Database, authorizationIds: string[]): Promise<Map<string, number>> {
  const { rows } = await database.read({
    name: 'returned_of_authorizations',
    text: 'select authorization_id as id, sum(amount_minor)::float8 as returned from card_reversal where authorization_id = any($1) group by 1',
    values: [authorizationIds],
  });
  return new Map(rows.map(({ id, returned }) => [id, returned]));
}

function authorizationView(row: CardAuthorizationRow, returnedMinor = 0): Static<typeof AuthorizationSchema> {
  const isReversed = returnedMinor > 0 && returnedMinor === row.amountMinor;
  return {
    id: row.id,
    card_id: row.cardId,
    amount: toMajor(isReversed ? row.amountMinor : row.amountMinor - returnedMinor),
    merchant: row.merchant,
    status: isReversed ? 'reversed' : row.status,
    reversed_amount: toMajor(returnedMinor),
    mode: row.mode,
    decline_reason: row.declineReason === null ? null : declineReasonOf(row.declineReason as DeclineReason),
    created_at: isoTimestamp(row.createdAt),
  };
}
