/** The deployment that a task begins when it is complete. */
import { Migration } from '@mikro-orm/migrations';

export class DeploymentOfTasks extends Migration {
  override name = '0047-deployment-of-tasks';

  override up(): void {
    this.addSql('alter table task add deployment_id text');
  }
}
