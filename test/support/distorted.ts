/** JSON with small deviations from the valid form. */
import type { Json } from './json.ts';
import type { Random } from './random.ts';

const strange: unknown[] = [null, 7, -1, true, 'text', '', [], {}, [null], [7], [[]], [{}], { id: 7 }];

/** With one value, anywhere in it, of another form. */
export function distorted(json: unknown, random: Random): unknown {
  if (typeof json !== 'object' || json === null || random.between(0, 3) === 0) return random.pick(strange);
  const names = Object.keys(json);
  if (names.length === 0) return random.pick(strange);
  const name = random.pick(names);
  const inner = distorted((json as Json)[name], random);
  if (Array.isArray(json)) return json.map((value, at) => (String(at) === name ? inner : value));
  return { ...json, [name]: inner };
}
