/**
 * One run of abuse: a service of its own with two accounts, of which one attacks and the other has secrets. First requests without an account, then
 * those of the attacker with all rights in its own. Every answer must be in the description, no fault of the service, and disclose nothing of the other account.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Operation } from '../support/described-api.ts';
import { call, keyOf, leftBehind, openSite, pathOf, referencesIn, type Site } from '../support/described-service.ts';
import { bentTokens, latin1 } from '../support/hostile-values.ts';
import type { Answer } from '../support/http-client.ts';
import type { Scope } from '../support/scope.ts';
import { Caller } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type Attack, attacksOn, type CallerKind, foreignId, ownId, type PathPart } from './attacks.ts';
import { leakedSecret } from './leaks.ts';

export type Bounds = { seed: number; requests: number; minutes: number };
/** Answers of each operation by status. */
export type Report = { requests: number; answers: Map<string, Record<number, number>> };

/** At once; each has a stream of attacks of its own. */
const lanes = 4;
/** Successes of one command: more would fill the disk, and test how fast agents work and passwords are hashed. */
const mostAccepted = 400;
const mostCostly = 40;

export async function abuse(t: Scope, { seed, requests, minutes }: Bounds): Promise<Report> {
  const site = await openSite(t);
  const attacker = await Attacker.of(site);
  const deliveries = 'GET /api-keys/webhooks/{id}/deliveries';
  await until(async () => !String((await attacker.victimsResources())[deliveries]).includes('"pending"'), "the victim's webhook is tried");
  const hasEnded = async (caller: Caller, ids: Site['own']) =>
    (await call(site, caller, 'GET', `/v1/deployments/${ids['/deployments/{id}']}`)).json.completed_at !== null;
  await until(async () => (await hasEnded(site.ann, site.own)) && (await hasEnded(site.bob, site.foreign)), 'the end of both deployments');
  const before = await Promise.all([leftBehind(site.service), attacker.victimsResources()]);

  const guarded = site.api.operations.filter(({ scope }) => scope !== null);
  await fire(attacksOn(guarded, fc.constantFrom('bent', 'nobody'), site.receiver.url), requests / 4, 'refused at the door');
  const scoped = guarded.filter(({ scope }) => scope !== 'any');
  await fire(attacksOn(scoped, fc.constant('weak'), site.receiver.url), requests / 4, 'refused for want of a scope');
  assert.deepEqual(await leftBehind(site.service), before[0], 'refused requests leave no row and no file');

  const anybody = fc.constantFrom<CallerKind>('session', 'session', 'session', 'key', 'key', 'weak', 'bent', 'nobody');
  const totals = await attacker.totals();
  await fire(attacksOn(site.api.operations, anybody, site.receiver.url), requests / 2, 'in its own account');
  for (const operation of unharmed()) await fire(attacksOn([operation], anybody, site.receiver.url), 8 * lanes, 'what chance left out');
  assert.deepEqual(await attacker.totals(), attacker.expectedTotals(totals), 'there is what was accepted, and nothing of what was refused');
  assert.deepEqual(await attacker.victimsResources(), before[1], 'nothing of the other account has changed');
  await stillWorks(site);
  assert.deepEqual(unharmed(), [], 'every operation was attacked');
  return { requests: attacker.sent, answers: attacker.answers };

  function unharmed(): Operation[] {
    return site.api.operations.filter(({ name }) => !attacker.answers.has(name));
  }

  async function fire(attacks: fc.Arbitrary<Attack>, count: number, phase: string): Promise<void> {
    const options = { numRuns: Math.ceil(count / lanes), interruptAfterTimeLimit: (minutes * 60_000) / 3, includeErrorInReport: true };
    const property = () => fc.asyncProperty(attacks, (attack) => attacker.attack(attack));
    const runs = Array.from({ length: lanes }, (_, lane) => fc.assert(property(), { ...options, seed: seed + lane }));
    const [broken] = (await Promise.allSettled(runs)).filter((run) => run.status === 'rejected');
    if (broken !== undefined) throw new Error(`seed ${seed}, ${phase}: ${broken.reason.message}`);
  }
}

class Attacker {
  readonly answers: Report['answers'] = new Map();
  sent = 0;
  /** Ids of its own things, by kind. */
  private readonly own = new Map<string, string[]>();
  /** Commands that were done, by operation. */
  private readonly accepted = new Map<string, number>();
  /** By the path of their list: things that commands of other paths made. */
  private readonly beside = new Map<string, number>();
  private tasksDeploy = false;
  private readonly site: Site;
  private readonly tokens: Record<'session' | 'key' | 'weak', string>;
  private readonly secrets: string[];

  private constructor(site: Site, tokens: Record<'session' | 'key' | 'weak', string>, secrets: string[]) {
    this.site = site;
    this.tokens = tokens;
    this.secrets = secrets;
    for (const [key, id] of Object.entries(site.own)) this.own.set(key, [id]);
  }

