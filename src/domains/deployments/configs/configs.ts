/** The only writer of an account's deploy configurations, so that concurrent requests create neither two of one name nor more than the maximum. */
import type { ActorDefinition, Turn, TurnContext } from '../../../actors/define-actor.ts';
import { AppError } from '../../../errors.ts';
import type { Mode } from '../../../mode.ts';
import type { Target } from '../targets.ts';
import type { DeployConfig } from './config.ts';
import { DeployConfigs, type DeployConfigsRow } from './entity.ts';
import { type DeployConfigsContract, deployConfigs, maxConfigs } from './messages.ts';

type State = DeployConfigsRow | null;

export const deployConfigsActor: ActorDefinition<DeployConfigsRow, DeployConfigsContract> = {
  ref: deployConfigs,
  entity: DeployConfigs,
  commands: { add, remove, keep },
  queries: {
    list: (state, { mode }) => serving(state, mode),
    find: (state, { id, mode }) => serving(state, mode).find((one) => one.id === id) ?? null,
    newest: (state, { target, mode }: { target: Target; mode: Mode }) => serving(state, mode).find((one) => one.target === target) ?? null,
  },
};

function add(state: State, made: DeployConfig, ctx: TurnContext): Turn<State, DeployConfig> {
  const configs = state?.configs ?? [];
  const there = configs.find(({ id }) => id === made.id);
  if (there !== undefined) return { state, reply: there };
  // By mode: a test key takes neither names nor room of live configurations.
  const ofMode = configs.filter(({ mode }) => mode === made.mode);
  if (ofMode.some(({ name }) => name === made.name)) throw new AppError('conflict', 'Another deploy configuration has this name');
  if (ofMode.length >= maxConfigs) throw new AppError('conflict', `An account has ${maxConfigs} deploy configurations at most: delete one`);
  return { state: { accountId: ctx.id, configs: [...configs, made] }, reply: made };
}

function remove(state: State, { id }: { id: string }): Turn<State, null> {
  if (state === null || !state.configs.some((one) => one.id === id)) throw new AppError('not_found', 'Deploy configuration not found');
  return { state: { ...state, configs: state.configs.filter((one) => one.id !== id) }, reply: null };
}

/** Two concurrent deployments may each have created a site: the one that is stored first is used by all. */
function keep(
  state: State,
  { id, values, gone = {} }: { id: string; values: Record<string, string>; gone?: Record<string, string> },
): Turn<State, Record<string, string>> {
  const config = state?.configs.find((one) => one.id === id);
  if (state === null || config === undefined) return { state, reply: {} };
  const kept = keptWith(config.kept, values, gone);
  if (Object.entries(kept).every(([name, value]) => config.kept[name] === value)) return { state, reply: config.kept };
  const configs = state.configs.map((one) => (one.id === id ? { ...one, kept } : one));
  return { state: { ...state, configs }, reply: kept };
}

/** Stored values stay, except those that are gone at the host. */
export function keptWith(
  stored: Readonly<Record<string, string>>,
  values: Readonly<Record<string, string>>,
  gone: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return { ...values, ...Object.fromEntries(Object.entries(stored).filter(([name, value]) => gone[name] !== value)) };
}

/** Newest first: they are stored in the order in which they were made. */
function serving(state: State, mode: Mode): DeployConfig[] {
  return (state?.configs ?? []).filter((one) => one.mode === 'live' || mode === 'test').reverse();
}
