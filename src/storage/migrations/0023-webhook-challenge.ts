/** A webhook is active when its address has answered a challenge; existing ones count as answered. Adds the register of an account's webhooks. */
import { Migration } from '@mikro-orm/migrations';

export class WebhookChallenge extends Migration {
  override name = '0023-webhook-challenge';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table webhook add verified_url text`,
  `update webhook set verified_url = url`,
  `create table account_webhooks (id text primary key, entries json not null)`,
  `insert into account_webhooks select account_id, json_agg(json_build_object('id', id, 'origin', lower(substring(url from '^[A-Za-z]+://[^/?#]+'))) order by id)
     from webhook where status <> 'deleted' group by account_id`,
];
