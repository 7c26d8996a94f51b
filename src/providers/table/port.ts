/** Figures of the tables in a file. The jobs are for `Compute`; their source is the file, or several files one after the other. */
import type { Job } from '../compute/port.ts';
import type { Bounds } from './findings/missing.ts';
import type { JoinProfile } from './join.ts';
import type { JoinBounds } from './join-figures.ts';
import type { Query, QueryAnswers } from './queries/query.ts';
import type { TableProfile } from './table-profile.ts';

export type { Bounds } from './findings/missing.ts';
export type { JoinProfile } from './join.ts';
export type { Query, QueryAnswers } from './queries/query.ts';
export type { TableProfile } from './table-profile.ts';

export const profileJob: Job<{ name: string; maxBytes: number; bounds?: Bounds; sheet?: string }, TableProfile> = {
  name: 'profile_table',
  module: new URL('./profile-job.ts', import.meta.url),
  timeMs: 100_000,
  wallMs: 450_000,
};

export const joinJob: Job<{ left: string; right: string; last?: string } & JoinBounds, JoinProfile> = {
  name: 'join_tables',
  module: new URL('./join-job.ts', import.meta.url),
  timeMs: 100_000,
  wallMs: 450_000,
};

export const queryJob: Job<{ name: string; queries: Query[]; sheet?: string }, QueryAnswers> = {
  name: 'query_table',
  module: new URL('./queries/query-job.ts', import.meta.url),
  timeMs: 60_000,
  wallMs: 450_000,
};
