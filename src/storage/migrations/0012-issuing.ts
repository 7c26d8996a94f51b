/** Cards and authorizations at an external issuer, and reversals of approved authorizations. */
import { Migration } from '@mikro-orm/migrations';

export class Issuing extends Migration {
  override name = '0012-issuing';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  `alter table card add issuer_card_id text`,
  `create table issued_card (id text primary key, account_id text not null, name text not null, currency text not null, spend_limit_minor bigint not null, status text not null, refusal text, issuer_card_id text unique, last4 text, number_hash text, wanted text not null, told text not null, trying_since timestamptz(3), created_at timestamptz(3) not null,
     check ((status = 'made') = (issuer_card_id is not null)))`,
  `create table issuer_authorization (id text primary key, account_id text not null, card_id text not null, merchant text not null, charges json not null, word json, uncovered_minor bigint not null check (uncovered_minor >= 0), failed_looks int not null, look_id text, look_again boolean not null, created_at timestamptz(3) not null)`,
  `create index issuer_authorization_uncovered on issuer_authorization (created_at) where uncovered_minor > 0`,
  `create table card_reversal (id text primary key, authorization_id text not null, card_id text not null, account_id text not null, amount_minor bigint not null check (amount_minor > 0), reason text not null, created_at timestamptz(3) not null)`,
  `create index card_reversal_of_authorization on card_reversal (authorization_id)`,
  `create index card_reversal_of_card on card_reversal (card_id)`,
];
