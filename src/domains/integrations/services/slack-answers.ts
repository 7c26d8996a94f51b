/** Slack's answers: almost every refusal is a 200 `{ok: false, error}`, and a consent brings a token of the bot and one of the person. */
import { fieldsOf, textOf } from './read-answer.ts';
import type { ReadTokens, ServiceAnswer } from './service.ts';
import type { ServiceFailure } from './service-failure.ts';

const refusedTokens = new Set(['invalid_auth', 'token_expired', 'token_revoked', 'not_authed', 'account_inactive']);
const notFoundErrors = new Set(['channel_not_found', 'thread_not_found', 'message_not_found', 'user_not_found']);
const passing = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout', 'team_added_to_org']);
const refusals: Readonly<Record<string, string>> = {
  not_in_channel: 'The Slack app is no member of this channel: a person has to invite it there first (/invite in the channel)',
  restricted_action: 'A setting of this Slack workspace does not allow it',
  is_archived: 'The channel is archived',
  not_allowed_token_type: 'Slack does not allow it to an app: a person has to give consent for it when connecting Slack',
  no_permission: 'Slack does not allow it to this connection',
  access_denied: 'Slack does not allow it to this connection',
  ekm_access_denied: 'The administrators of this Slack workspace do not allow it',
  team_access_not_granted: 'Slack does not allow it in this workspace',
};
/** Beginnings of errors about one argument. */
const wrongFields: readonly [RegExp, string][] = [
  [/^(name_taken|invalid_name|no_channel)/, 'name'],
  [/^(no_text|msg_too_long|invalid_blocks|msg_blocks_too_long)/, 'text'],
  [/^(invalid_thread_ts|cannot_reply_to_message)/, 'thread_ts'],
  [/^no_query/, 'query'],
  [/^invalid_limit/, 'limit'],
];

export function slackFailure({ body }: ServiceAnswer): ServiceFailure | undefined {
  const answer = fieldsOf(body);
  if (answer.ok !== false) return undefined;
  const error = textOf(answer.error) ?? 'no reason given';
  const message = `Slack refused: ${error}`;
  if (error === 'ratelimited' || error === 'rate_limited') return { type: 'rate_limited', message, retryAt: null };
  if (notFoundErrors.has(error)) return { type: 'not_found', message };
  if (error === 'missing_scope') {
    const scope = textOf(answer.needed) ?? null;
    return { type: 'forbidden', message: `${message}${scope === null ? '' : `, it needs ${scope}`}`, scope };
  }
  if (refusedTokens.has(error)) return { type: 'forbidden', message, scope: null };
  if (Object.hasOwn(refusals, error)) return { type: 'forbidden', message: `${message}. ${refusals[error]}.`, scope: null };
  if (passing.has(error)) return { type: 'unavailable', message };
  return { type: 'invalid', message, field: wrongFields.find(([form]) => form.test(error))?.[1] ?? null };
}

export function slackRefusesToken({ body }: ServiceAnswer): boolean {
  const { ok, error } = fieldsOf(body);
  return ok === false && refusedTokens.has(textOf(error) ?? '');
}

type TokenAnswer = Readonly<Record<string, unknown>>;

/** `authed_user` is the person; without an app's own scopes it alone has a token. */
export function slackTokens(answer: TokenAnswer): ReadTokens {
  const person = fieldsOf(answer.authed_user);
  const isOwn = typeof answer.access_token === 'string';
  const own = isOwn ? answer : { ...answer, ...person };
  const user = isOwn && typeof person.access_token === 'string' ? person : null;
  const scopes = [answer.scope, person.scope].filter((scope) => typeof scope === 'string' && scope !== '');
  return { standard: { ...own, ...(scopes.length > 0 && { scope: scopes.join(',') }) }, user };
}

/** For a 200 `{ok: false}` at the token endpoint: its OAuth error. */
export function slackOAuthError(answer: TokenAnswer): string | undefined {
  if (answer.ok !== false) return undefined;
  const error = String(answer.error);
  if (/^(invalid_code|code_already_used|code_expired|bad_redirect_uri|invalid_refresh_token|token_revoked|token_expired)$/.test(error))
    return 'invalid_grant';
  if (/^(invalid_client_id|bad_client_secret|invalid_app_id)$/.test(error)) return 'invalid_client';
  return passing.has(error) || error === 'ratelimited' ? 'temporarily_unavailable' : error;
}
