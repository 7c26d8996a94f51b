/**
 * Accounts without limits: the overrides of `troupe account set`, set for every new account of a database. For tests and benches, which
 * send more requests than users do.
 */
import pg from 'pg';

const lifting = (work: '-1' | 'null') => `
create or replace function lift_limits() returns trigger language plpgsql as $$ begin
  insert into account_override (account_id, requests_per_minute, concurrent_requests, websockets, tasks_limit, credits, agent_minutes,
      concurrent_tasks, concurrent_agents, api_keys, changed_at)
    values (new.id, 100000000, 1000000, 1000000, ${work}, ${work}, ${work}, ${work}, ${work}, -1, clock_timestamp()) on conflict do nothing;
  return null;
end $$;
create or replace trigger lift_limits after insert on account for each row execute function lift_limits();
`;

/** Lifts all limits of plans, or leaves those on tasks and agents. The tables must be there: a node must have started. */
export async function liftLimits(databaseUrl: string, onlyRequests = false): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(lifting(onlyRequests ? 'null' : '-1'));
  } finally {
    await client.end();
  }
}

/** For the environment of a service: addresses without a token, such as those that sign up, may ask as often. */
export const manyAnonymousRequests = { ANONYMOUS_REQUESTS_PER_MINUTE: '100000000' } as const;
