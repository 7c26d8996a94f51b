/**
 * Checks that the history of one register is linearizable, by the search of Wing and Gong with Lowe's cache of visited configurations. Each
 * operation must take effect at one moment between its call and its return. An operation with an unknown outcome takes effect at any moment
 * after its call, or never.
 *
 * The register has a version: the answer to a write is the new version, which is the previous version plus one.
 */

export type RegisterOperation = {
  id: number;
  kind: 'write' | 'read';
  /** `write`: the written value. `read`: the value that was read, null if there was none. */
  value: string | null;
  /** `write`: the version in the answer; null if the outcome is unknown. */
  version: number | null;
  invokedMs: number;
  /** Infinity if the outcome is unknown, which only writes have: a read without an answer proves nothing and is left out. */
  returnedMs: number;
};

export type Judgement =
  | { kind: 'linearizable' }
  /** `stuckAt`: the operation at which the longest attempt failed. */
  | { kind: 'not linearizable'; stuckAt: number }
  /** The search was stopped before it had a result. */
  | { kind: 'undecided' };

type State = { version: number; value: string | null };
type Mark = { operation: RegisterOperation; isCall: boolean; index: number; prev: Mark | null; next: Mark | null; match: Mark | null };
type Step = { call: Mark; before: State };

const defaultMaxSteps = 2_000_000;

export function judgeRegister(history: readonly RegisterOperation[], maxSteps = defaultMaxSteps): Judgement {
  if (history.length === 0) return { kind: 'linearizable' };
  const operations = [...history].sort((a, b) => a.invokedMs - b.invokedMs);
  const head = marksOf(operations);
  let pending = operations.filter(({ returnedMs }) => returnedMs !== Number.POSITIVE_INFINITY).length;
  let state: State = { version: 0, value: null };
  const tried = new Set<string>();
  const steps: Step[] = [];
  let at = head.next;
  let stuckAt = 0;
  let deepest = -1;
  for (let step = 0; pending > 0; step++) {
    if (step > maxSteps) return { kind: 'undecided' };
    if (at?.isCall) {
      const after = apply(state, at.operation);
      const key = after === null ? null : configuration(head, at, after);
      if (after !== null && !tried.has(key!)) {
        tried.add(key!);
        steps.push({ call: at, before: state });
        state = after;
        if (at.match !== null) pending--;
        lift(at);
        at = head.next;
      } else at = at.next;
      continue;
    }
    // A return whose operation has not taken effect, or the end with operations left, proves the last choice wrong.
    if (at !== null && steps.length > deepest) {
      deepest = steps.length;
      stuckAt = at.operation.id;
    }
    const last = steps.pop();
    if (last === undefined) return { kind: 'not linearizable', stuckAt };
    state = last.before;
    if (last.call.match !== null) pending++;
    restore(last.call);
    at = last.call.next;
  }
  return { kind: 'linearizable' };
}

/** Returns null if the operation cannot take effect in this state. */
function apply(state: State, { kind, value, version }: RegisterOperation): State | null {
  if (kind === 'read') return state.value === value ? state : null;
  const next = state.version + 1;
  return version === null || version === next ? { version: next, value } : null;
}

/** Calls and returns in order of time. At equal times calls come first, which forbids fewer orders. Unknown outcomes have no return. */
function marksOf(operations: readonly RegisterOperation[]): Mark {
  const marks: (Mark & { atMs: number })[] = [];
  operations.forEach((operation, index) => {
    const call = { operation, isCall: true, index, prev: null, next: null, match: null, atMs: operation.invokedMs } as Mark & {
      atMs: number;
    };
    marks.push(call);
    if (operation.returnedMs === Number.POSITIVE_INFINITY) return;
    const back = { operation, isCall: false, index, prev: null, next: null, match: null, atMs: operation.returnedMs };
    call.match = back;
    marks.push(back);
  });
  marks.sort((a, b) => a.atMs - b.atMs || Number(b.isCall) - Number(a.isCall));
  const head: Mark = { operation: operations[0]!, isCall: false, index: -1, prev: null, next: null, match: null };
  let last: Mark = head;
  for (const mark of marks) {
    last.next = mark;
    mark.prev = last;
    last = mark;
  }
  return head;
}

function lift(call: Mark): void {
  for (const mark of [call, call.match]) {
    if (mark === null) continue;
    mark.prev!.next = mark.next;
    if (mark.next !== null) mark.next.prev = mark.prev;
  }
}

function restore(call: Mark): void {
  for (const mark of [call.match, call]) {
    if (mark === null) continue;
    mark.prev!.next = mark;
    if (mark.next !== null) mark.next.prev = mark;
  }
}

/**
 * A key of the set of operations that have taken effect, including `added`, and of the resulting state. Every operation that was called before the
 * first return in the list has taken effect, except the few that precede this return in the list.
 */
function configuration(head: Mark, added: Mark, { version, value }: State): string {
  const missing: number[] = [];
  let mark = head.next;
  for (; mark !== null; mark = mark.next) {
    if (mark === added || mark === added.match) continue;
    if (!mark.isCall) break;
    missing.push(mark.index);
  }
  return `${mark?.index}:${missing.join()}:${version}:${value}`;
}
