/** The settings of an account. API keys can neither read nor change them. */
import Type, { type Static, type TNumberOptions } from 'typebox';
import type { ActorSystem } from '../../../actors/actor-system.ts';
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { Money } from '../../../edge/http/validate.ts';
import { isWebAddress, webAddressRule } from '../../../edge/routes/web-address.ts';
import { AppError } from '../../../errors.ts';
import { isMoney, toMajor, toMinor } from '../../../money.ts';
import { liveTradingIn } from '../../../plans.ts';
import { account } from '../account/messages.ts';
import { planOf } from '../account/usage.ts';
import { accountSettings, type Settings } from '../account-settings/messages.ts';

const maxRedirectUris = 20;

const RedirectUri = Type.Refine(Type.String({ minLength: 1, maxLength: 2_000 }), isRedirectUri, () => `${webAddressRule} or fragment`);
const TimeZone = Type.Refine(
  Type.String({ minLength: 1, maxLength: 64, description: 'An IANA time zone: when a day begins' }),
  isTimeZone,
  () => 'Give a time zone such as Europe/Berlin',
);

/** Two decimals. */
const TradingLimit = (options: TNumberOptions) => Money({ minimum: 0.01, maximum: 1_000_000_000, ...options });
const Percent = (options: TNumberOptions) =>
  Type.Refine(
    Type.Number({ minimum: 0, maximum: 100, ...options }),
    (value) => isMoney(value),
    () => 'Percentages have at most two decimals',
  );

const described = {
  auto_approve_threshold: Money({ description: 'Purchase orders up to this amount need no approval; 0: all need approval' }),
  live_trading_enabled: Type.Boolean({ description: 'Orders of live keys and sessions trade with real money' }),
  max_position_size: TradingLimit({ description: 'Maximum value of one position in USD, including open orders' }),
  daily_loss_limit: TradingLimit({
    description:
      'USD. A loss of a day that is as large cancels all open orders and keeps new ones from being placed until the next session',
  }),
  price_collar_pct: Percent({
    description: 'Percent: a buy limit further above the ask, or a sell limit further below the bid, is refused',
  }),
  market_collar_pct: Percent({ description: 'Percent added to the price of market orders when they are checked against limits and cash' }),
  redirect_uris: Type.Array(RedirectUri, {
    maxItems: maxRedirectUris,
    uniqueItems: true,
    description: 'Addresses to which OAuth flows may return',
  }),
  timezone: TimeZone,
  trust_tool_content: Type.Boolean({
    description:
      'Agents with autonomy 100 need no approval after they have read text of others (pages, mails, messages, MCP tools), which may try to direct them',
  }),
};
const SettingsView = Type.Object(described, { title: 'Settings' });

export function settingsRoutes({ actors }: { actors: ActorSystem }): AnyRoute[] {
  const get = route({
    method: 'GET',
    path: '/settings',
    summary: 'Get the settings of the account',
    extension: true,
    scope: 'session',
    responses: { 200: SettingsView },
    async handler({ principal }) {
      return { status: 200, json: view(await actors.query(accountSettings, principal.accountId, 'get', null)) };
    },
  });

  const change = route({
    method: 'PATCH',
    path: '/settings',
    summary: 'Change the settings of the account',
    description:
      'What is left out stays as it is. Answers all of them. 402: the plan has no trading with real money, which cannot be enabled then; a change to such a plan switches it off.',
    extension: true,
    scope: 'session',
    errors: [402],
    body: Type.Partial(SettingsView),
    responses: { 200: SettingsView },
    async handler({ principal, body }) {
      if (body.live_trading_enabled === true) await mustHaveLiveTrading(principal.accountId);
      return { status: 200, json: view(await actors.ask(accountSettings, principal.accountId, 'change', changesOf(body))) };
    },
  });

  return [get, change];

  async function mustHaveLiveTrading(accountId: string): Promise<void> {
    const row = await actors.query(account, accountId, 'get', null);
    const plan = row === null ? 'free' : planOf(row);
    if (!liveTradingIn[plan]) throw new AppError('plan_required', `The ${plan} plan has no trading with real money`);
  }
}

function view(settings: Settings): Static<typeof SettingsView> {
  return {
    auto_approve_threshold: toMajor(settings.autoApproveThresholdMinor),
    live_trading_enabled: settings.liveTradingEnabled,
    max_position_size: toMajor(settings.maxPositionSizeMinor),
    daily_loss_limit: toMajor(settings.dailyLossLimitMinor),
    price_collar_pct: toMajor(settings.priceCollarBp),
    market_collar_pct: toMajor(settings.marketCollarBp),
    redirect_uris: [...settings.redirectUris],
    timezone: settings.timezone,
    // A node of the version before does not know it.
    trust_tool_content: settings.trustToolContent ?? false,
  };
}

/** The spending limits of test mode are changed by the same endpoint. */
function changesOf(body: Partial<Static<typeof SettingsView>>): Partial<Settings> {
  const minor = (amount: number | undefined) => (amount === undefined ? undefined : toMinor(amount));
  const changes: { [K in keyof Settings as Exclude<K, 'testAutoApproveThresholdMinor'>]: Settings[K] | undefined } = {
    autoApproveThresholdMinor: minor(body.auto_approve_threshold),
    liveTradingEnabled: body.live_trading_enabled,
    maxPositionSizeMinor: minor(body.max_position_size),
    dailyLossLimitMinor: minor(body.daily_loss_limit),
    priceCollarBp: minor(body.price_collar_pct),
    marketCollarBp: minor(body.market_collar_pct),
    redirectUris: body.redirect_uris,
    timezone: body.timezone,
    trustToolContent: body.trust_tool_content,
  };
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}

function isRedirectUri(text: string): boolean {
  return isWebAddress(text) && !text.includes('#');
}

/** By name: an offset such as +01:00 has no daylight saving time. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