  static async of(site: Site): Promise<Attacker> {
    const scopes: string[] = (site.api.find('POST', '/api-keys').body as any).properties.scopes.items.enum;
    const keyWith = async (held: string[]): Promise<string> =>
      (await call(site, site.ann, 'POST', '/v1/api-keys', { name: 'attack', scopes: held })).json.key;
    const me = (await call(site, site.bob, 'GET', '/v1/auth/me')).json;
    const secrets = [
      me.id,
      me.account_id,
      me.email,
      site.bob.token,
      ' of bob',
      `text of ${site.bob.token}`.slice(0, 40),
      // A symbol belongs to nobody: both have it.
      ...Object.entries(site.foreign)
        .filter(([key, id]) => site.own[key] !== id)
        .map(([, id]) => id),
    ];
    return new Attacker(site, { session: site.ann.token, key: await keyWith(scopes), weak: await keyWith(['teams.read']) }, secrets);
  }

  /** Throws where the answer breaks a rule. */
  async attack(attack: Attack): Promise<void> {
    const { api, client, service } = this.site;
    const operation = api.operations.find(({ name }) => name === attack.operation)!;
    if (this.wouldGoTooFar(operation, attack)) return;
    const path = `${attack.prefix}${this.pathFor(operation, attack)}${attack.query === '' ? '' : `?${attack.query}`}`;
    const authorization = this.authorization(attack);
    const headers = { ...attack.headers, ...(authorization === null ? {} : { authorization }) };
    const body = this.bodyFor(attack) ?? undefined;
    const answer = await client.send({ method: operation.method, path, headers, body });
    this.sent++;
    this.count(operation, answer, body);

    const sent = `${operation.method} ${path} ${JSON.stringify(headers)} ${body === undefined ? '' : Buffer.from(body)}`;
    const says = `${sent.slice(0, 1_000)}\n${answer.status} ${answer.text.slice(0, 1_000)}`;
    // 502 only where the description has it: the address that the request names answered with something else than was asked for.
    if (answer.status >= 500) assert.ok(answer.status === 503 || (answer.status === 502 && operation.responses[502] !== undefined), says);
    if (!leadsAstray(attack, answer)) api.check(operation, answer, sent.slice(0, 1_000));
    const problem = leakedSecret({ answer, sent }, this.secrets, service.dataDir);
    assert.equal(problem, null, says);
    this.checkRights(operation, attack, answer, says);
  }

  private checkRights({ scope, path }: Operation, { caller, ids, body }: Attack, { status }: Answer, says: string): void {
    const isBusy = status === 429 || status === 503;
    if (isBusy || scope === null) return;
    if (caller === 'bent' || caller === 'nobody') assert.ok(status === 401 || status === 403, says);
    if (caller === 'weak' && scope !== 'any') assert.equal(status, 403, says);
    if (caller === 'key' && scope === 'session') assert.equal(status, 403, says);
    const { own, foreign } = this.site;
    const isOfVictim = (name: string) => own[keyOf(path, name)] !== foreign[keyOf(path, name)];
    const isForeign =
      Object.entries(ids).some(([name, { kind }]) => kind === 'foreign' && isOfVictim(name)) || String(body).includes(foreignId);
    if (isForeign) assert.ok(status >= 400, `${says}\n${path} did something about another account`);
  }

  /** Without these the run would sign itself out, or only hash passwords and run agents. */
  private wouldGoTooFar({ name, method }: Operation, { caller }: Attack): boolean {
    if (name === 'DELETE /auth/session' && caller === 'session') return true;
    const most = /^POST \/(tasks|auth\/\w+)$/.test(name) ? mostCostly : mostAccepted;
    return method !== 'GET' && (this.accepted.get(name) ?? 0) >= most;
  }

  private pathFor(operation: Operation, { ids, pick }: Attack): string {
    const { foreign } = this.site;
    const isFlat = Object.keys(ids).length === 1;
    const text = (part: PathPart, key: string): string => {
      if (part.kind === 'bent') return part.text;
      // The address of something public is all that its owner has.
      if (part.kind === 'foreign' && operation.scope !== null) return foreign[key]!;
      // The first of each kind stays, for what lies in it.
      const [first, ...rest] = this.own.get(key)!;
      if (part.kind !== 'own') return first!.replace(/.{20}$/, '0'.repeat(20));
      if (operation.method === 'DELETE' && rest.length === 0) return 'none';
      return operation.method === 'DELETE' || (isFlat && pick % 2 === 1 && rest.length > 0) ? rest[pick % rest.length]! : first!;
    };
    const entries = Object.entries(ids).map(([name, part]) => [keyOf(operation.path, name), text(part, keyOf(operation.path, name))]);
    return pathOf(operation, Object.fromEntries(entries));
  }

  private authorization({ caller, pick }: Attack): string | null {
    if (caller === 'nobody') return null;
    if (caller !== 'bent') return `Bearer ${this.tokens[caller]}`;
    const bent = bentTokens(this.tokens.session);
    return latin1(bent[pick % bent.length]!);
  }

  /** Fields that name a thing get the id of one. */
  private bodyFor({ body }: Attack): string | Uint8Array | null {
    if (typeof body !== 'string' || !(body.includes(ownId) || body.includes(foreignId))) return body;
    const value = JSON.parse(body);
    for (const [field, key] of referencesIn(value, this.site.own)) {
      if (value[field] === ownId) value[field] = this.own.get(key)![0];
      if (value[field] === foreignId) value[field] = this.site.foreign[key];
    }
    return JSON.stringify(value);
  }

