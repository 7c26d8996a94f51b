/** Connections to one service in a runtime of their own: the actor, its effects and the calls of tools, against a stand-in of the service. */
import { SteadyClock } from '../../src/clock.ts';
import { authorizationActor } from '../../src/domains/integrations/authorization/authorization.ts';
import { Authorizations } from '../../src/domains/integrations/authorization/authorizations.ts';
import { connect } from '../../src/domains/integrations/integration/connect.ts';
import { integrationEffects } from '../../src/domains/integrations/integration/effects.ts';
import type { IntegrationRow } from '../../src/domains/integrations/integration/entity.ts';
import { integrationActor } from '../../src/domains/integrations/integration/integration.ts';
import { integration, integrationIdOf } from '../../src/domains/integrations/integration/messages.ts';
import { tokenBox } from '../../src/domains/integrations/integration/tokens.ts';
import { hasTools, integrationView } from '../../src/domains/integrations/integration/view.ts';
import { IntegrationStats } from '../../src/domains/integrations/metrics.ts';
import { ServiceClients } from '../../src/domains/integrations/oauth/service-client.ts';
import { authorizeUrl } from '../../src/domains/integrations/routes/consent.ts';
import { openServiceCalls, type ServiceCalls } from '../../src/domains/integrations/services/calls.ts';
import { services } from '../../src/domains/integrations/services/catalogue.ts';
import { scopesFor } from '../../src/domains/integrations/services/granted.ts';
import type { ServiceAnswer, ServiceRequest } from '../../src/domains/integrations/services/service.ts';
import { receivedBy } from '../../src/domains/integrations/whatsapp/received.ts';
import { newId } from '../../src/ids.ts';
import { noLog } from '../../src/log.ts';
import { serviceConnections } from '../../src/node/providers.ts';
import { createOutbound } from '../../src/providers/outbound/outbound.ts';
import type { Outbound } from '../../src/providers/outbound/port.ts';
import { noServiceSettings, type ServiceSettings } from '../../src/service-settings.ts';
import { type TestRuntime, testRuntime } from './runtime.ts';
import type { Scope } from './scope.ts';

export const integrationSecretKey = 'a secret key of this test, long enough';
const secretKey = integrationSecretKey;

export type IntegrationWorld = {
  runtime: TestRuntime;
  clock: SteadyClock;
  calls: ServiceCalls;
  accountId: string;
  id: string;
  /** Notifications to agents. */
  notifications: object[];
  /** Where a person consents. */
  begin(): Promise<URL>;
  /** @param to another service of `others`, what the body of the request gives beside the code, and the state that came with it */
  connect(code?: string, to?: { service?: string; given?: Record<string, string>; state?: string }): Promise<IntegrationRow>;
  /** The connection to one of `others`, and its row. */
  idOf(service: string): string;
  rowOf(service: string): Promise<IntegrationRow>;
  row(): Promise<IntegrationRow>;
  /** One request of a tool. */
  request(request?: Partial<ServiceRequest>, signal?: AbortSignal): Promise<ServiceAnswer>;
  /** Types of the integration's events so far. */
  events(): string[];
};

export type WorldOptions = {
  /** Settings of further services. */
  others?: Record<string, Partial<ServiceSettings>>;
  /** Replaces the timeout of a request; called for each; undefined: the usual timeout. */
  timeoutMs?: () => number | undefined;
};

/** @param settings of the service */
export async function integrationWorld(
  t: Scope,
  service: string,
  settings: Partial<ServiceSettings>,
  { others = {}, timeoutMs }: WorldOptions = {},
): Promise<IntegrationWorld> {
  const clock = new SteadyClock();
  const guarded = createOutbound({ allow: [], connections: serviceConnections });
  const outbound: Pick<Outbound, 'fetch'> = {
    fetch: (url, request) => guarded.fetch(url, { ...request, timeoutMs: timeoutMs?.() ?? request?.timeoutMs }),
  };
  const all = Object.entries({ ...others, [service]: settings });
  const clients = new ServiceClients(services, Object.fromEntries(all.map(([name, own]) => [name, { ...noServiceSettings, ...own }])));
  const box = tokenBox(secretKey);
  const stats = new IntegrationStats();
  const notifications: object[] = [];
  // The runtime is replaced when it crashes: what uses it asks for the present one.
  let runtime: TestRuntime;
  const actors = {
    ask: (...args: Parameters<TestRuntime['actors']['ask']>) => runtime.actors.ask(...args),
    query: (...args: Parameters<TestRuntime['actors']['query']>) => runtime.actors.query(...args),
  } as TestRuntime['actors'];
  const calls = openServiceCalls({
    ...{ actors, outbound, clients, box, clock, stats, publicUrl: () => 'https://troupe.test' },
    received: (id, query) => receivedBy(runtime.database, id, query),
  });
  const agents = {
    release: async (lost: object) => void notifications.push(lost),
    announce: async (made: object) => void notifications.push(made),
  };
  const effects = integrationEffects({ actors, outbound, clients, box, calls, agents, stats, log: noLog });
  const shown = (row: IntegrationRow) => integrationView(row, clients, 'https://troupe.test');
  const actor = integrationActor({
    effects,
    shown,
    hasTools: (row) => hasTools(row, clients),
    titleOf: (name) => clients.get(name).service.title,
  });
  runtime = await testRuntime([actor, authorizationActor], { clock });
  t.after(async () => {
    await runtime.close();
    await guarded.close();
  });
  const accountId = newId('acct_', null);
  const idOf = (name: string) => integrationIdOf(accountId, name, 'live');
  const id = idOf(service);
  const authorizations = new Authorizations({ actors, clock, secretKey, acceptedKeys: [] });
  const parts = { actors, outbound, box, calls, authorizations, callbackUrl: () => 'https://troupe.test/integrations/callback' };
  return {
    runtime,
    clock,
    calls,
    accountId,
    id,
    notifications,
    idOf,
    rowOf: async (name) => (await actors.query(integration, idOf(name), 'get', null))!,
    async begin() {
      const known = clients.get(service);
      const scopes = scopesFor(known.service, []);
      const asked = await authorizations.begin({ accountId, mode: 'live', target: service, redirectUri: null, scopes, browser: null });
      return new URL(authorizeUrl(known, { ...asked, clientId: known.client!.id, redirectUri: parts.callbackUrl(), scopes }));
    },
    connect: (code = 'good', { service: name = service, given = {}, state } = {}) =>
      connect(parts, {
        ...{ accountId, mode: 'live', known: clients.get(name), given, commandId: undefined },
        by: { code, state: state ?? null, redirectUri: null, tools: [] },
      }),
    row: async () => (await actors.query(integration, id, 'get', null))!,
    async request(request = {}, signal = new AbortController().signal) {
      const call = await calls.open({ integrationId: id, callId: newId('call_', null), isRepeat: false, signal });
      return call.request({ method: 'GET', path: '/user', ...request });
    },
    events: () => runtime.events.map(({ type }) => type).filter((type) => type.startsWith('integration.')),
  };
}
