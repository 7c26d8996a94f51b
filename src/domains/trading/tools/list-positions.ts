/** list_positions: the positions, and the account's figures. */
import Type from 'typebox';
import { accountSettings, tradingLimitsOf } from '../../accounts/contract.ts';
import type { Tool } from '../../tasks/contract.ts';
import { shownBook } from '../brokers/choose-broker.ts';
import type { TradingParts } from '../open.ts';
import { accountView, positionView } from '../trading-account/account-view.ts';
import { tradingAccount, tradingAccountIdOf } from '../trading-account/messages.ts';

/** Further positions are counted, not listed. */
const maxListed = 200;

export const listPositions = ({ orderEntry }: Pick<TradingParts, 'orderEntry'>): Tool => ({
  name: 'list_positions',
  agentTypes: ['analyst', 'trader'],
  description:
    'The open positions of all brokers, each with its mode (PAPER, LIVE: real money, or TEST), quantity, average price, present price and unrealised result; and the ' +
    "account that orders go to by default: cash, equity, buying power, the day's result, both limits, and whether trading is halted or blocked.",
  parameters: Type.Object({}),
  need: { scope: 'trading.read' },
  highConsequence: false,
  repeatable: true,
  timeoutMs: 30_000,
  async run(_args, { accountId, authority: { mode } }) {
    const owner = { accountId, mode };
    const { actors, connections } = orderEntry;
    const id = tradingAccountIdOf(owner);
    const brokerKey = shownBook(await connections.of(owner));
    const [all, summary, settings] = await Promise.all([
      actors.query(tradingAccount, id, 'positions', { brokerKey: null }),
      actors.query(tradingAccount, id, 'summary', { brokerKey }),
      actors.query(accountSettings, accountId, 'get', null),
    ]);
    const inCapitals = <T extends { mode: string }>(view: T) => ({ ...view, mode: view.mode.toUpperCase() });
    return {
      positions: all.slice(0, maxListed).map((position) => inCapitals(positionView(position, mode))),
      total: all.length,
      account: summary === null ? null : inCapitals(accountView(summary, tradingLimitsOf(settings), mode)),
    };
  },
});
