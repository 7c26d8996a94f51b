/** One try to commit some units, and the next steps if it failed: pure decisions, the same in every lane. */
import { backoffMs } from '../backoff.ts';
import { isRepeat } from './commit-statement.ts';
import type { CommitOutcome, CommitUnit } from './commit-unit.ts';

/** The result of one try: committed, or certainly not committed. */
export type Try =
  | { kind: 'committed'; outcomes: CommitOutcome[] }
  /** Units whose shards this owner has lost are marked `lost`; the others may be sent again at once. */
  | { kind: 'lost' }
  /** The contents are the cause. */
  | { kind: 'bad'; error: Error }
  /** Another session holds a lock. */
  | { kind: 'locked'; error: Error }
  /** The statement took too long. */
  | { kind: 'slow'; error: Error }
  /** The database is the cause: see `database-errors.ts`. */
  | { kind: 'again'; error: Error }
  | { kind: 'unreachable'; error: Error };

/** Units that are sent together, and the number of tries. */
export type Job = {
  units: CommitUnit[];
  tries: number;
  /** Consecutive tries without a reachable database. */
  outages: number;
  /** Shared by all parts of a batch: if everything fails, not every unit is tried alone. */
  budget: { left: number };
};

export type Next = { settled: { unit: CommitUnit; outcome: CommitOutcome }[]; jobs: Job[]; pauseMs: number };

/** How often the same units are tried when the database is the cause, before they are split in halves. */
const triesTogether = 3;
/** How often one unit is tried alone; once, if it was tried with others before. */
const triesAlone = 5;
/** Tries of one batch that was split because of the database. Enough to find three units among 512. */
const triesInParts = 64;
/** A statement that timed out counts as so many tries. */
const slowCosts = 8;

export function newJob(units: CommitUnit[]): Job {
  return { units, tries: 0, outages: 0, budget: { left: triesInParts } };
}

/** @param tried not `committed` and not `locked`: lanes handle these differently */
export function afterTry(job: Job, tried: Exclude<Try, { kind: 'committed' | 'locked' }>): Next {
  const { units, budget } = job;
  if (tried.kind === 'lost') {
    const kept = units.filter((unit) => !unit.lost);
    return {
      ...outcomeForAll(
        units.filter((unit) => unit.lost),
        { kind: 'refused' },
      ),
      jobs: kept.length === 0 ? [] : [{ ...job, units: kept }],
    };
  }
  const { kind, error } = tried;
  const tries = job.tries + 1;
  if (kind === 'unreachable') {
    // Nothing was written: wait until the database is reachable. Callers are answered at their deadlines.
    const outages = job.outages + 1;
    return { settled: [], jobs: [{ ...job, outages }], pauseMs: commitBackoffMs(outages) };
  }
  if (kind === 'bad') {
    if (units.length > 1) return { settled: [], jobs: halves(job, 0), pauseMs: 0 };
    return outcomeForAll(units, { kind: isRepeat(error) ? 'repeated' : 'failed', error });
  }
  if (kind === 'slow' || tries >= triesTogether) {
    budget.left -= kind === 'slow' ? slowCosts : 1;
    if (budget.left <= 0 || (units.length === 1 && tries >= triesAlone)) return outcomeForAll(units, { kind: 'unavailable', error });
    if (units.length > 1) return { settled: [], jobs: halves(job, triesAlone - 1), pauseMs: 0 };
  }
  return { settled: [], jobs: [{ ...job, tries, outages: 0 }], pauseMs: commitBackoffMs(tries) };
}

export function halves(job: Job, tries: number): Job[] {
  const middle = job.units.length >> 1;
  return [job.units.slice(0, middle), job.units.slice(middle)].map((units) => ({ ...job, units, tries, outages: 0 }));
}

/** Pause after this many consecutive failures, from 1. */
export const commitBackoffMs = (failures: number) => backoffMs(failures, 25, 2_000);

function outcomeForAll(units: readonly CommitUnit[], outcome: CommitOutcome): Next {
  return { settled: units.map((unit) => ({ unit, outcome })), jobs: [], pauseMs: 0 };
}
