/** The form of a formula: whether it is a sum, and which one most cells have. */
import { type Expression, formulaKey } from './formula.ts';

const minAlike = 2;
const minShareAlike = 0.6;

/** The formula that most cells have; null if there is none. */
export function usualFormula(expressions: readonly Expression[], cells: number): Expression | null {
  const counts = new Map<string, { count: number; expression: Expression }>();
  for (const expression of expressions) {
    const key = formulaKey(expression);
    const found = counts.get(key);
    if (found === undefined) counts.set(key, { count: 1, expression });
    else found.count++;
  }
  const most = [...counts.values()].reduce((best, each) => (each.count > best.count ? each : best), {
    count: 0,
    expression: null as Expression | null,
  });
  return most.count >= minAlike && most.count >= cells * minShareAlike ? most.expression : null;
}

export function isSameFormula(own: Expression | undefined, usual: Expression): boolean {
  return own !== undefined && formulaKey(own) === formulaKey(usual);
}

/** SUM of cells and areas, or a + b + c. */
export function isSum(expression: Expression): boolean {
  if (expression.kind === 'binary') return expression.sign === '+' && isTerm(expression.left) && isTerm(expression.right);
  if (expression.kind !== 'call') return false;
  const of = expression.name === 'SUBTOTAL' ? expression.of.slice(1) : expression.name === 'SUM' ? expression.of : [];
  return of.length > 0 && of.every(({ kind }) => kind === 'cell' || kind === 'area');
}

function isTerm(expression: Expression): boolean {
  return expression.kind === 'cell' || (expression.kind === 'binary' && isSum(expression));
}
