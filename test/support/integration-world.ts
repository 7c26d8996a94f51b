/** Connections to one service in a runtime of their own: the actor, its effects and the calls of tools, against a stand-in of the service. */
import { setTimeout as pause } from 'node:timers/promises';
import { SteadyClock } from '../../src/clock.ts';
import { authorizationActor } from '../../src/domains/integrations/authorization/authorization.ts';
import { Authorizations } from '../../src/domains/integrations/authorization/authorizations.ts';
import { connect } from '../../src/domains/integrations/integration/connect.ts';
import { integrationEffects } from '../../src/domains/integrations/integration/effects.ts';
import type { IntegrationRow } from '../../src/domains/integrations/integration/entity.ts';
import { integrationActor } from '../../src/domains/integrations/integration/integration.ts';
import { integration, integrationIdOf } from '../../src/domains/integrations/integration/messages.ts';
import { tokenBox } from '../../src/domains/integrations/integration/tokens.ts';
import { integrationView } from '../../src/domains/integrations/integration/view.ts';
import { IntegrationStats } from '../../src/domains/integrations/metrics.ts';
import { ServiceClients } from '../../src/domains/integrations/oauth/service-client.ts';
import { openServiceCalls, type ServiceCalls } from '../../src/domains/integrations/services/calls.ts';
import { services } from '../../src/domains/integrations/services/catalogue.ts';
import type { ServiceAnswer, ServiceRequest } from '../../src/domains/integrations/services/service.ts';
import { receivedBy } from '../../src/domains/integrations/whatsapp/received.ts';
import { newId } from '../../src/ids.ts';
import { silentLog } from '../../src/log.ts';
import { createOutbound } from '../../src/providers/outbound/outbound.ts';
import { noServiceSettings, type ServiceSettings } from '../../src/service-settings.ts';
import { type TestRuntime, testRuntime } from './runtime.ts';
import type { Scope } from './scope.ts';

const secretKey = 'a secret key of this test, long enough';

export type IntegrationWorld = {
  runtime: TestRuntime;
  clock: SteadyClock;
  calls: ServiceCalls;
  accountId: string;
  id: string;
  /** What agents were told. */
  told: object[];
  connect(code?: string): Promise<IntegrationRow>;
  row(): Promise<IntegrationRow>;
  /** One request of a tool. */
  request(request?: Partial<ServiceRequest>, signal?: AbortSignal): Promise<ServiceAnswer>;
  /** Types of the integration's events so far. */
  events(): string[];
};

/** @param settings of the service */
export async function integrationWorld(t: Scope, service: string, settings: Partial<ServiceSettings>): Promise<IntegrationWorld> {
  const clock = new SteadyClock();
  const outbound = createOutbound({ allow: [] });
  const clients = new ServiceClients(services, { [service]: { ...noServiceSettings, ...settings } });
  const box = tokenBox(secretKey);
  const stats = new IntegrationStats();
  const told: object[] = [];
  // The runtime is replaced when it crashes: what uses it asks for the present one.
  let runtime: TestRuntime;
  const actors = {
    ask: (...args: Parameters<TestRuntime['actors']['ask']>) => runtime.actors.ask(...args),
    query: (...args: Parameters<TestRuntime['actors']['query']>) => runtime.actors.query(...args),
  } as TestRuntime['actors'];
  const calls = openServiceCalls({
    ...{ actors, outbound, clients, box, clock, stats },
    received: (id, query) => receivedBy(runtime.database, id, query),
  });
  const agents = {
    release: async (lost: object) => void told.push(lost),
    announce: async (made: object) => void told.push(made),
  };
  const effects = integrationEffects({ actors, outbound, clients, box, calls, agents, stats, log: silentLog });
  const shown = (row: IntegrationRow) => integrationView(row, clients, 'https://troupe.test');
  const actor = integrationActor({ effects, shown, titleOf: (name) => clients.get(name).service.title });
  runtime = await testRuntime([actor, authorizationActor], { clock });
  t.after(async () => {
    await runtime.close();
    await outbound.close();
  });
  const accountId = newId('acct_', null);
  const id = integrationIdOf(accountId, service, 'live');
  const authorizations = new Authorizations({ actors, clock, secretKey, acceptedKeys: [] });
  const parts = { actors, outbound, box, calls, authorizations, callbackUrl: () => 'https://troupe.test/integrations/callback' };
  return {
    runtime,
    clock,
    calls,
    accountId,
    id,
    told,
    connect: (code = 'good') =>
      connect(parts, {
        ...{ accountId, mode: 'live', known: clients.get(service), given: {}, commandId: undefined },
        by: { code, state: null, redirectUri: null, tools: [] },
      }),
    row: async () => (await actors.query(integration, id, 'get', null))!,
    async request(request = {}, signal = new AbortController().signal) {
      const call = await calls.open({ integrationId: id, callId: newId('call_', null), isRepeat: false, signal });
      return call.request({ method: 'GET', path: '/user', ...request });
    },
    events: () => runtime.events.map(({ type }) => type).filter((type) => type.startsWith('integration.')),
  };
}

/** For orders of events that nothing tells. */
export const aMoment = () => pause(20);
