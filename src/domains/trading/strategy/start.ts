/** Starts strategies on a node: their actor, routes, and the poller that notifies runs of complete bars. */
import type { AnyActor } from '../../../actors/define-actor.ts';
import type { AnyRoute } from '../../../edge/http/route.ts';
import type { Platform } from '../../domain.ts';
import type { TradingParts } from '../open.ts';
import { strategyRoutes } from '../routes/strategies.ts';
import { strategyEffects } from './effects.ts';
import { strategyActor } from './strategy.ts';
import { StrategyWatch } from './strategy-watch.ts';

export function startStrategies(platform: Platform, parts: TradingParts): { actors: AnyActor[]; routes: AnyRoute[]; watch: StrategyWatch } {
  return {
    actors: [strategyActor(strategyEffects({ ...platform, ...parts }))],
    routes: strategyRoutes({ ...platform, ...parts }),
    watch: new StrategyWatch({ ...platform, ...parts }),
  };
}
