/** Validates strategies: the form of the configuration by its type, and the symbols. */
import Type, { type TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { issuesOf } from '../../../edge/http/issues.ts';
import { AppError, type Issue } from '../../../errors.ts';
import { parseSymbol } from '../market/symbol.ts';
import { configForms, configIssues, type Strategy, type StrategyType } from './config.ts';
import { type RunSettings, settingFields, splitConfig } from './settings.ts';

type CheckedConfig = { strategy: Strategy; settings: RunSettings };

const forms = new Map<StrategyType, Validator>();

/** The caller's configuration, validated. Throws `invalid`, with the places of all faults below `config`. */
export function checkedConfig(type: StrategyType, given: Record<string, unknown>): CheckedConfig {
  const value = { config: given };
  const validator = formOf(type);
  const issues = validator.Check(value) ? [] : issuesOf('body', schemaOf(type), value, validator.Errors(value));
  const { config, settings } = splitConfig(given);
  const strategy = normal({ type, config } as Strategy);
  if (issues.length === 0) issues.push(...configIssues(strategy, ['body', 'config']), ...pairIssues(strategy));
  if (issues.length > 0) throw new AppError('invalid', issues[0]!.msg, { issues });
  return { strategy, settings };
}

/** The symbols in normal form. Throws `invalid` if two are equal or one is of no class. */
export function checkedSymbols(given: readonly string[]): string[] {
  const symbols = given.map((text) => parseSymbol(text)?.symbol ?? text);
  const issues = symbols.flatMap((symbol, at): Issue[] => {
    const input = given[at]!;
    if (parseSymbol(input) === null) return [issueAt(['body', 'symbols', String(at)], 'The symbol is not valid', 'value_error', input)];
    return symbols.indexOf(symbol) === at
      ? []
      : [issueAt(['body', 'symbols', String(at)], 'The symbol is in the list already', 'value_error', input)];
  });
  if (issues.length > 0) throw new AppError('invalid', issues[0]!.msg, { issues });
  return symbols;
}

/** Throws `invalid` if a pair strategy is to trade other symbols than its two. */
export function checkSymbolsOf(strategy: Strategy, symbols: readonly string[]): void {
  if (strategy.type !== 'arbitrage') return;
  const { pair } = strategy.config;
  if (symbols.length === 2 && pair.every((symbol) => symbols.includes(symbol))) return;
  const msg = `Symbols should be the two of config.pair: ${pair.join(', ')}`;
  throw new AppError('invalid', msg, { issues: [issueAt(['body', 'symbols'], msg, 'value_error', [])] });
}

function normal(strategy: Strategy): Strategy {
  if (strategy.type !== 'arbitrage' || !Array.isArray(strategy.config.pair)) return strategy;
  const pair = strategy.config.pair.map((text) => (typeof text === 'string' ? (parseSymbol(text)?.symbol ?? text) : text));
  return { ...strategy, config: { ...strategy.config, pair } };
}

function pairIssues(strategy: Strategy): Issue[] {
  if (strategy.type !== 'arbitrage') return [];
  const { pair } = strategy.config;
  const loc = ['body', 'config', 'pair'];
  if (pair[0] === pair[1]) return [issueAt(loc, 'A pair has two symbols', 'value_error', [])];
  return pair.flatMap((symbol, at) =>
    parseSymbol(symbol) === null ? [issueAt([...loc, String(at)], 'The symbol is not valid', 'value_error', symbol)] : [],
  );
}

function issueAt(loc: string[], msg: string, type: string, input: unknown): Issue {
  return { loc, msg, type, input, ctx: {} };
}

function formOf(type: StrategyType): Validator {
  let form = forms.get(type);
  if (form === undefined) forms.set(type, (form = Compile(schemaOf(type))));
  return form;
}

function schemaOf(type: StrategyType): TSchema {
  const { warm_up_bars, ...common } = settingFields;
  const settings = type === 'custom' ? settingFields : common;
  return Type.Object({ config: Type.Object({ ...configForms[type].properties, ...settings }, { additionalProperties: false }) });
}
