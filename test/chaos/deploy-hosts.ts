/**
 * Hosts during a run, with the faults of real hosts: answers that are lost, late or temporarily refused, and creations that are executed
 * after the search for them.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { goodToken, type Fault as HostFault, type HostStandIn } from '../support/hosts/host-stand-in.ts';
import { netlifyRow } from '../support/hosts/netlify-row.ts';
import { NetlifyStandIn } from '../support/hosts/netlify-stand-in.ts';
import { vercelRow } from '../support/hosts/vercel-row.ts';
import { VercelStandIn } from '../support/hosts/vercel-stand-in.ts';
import type { Random } from '../support/random.ts';
import { fingerprintOf } from './fingerprint.ts';

export type AtHost = { host: string; id: string; tag: string; state: string; fingerprint: string };

const faultChance = 0.06;
const lateMs = 1_500;
/** Within `DEPLOY_LOOK_AGAIN_MS`. */
const carriedOutAfterMs = 3_000;
const faults: readonly (() => HostFault)[] = [
  () => 'lost',
  () => 'cut',
  () => ({ lateMs }),
  () => ({ status: 503, json: { message: 'later' } }),
  () => ({ status: 429, headers: { 'retry-after': '1' }, json: { message: 'slowly' } }),
  () => ({ actsWhen: pause(carriedOutAfterMs) }),
];

export class DeployHosts {
  readonly vercel: VercelStandIn;
  readonly netlify: NetlifyStandIn;
  private readonly ends: (() => unknown)[];

  private constructor(vercel: VercelStandIn, netlify: NetlifyStandIn, ends: (() => unknown)[]) {
    this.vercel = vercel;
    this.netlify = netlify;
    this.ends = ends;
  }

  static async start(random: Random): Promise<DeployHosts> {
    const ends: (() => unknown)[] = [];
    const scope = { after: (end: () => unknown) => void ends.push(end) };
    const hosts = new DeployHosts(await VercelStandIn.start(scope), await NetlifyStandIn.start(scope), ends);
    hosts.vercel.quick = true;
    for (const standIn of hosts.all)
      standIn.onRequest = () => {
        if (random.next() < faultChance) standIn.meet(/./, random.pick(faults)());
      };
    return hosts;
  }

  get env(): Record<string, string> {
    return {
      VERCEL_API_URL: this.vercel.apiUrl,
      NETLIFY_API_URL: this.netlify.apiUrl,
      OUTBOUND_ALLOW: '127.0.0.0/8',
      DEPLOY_TIMEOUT_MS: '180000',
      DEPLOY_LOOK_AGAIN_MS: '15000',
    };
  }

  /** Every answer comes from now on. */
  quieten(): void {
    for (const standIn of this.all) {
      standIn.onRequest = () => {};
      standIn.faults = [];
    }
  }

  /** What the hosts have, without what was removed. */
  get made(): AtHost[] {
    const shown = (host: string, { id, tag, state, files }: ReturnType<typeof vercelRow.deployments>[number]): AtHost => {
      return { host, id, tag: tag.split(' ')[0]!, state, fingerprint: fingerprintOf(files) };
    };
    return [
      ...vercelRow.deployments(this.vercel).map((one) => shown('vercel', one)),
      ...netlifyRow.deployments(this.netlify).map((one) => shown('netlify', one)),
    ];
  }

  async stop(): Promise<void> {
    for (const end of this.ends) await end();
  }

  private get all(): HostStandIn[] {
    return [this.vercel, this.netlify];
  }
}

export const deployCredentials = { token: goodToken };
