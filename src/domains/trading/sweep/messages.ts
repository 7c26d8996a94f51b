/** Commands and queries of a sweep. */
import { actorRef } from '../../../actors/define-actor.ts';
import type { SweepRequest, SweepResult } from '../backtest/computation.ts';
import type { ComputationContract } from '../backtest/messages.ts';
import type { SweepRow } from './entity.ts';

export type SweepContract = ComputationContract<SweepRequest, SweepResult, SweepRow>;

export const sweep = actorRef<SweepContract>('sweep');
