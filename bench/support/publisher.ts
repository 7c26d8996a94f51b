/** Accounts that publish sites through the service. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { goodToken } from '../../test/support/hosts/host-stand-in.ts';
import type { Json } from '../../test/support/json.ts';
import { Customer, RefusedForNow } from './customer.ts';
import { machineMs } from './machine-clock.ts';

const uploadsAtOnce = 16;
const endWithinMs = 120_000;

export type File = { path: string; content: string };

/** An account with a site in a workspace, and a configuration. */
export class Publisher {
  private readonly customer: Customer;
  private readonly workspaceId: string;

  private constructor(customer: Customer, workspaceId: string) {
    this.customer = customer;
    this.workspaceId = workspaceId;
  }

  static async register(url: string, email: string, files: readonly File[]): Promise<Publisher> {
    const customer = await Customer.register(url, email);
    const { id } = await customer.post('/v1/workspaces', { name: 'site' });
    const left = files.values();
    const send = async () => {
      for (const { path, content } of left) await customer.uploadAt(id, path, content);
    };
    await Promise.all(Array.from({ length: uploadsAtOnce }, send));
    await customer.post('/v1/deployments/configs', { name: 'site', target: 'vercel', credentials: { token: goodToken } });
    return new Publisher(customer, id);
  }

  /** Resolves when the deployment is live, with the number of answers that refused its creation for now. Waits after each as the answer says. */
  async publish(pollMs: number): Promise<number> {
    const untilMs = machineMs() + endWithinMs;
    let refusals = 0;
    const withRetries = async (ask: () => Promise<Json>, onRefusal: () => void = () => {}): Promise<Json> => {
      for (;;) {
        try {
          return await ask();
        } catch (error) {
          if (!(error instanceof RefusedForNow) || machineMs() > untilMs) throw error;
          onRefusal();
          await pause(error.retryAfterMs);
        }
      }
    };
    const creation = { workspace_id: this.workspaceId, target: 'vercel' };
    const { id } = await withRetries(
      () => this.customer.post('/v1/deployments', creation),
      () => refusals++,
    );
    for (;;) {
      await pause(pollMs);
      const { status, error } = await withRetries(() => this.customer.get(`/v1/deployments/${id}`));
      if (status === 'live') return refusals;
      if (status === 'failed') throw new Error(`the deployment failed: ${JSON.stringify(error)}`);
      if (machineMs() > untilMs) throw new Error(`the deployment is ${status} for too long`);
    }
  }
}

export function siteOf(count: number): File[] {
  return Array.from({ length: count }, (_, i) => ({
    path: i === 0 ? 'index.html' : `pages/${i % 20}/page-${i}.html`,
    content: `<!doctype html><title>${i}</title><p>${randomBytes(1_000).toString('base64')}</p>`,
  }));
}
