/** Finds the value of a path: fixed segments before parameters before rests, with backtracking where a segment leads nowhere. */

export type Match<T> = { value: T; parameters: string[] };

type Node<T> = { fixed: Map<string, Node<T>>; parameter: Node<T> | null; rest: Node<T> | null; value: T | null };

export class PathTable<T> {
  private readonly root: Node<T> = emptyNode();

  /** The value at a pattern such as `/tasks/{id}`, or `/files/{path*}` for any number of segments; the first call creates it with `create`. */
  at(pattern: string, create: () => T): T {
    let node = this.root;
    for (const segment of pattern.slice(1).split('/')) {
      if (segment.endsWith('*}')) {
        node.rest ??= emptyNode();
        node = node.rest;
      } else if (segment.startsWith('{')) {
        node.parameter ??= emptyNode();
        node = node.parameter;
      } else {
        let next = node.fixed.get(segment);
        if (next === undefined) {
          next = emptyNode();
          node.fixed.set(segment, next);
        }
        node = next;
      }
    }
    node.value ??= create();
    return node.value;
  }

  /**
   * The value for a path as it was sent, from position `from` on. Parameters are returned as sent, and are never empty: `/tasks/` is not
   * `/tasks/{id}`; only a rest may be empty. Segments are compared unchanged, so `..`, `//` and escaped slashes match nothing fixed.
   */
  find(path: string, from: number): Match<T> | null {
    const parameters: string[] = [];
    const value = search(this.root, path, from + 1, parameters);
    return value === null ? null : { value, parameters };
  }
}

function search<T>(node: Node<T>, path: string, from: number, parameters: string[]): T | null {
  if (from > path.length) return node.value;
  let to = path.indexOf('/', from);
  if (to === -1) to = path.length;
  const segment = path.slice(from, to);
  const fixed = node.fixed.get(segment);
  if (fixed !== undefined) {
    const value = search(fixed, path, to + 1, parameters);
    if (value !== null) return value;
  }
  if (node.parameter !== null && segment !== '') {
    parameters.push(segment);
    const value = search(node.parameter, path, to + 1, parameters);
    if (value !== null) return value;
    parameters.pop();
  }
  if (node.rest === null) return null;
  parameters.push(path.slice(from));
  return node.rest.value;
}

function emptyNode<T>(): Node<T> {
  return { fixed: new Map(), parameter: null, rest: null, value: null };
}
