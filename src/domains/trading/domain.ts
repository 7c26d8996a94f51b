import { defineDomain } from '../domain.ts';
import { tradingApi } from './api.ts';
import { tradingEvents } from './events.ts';
import { tradingIds } from './ids.ts';
import { tradingSchema } from './schema.ts';
import { startTrading } from './start.ts';

export const trading = defineDomain({
  name: 'trading',
  ids: tradingIds,
  schema: tradingSchema,
  events: tradingEvents,
  api: tradingApi,
  start: startTrading,
});
