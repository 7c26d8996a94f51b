import { defineDomain } from '../domain.ts';
import { tradingApi } from './api.ts';
import { tradingEvents } from './events.ts';
import { tradingIds } from './ids.ts';
import { openTrading } from './open.ts';
import { tradingSchema } from './schema.ts';
import { startTrading } from './start.ts';
import { tradingTools } from './tools/trading-tools.ts';

export const trading = defineDomain({
  name: 'trading',
  ids: tradingIds,
  schema: tradingSchema,
  events: tradingEvents,
  api: tradingApi,
  open: openTrading,
  agentTools: (_platform, parts) => tradingTools(parts),
  start: startTrading,
});
