/** Lists of facts, each with an upper bound. */
export const maxEach = 60;

export function add<T>(list: T[], fact: T): void {
  if (list.length < maxEach) list.push(fact);
}
