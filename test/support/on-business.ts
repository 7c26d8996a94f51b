/** Sets the business plan for every existing and future account of a service. */
import pg from 'pg';

const everybodyOnBusiness = `
create or replace function on_business() returns trigger language plpgsql as $$ begin new.plan := 'business'; return new; end $$;
create or replace trigger on_business before insert on account_override for each row execute function on_business();
update account_override set plan = 'business', changed_at = clock_timestamp();
`;

/** Limits are lifted too: see `lift-limits.ts`, which makes an override of every account. */
export async function onBusiness(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(everybodyOnBusiness);
  } finally {
    await client.end();
  }
}
