/** The settings of a strategy's configuration for runs in the market, besides those of its type. */
import Type, { type Static } from 'typebox';
import { timeframes } from '../market/port.ts';

export const settingFields = {
  timeframe: Type.Optional(Type.Enum([...timeframes], { description: 'Bars that a run decides on; without it, `1d`' })),
  capital: Type.Optional(
    Type.Number({
      minimum: 1,
      maximum: 1_000_000_000,
      description:
        'USD that a run begins with and sizes against, together with what the run has won or lost since; without it, the equity of the account',
    }),
  ),
  warm_up_bars: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 10_000,
      description: 'Of custom code: bars from before the start that a run is shown first; without it, none',
    }),
  ),
} as const;

const SettingsForm = Type.Object(settingFields);
export type RunSettings = Static<typeof SettingsForm>;

/** A caller's configuration, in its two parts. */
export function splitConfig(given: Record<string, unknown>): { config: Record<string, unknown>; settings: RunSettings } {
  const config: Record<string, unknown> = {};
  const settings: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(given)) (Object.hasOwn(settingFields, field) ? settings : config)[field] = value;
  return { config, settings: settings as RunSettings };
}
