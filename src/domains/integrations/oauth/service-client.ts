/** This service's client at each service that accounts connect, and the addresses: the official ones or those of the operator. */
import { AppError } from '../../../errors.ts';
import type { Outbound } from '../../../providers/outbound/port.ts';
import { clientVariables, noServiceSettings, type ServiceSettings } from '../../../service-settings.ts';
import type { OAuthClient, Service, ServiceOAuth } from '../services/service.ts';
import type { TokenEndpoint } from './token-endpoint.ts';

export type ServiceClient = {
  service: Service;
  settings: ServiceSettings;
  /** The base of its API, without a trailing slash. */
  apiUrl: string;
  /** null: none is configured, or the service has none. */
  client: OAuthClient | null;
};

export class ServiceClients {
  private readonly byName: ReadonlyMap<string, ServiceClient>;

  constructor(services: readonly Service[], settings: Readonly<Record<string, ServiceSettings>>) {
    this.byName = new Map(services.map((service) => [service.name, clientOf(service, settings[service.name] ?? noServiceSettings)]));
  }

  get all(): ServiceClient[] {
    return [...this.byName.values()];
  }

  /** undefined: no such service. */
  find(name: string): ServiceClient | undefined {
    return this.byName.get(name);
  }

  /** Throws for a service that this version does not support. */
  get(name: string): ServiceClient {
    const found = this.find(name);
    if (found === undefined) throw new AppError('unavailable', `This version does not know the service ${name}`);
    return found;
  }
}

/** Throws `conflict`, naming the settings that the operator must make. */
export function configuredClient({ service, client }: ServiceClient): { oauth: ServiceOAuth; client: OAuthClient } {
  if (service.oauth === null) throw new AppError('conflict', `${service.title} is connected with an API key`);
  if (client === null) throw new AppError('conflict', notConfigured(service));
  return { oauth: service.oauth, client };
}

export function notConfigured(service: Service): string {
  const [id, secret] = clientVariables(service.name);
  return `${service.title} cannot be connected: the operator of this service must set ${id} and ${secret}`;
}

export function tokenEndpointOf(
  known: ServiceClient,
  sent: { outbound: Pick<Outbound, 'fetch'>; account: string; timeoutMs: number; signal?: AbortSignal },
): TokenEndpoint {
  const { oauth, client } = configuredClient(known);
  const { clientAuthentication, errorIn, tokensIn } = oauth;
  return { ...sent, url: known.settings.tokenUrl ?? oauth.tokenUrl, client, clientAuthentication, errorIn, tokensIn, configured: true };
}

function clientOf(service: Service, settings: ServiceSettings): ServiceClient {
  const { clientId: id, clientSecret: secret } = settings;
  const given = settings.apiUrl ?? service.apiUrl;
  const apiUrl = given.endsWith('/') ? given.slice(0, -1) : given;
  return { service, settings, apiUrl, client: id === null || secret === null ? null : { id, secret } };
}
