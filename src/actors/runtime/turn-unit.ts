/** An activation's part of one batch, together with everyone who waits for its commit. */
import { CommitUnit } from '../../storage/commit-unit.ts';
import type { Envelope } from './envelope.ts';

export class TurnUnit extends CommitUnit {
  /** Whose turns these are, in order. If the commit fails they are tried again. */
  readonly taken: Envelope[] = [];
  /** Answers that change nothing but were decided on this unit's state, or an earlier one's. */
  readonly waiting: Envelope[] = [];
  /** Callers that an earlier turn left waiting and that a turn of this unit answers. */
  answered: Answered[] | null = null;
  /** Holds a turn whose unit failed before: no other may join it, so that it can be blamed alone. */
  alone = false;
}

export type Answered = { key: string; envelope: Envelope; error: unknown; reply: unknown };