  private count(operation: Operation, { status, headers, json: made }: Answer, body: string | Uint8Array | undefined): void {
    const { name, method, path } = operation;
    const byStatus = this.answers.get(name) ?? {};
    byStatus[status] = (byStatus[status] ?? 0) + 1;
    this.answers.set(name, byStatus);
    if (status >= 300 || method === 'GET' || headers['idempotency-replayed'] === 'true') return;
    this.accepted.set(name, (this.accepted.get(name) ?? 0) + 1);
    if (name === 'POST /tasks' && !Object.hasOwn(JSON.parse(String(body)), 'workspace_id')) this.madeBeside('/workspaces', 1);
    if (name === 'POST /tasks' && JSON.parse(String(body)).config?.auto_deploy === true) this.tasksDeploy = true;
    if (name === 'POST /deployments/{id}/redeploy') this.madeBeside('/deployments', 1);
    if (name === 'POST /trading/backtest') this.madeBeside('/trading/backtests', 1);
    if (name === 'PATCH /trading/orders/{id}') this.madeBeside('/trading/orders', 1);
    if (name === 'POST /trading/positions/open') {
      this.madeBeside(
        '/trading/orders',
        [made.order, made.stop_loss_order, made.take_profit_order].filter((order) => order !== null).length,
      );
    }
    const ids = this.own.get(`${path}/{id}`);
    if (method === 'POST' && ids !== undefined && ids.length < 20 && typeof made?.id === 'string') ids.push(made.id);
  }

  private madeBeside(path: string, count: number): void {
    this.beside.set(path, (this.beside.get(path) ?? 0) + count);
  }

  /** How many of each kind the attacker has, where a list says so. */
  async totals(): Promise<Record<string, number>> {
    const totals: Record<string, number> = {};
    const { api, ann } = this.site;
    const collections = api.operations.filter(
      ({ method, path }) => method === 'POST' && this.own.has(`${path}/{id}`) && api.methodsOf(path).includes('GET'),
    );
    for (const { path } of collections) {
      const { headers, json: list } = await call(this.site, ann, 'GET', `/v1${path}?limit=1`);
      const total = headers['x-total-count'] ?? list.total;
      if (total !== undefined && this.isCounted(path)) totals[path] = Number(total);
    }
    return totals;
  }

  /** A strategy that runs places orders by itself, and a task may end with a deployment. */
  private isCounted(path: string): boolean {
    if (path === '/deployments') return !this.tasksDeploy;
    return path !== '/trading/orders' || !this.accepted.has('POST /trading/strategies/{id}/start');
  }

  expectedTotals(before: Record<string, number>): Record<string, number> {
    const changed = (path: string): number => {
      // A cancelled order stays in the list.
      const deleted = path === '/trading/orders' ? 0 : (this.accepted.get(`DELETE ${path}/{id}`) ?? 0);
      return (this.accepted.get(`POST ${path}`) ?? 0) + (this.beside.get(path) ?? 0) - deleted;
    };
    const counted = Object.entries(before).filter(([path]) => this.isCounted(path));
    return Object.fromEntries(counted.map(([path, count]) => [path, count + changed(path)]));
  }

  /** All resources that the other account can read, without links, which differ in each answer, and without prices, which change. */
  async victimsResources(): Promise<Record<string, unknown>> {
    const { api, bob, foreign } = this.site;
    const seen: Record<string, unknown> = {};
    const isOfMarket = (path: string): boolean => /^\/trading\/(quotes|bars|account|positions)/.test(path);
    for (const operation of api.operations.filter(({ method, scope, path }) => method === 'GET' && scope !== null && !isOfMarket(path))) {
      const answer = await this.site.send(operation, { path: `/v1${pathOf(operation, foreign)}` }, bob.token);
      seen[operation.name] = `${answer.status} ${answer.text.replace(/token=[^"]*/g, '')}`;
    }
    return seen;
  }
}

/** What was put into the path made another one of it, or none that can be decoded: then it is no operation's answer. */
function leadsAstray({ ids }: Attack, { status, json }: Answer): boolean {
  return (status === 404 || status === 405) && json?.detail.startsWith(status === 404 ? 'Not Found' : 'Method') && isBent(ids);
}

function isBent(ids: Attack['ids']): boolean {
  return Object.values(ids).some(({ kind }) => kind === 'bent');
}

async function stillWorks(site: Site): Promise<void> {
  assert.equal((await fetch(`${site.service.url}/v1/health/ready`)).status, 200);
  const caller = await Caller.register(site.service);
  const { id } = (await call(site, caller, 'POST', '/v1/tasks', { prompt: 'summarise a.txt' })).json;
  await caller.untilTask(id, ['complete']);
  assert.doesNotMatch(
    site.service.output(),
    /unhandled promise rejection|unexpectedly|\n\s+at /,
    'the log holds no unhandled rejection and no stack',
  );
}
