/** The configuration of each type of strategy, and the rules between its fields. */
import { createHash } from 'node:crypto';
import Type, { type Static } from 'typebox';
import type { Issue } from '../../../errors.ts';

export const strategyTypes = ['momentum', 'mean_reversion', 'arbitrage', 'custom'] as const;
export type StrategyType = (typeof strategyTypes)[number];

const exact = { additionalProperties: false };
const maxLookback = 10_000;
/** Z-scores of a window of n bars never exceed (n − 1)/√n, so this value is out of reach for every allowed window. */
const maxZ = 1_000;

export const MomentumConfig = Type.Object(
  { lookback: Type.Integer({ minimum: 1, maximum: maxLookback, description: 'Bars between the two closes that are compared' }) },
  exact,
);
export const MeanReversionConfig = Type.Object(
  {
    lookback: Type.Integer({ minimum: 2, maximum: maxLookback, description: 'Closes in the window, this bar included' }),
    z_entry: Type.Number({ exclusiveMinimum: 0, maximum: maxZ, description: 'A position is opened this many deviations from the mean' }),
    z_exit: Type.Number({ minimum: 0, maximum: maxZ, description: 'A position is closed this near to the mean; less than z_entry' }),
  },
  exact,
);
export const ArbitrageConfig = Type.Object(
  {
    pair: Type.Array(Type.String({ minLength: 1, maxLength: 32 }), {
      minItems: 2,
      maxItems: 2,
      uniqueItems: true,
      description: 'Two symbols A and B; the spread is ln A − ln B',
    }),
    lookback: Type.Optional(Type.Integer({ minimum: 2, maximum: maxLookback, default: 20, description: 'Spreads in the window' })),
    z_entry: Type.Number({ exclusiveMinimum: 0, maximum: maxZ }),
    z_exit: Type.Number({ minimum: 0, maximum: maxZ, description: 'Less than z_entry' }),
  },
  exact,
);
export const CustomConfig = Type.Object(
  {
    code: Type.String({
      minLength: 1,
      maxLength: 100_000,
      description: 'JavaScript that defines `function onBar(bar, ctx)`, which returns the target weight from -1 to 1',
    }),
  },
  exact,
);

export const configForms = {
  momentum: MomentumConfig,
  mean_reversion: MeanReversionConfig,
  arbitrage: ArbitrageConfig,
  custom: CustomConfig,
} as const;

export type MomentumConfig = Static<typeof MomentumConfig>;
export type MeanReversionConfig = Static<typeof MeanReversionConfig>;
export type ArbitrageConfig = Static<typeof ArbitrageConfig>;
export type CustomConfig = Static<typeof CustomConfig>;

export type Strategy =
  | { readonly type: 'momentum'; readonly config: MomentumConfig }
  | { readonly type: 'mean_reversion'; readonly config: MeanReversionConfig }
  | { readonly type: 'arbitrage'; readonly config: ArbitrageConfig }
  | { readonly type: 'custom'; readonly config: CustomConfig };
/** Types whose weights are computed here; callers' code runs in the sandbox. */
export type BuiltInStrategy = Exclude<Strategy, { type: 'custom' }>;

export const defaultArbitrageLookback = 20;

/**
 * Faults between several fields, which the schema cannot express. The places of the issues begin with `at`.
 *
 * @param strategy its configuration is already of the form of its type
 */
export function configIssues(strategy: Strategy, at: readonly string[]): Issue[] {
  if (strategy.type !== 'mean_reversion' && strategy.type !== 'arbitrage') return [];
  const { z_entry, z_exit } = strategy.config;
  if (z_exit < z_entry) return [];
  return [{ loc: [...at, 'z_exit'], msg: 'z_exit should be less than z_entry', type: 'less_than', input: z_exit, ctx: { lt: z_entry } }];
}

/** The number of bars that a strategy needs before it can decide; the warm-up of a run in the market. */
export function warmUpBars(strategy: Strategy): number {
  if (strategy.type === 'momentum') return strategy.config.lookback;
  if (strategy.type === 'mean_reversion') return strategy.config.lookback - 1;
  if (strategy.type === 'arbitrage') return (strategy.config.lookback ?? defaultArbitrageLookback) - 1;
  return 0;
}

/** SHA-256, in hex, of what decides: the type and the configuration with its fields in alphabetical order and defaults filled in. */
export function codeHash(strategy: Strategy): string {
  const config: Record<string, unknown> = { ...strategy.config };
  if (strategy.type === 'arbitrage') config.lookback ??= defaultArbitrageLookback;
  const fields = Object.keys(config).sort();
  const text = JSON.stringify([strategy.type, fields.map((field) => [field, config[field]])]);
  return createHash('sha256').update(text).digest('hex');
}
