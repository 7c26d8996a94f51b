/** Distinguishes this installation's nodes from those of another installation on the same Redis. */
import { Migration } from '@mikro-orm/migrations';

export class ClusterIdentity extends Migration {
  override name = '0002-cluster-identity';

  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }
}

const statements = [
  // At most one row.
  `create table cluster_identity (single boolean primary key default true check (single), id text not null)`,
  `insert into cluster_identity (id) values (gen_random_uuid()::text)`,
];
