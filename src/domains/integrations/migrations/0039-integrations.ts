/** Connected services: their tokens, the consents that are under way, and messages that services have sent. */
import { Migration } from '@mikro-orm/migrations';

export class Integrations extends Migration {
  override name = '0039-integrations';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `create table integration (id text primary key, account_id text not null, mode text not null, service text not null, status text not null,
    reason text, tokens text not null, generation integer not null, renewable boolean not null, expires_at timestamptz(3), renew_at timestamptz(3),
    granted_scopes json, attributes json not null, inbound_id text, redirect_uri text, refresh_effect_id text, revoke_effect_id text,
    connected_at timestamptz(3) not null, created_at timestamptz(3) not null)`,
  `create index integration_by_account on integration (account_id, mode, created_at desc, id desc)`,
  `create index integration_by_inbound on integration (service, inbound_id) where inbound_id is not null`,
  `create table service_authorization (id text primary key, account_id text not null, mode text not null, target text not null, redirect_uri text,
    scopes json not null, secrets text not null, facts json not null, returned_at timestamptz(3), taken_until timestamptz(3), used_at timestamptz(3),
    created_at timestamptz(3) not null, expires_at timestamptz(3) not null)`,
  `create index service_authorization_to_forget on service_authorization (expires_at)`,
  `create table received_message (integration_id text not null, message_id text not null, account_id text not null, sender text not null,
    text text not null, sent_at timestamptz(3) not null, received_at timestamptz(3) not null, primary key (integration_id, message_id))`,
  `create index received_message_newest on received_message (integration_id, sent_at desc, message_id desc)`,
  `create index received_message_to_forget on received_message (received_at)`,
];
