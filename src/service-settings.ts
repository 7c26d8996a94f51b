/**
 * The settings of the services that accounts connect: for each name, in capitals, the client that this service is there, and other places than the true
 * ones. A new service is added to the list; its variables follow.
 */

export const serviceNames = ['gmail', 'slack', 'github', 'stripe', 'notion', 'google_ads', 'whatsapp'] as const;
export type ServiceName = (typeof serviceNames)[number];

/** null: not given. */
export type ServiceSettings = {
  readonly clientId: string | null;
  readonly clientSecret: string | null;
  readonly apiUrl: string | null;
  readonly authorizeUrl: string | null;
  readonly tokenUrl: string | null;
  readonly revokeUrl: string | null;
};

const fields = {
  clientId: 'CLIENT_ID',
  clientSecret: 'CLIENT_SECRET',
  apiUrl: 'API_URL',
  authorizeUrl: 'AUTHORIZE_URL',
  tokenUrl: 'TOKEN_URL',
  revokeUrl: 'REVOKE_URL',
} as const satisfies Record<keyof ServiceSettings, string>;

/** `of`: how its value is checked. */
export type ServiceVariable = { name: string; service: ServiceName; field: keyof ServiceSettings; of: 'text' | 'secret' | 'url' };

/** STRIPE_API_URL is one address for payments, cards and what accounts connect: it is declared with the payments. */
export const serviceVariables: readonly ServiceVariable[] = serviceNames.flatMap((service) =>
  Object.entries(fields)
    .map(([field, ending]) => {
      const of = field === 'clientSecret' ? ('secret' as const) : field === 'clientId' ? ('text' as const) : ('url' as const);
      return { name: variableOf(service, ending), service, field: field as keyof ServiceSettings, of };
    })
    .filter(({ name }) => name !== 'STRIPE_API_URL'),
);

/** The names of the two variables without which the service cannot be connected. */
export function clientVariables(service: string): [id: string, secret: string] {
  return [variableOf(service, fields.clientId), variableOf(service, fields.clientSecret)];
}

/** What is not configured at all, such as a service that only a test knows. */
export const noServiceSettings: ServiceSettings = {
  clientId: null,
  clientSecret: null,
  apiUrl: null,
  authorizeUrl: null,
  tokenUrl: null,
  revokeUrl: null,
};

function variableOf(service: string, ending: string): string {
  return `${service.toUpperCase()}_${ending}`;
}
