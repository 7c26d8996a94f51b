/** Schemas of the inputs of a strategy, and of its timer. */
import Type from 'typebox';
import { durableInputs } from '../../../actors/durable-input.ts';
import type { StrategyContract } from './messages.ts';

export const strategyInputs = durableInputs<StrategyContract>()({ withdrawAgain: Type.Object({}) });
