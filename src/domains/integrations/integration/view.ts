/** A connection as callers see it. */
import Type, { type Static } from 'typebox';
import { isoTimestamp } from '../../../clock.ts';
import { ModeField } from '../../../edge/routes/mode.ts';
import type { ServiceClients } from '../oauth/service-client.ts';
import { grantedTools } from '../services/granted.ts';
import { errorReasons, type IntegrationRow, integrationStatuses } from './entity.ts';

const orNull = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const IntegrationView = Type.Object(
  {
    id: Type.String(),
    service: Type.String(),
    status: Type.Enum([...integrationStatuses], { description: '`error`: the service takes its access no more; connect it again' }),
    available_tools: Type.Array(Type.String(), { description: 'What the granted scopes allow' }),
    granted_scopes: Type.Array(Type.String()),
    reason: orNull(Type.Enum([...errorReasons], { description: 'Only with status `error`' })),
    reconnect_url: orNull(Type.String({ description: 'Only with status `error`: where a person connects it again' })),
    mode: ModeField,
    connected_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Integration' },
);
export type IntegrationView = Static<typeof IntegrationView>;

export function integrationView(row: IntegrationRow, clients: ServiceClients, publicUrl: string): IntegrationView {
  const known = clients.find(row.service);
  const tools = known === undefined || row.status === 'disconnected' ? [] : grantedTools(known.service, row.grantedScopes);
  return {
    id: row.id,
    service: row.service,
    status: row.status,
    available_tools: tools.map(({ name }) => name),
    granted_scopes: [...(row.grantedScopes ?? [])],
    reason: row.reason,
    reconnect_url: row.status === 'error' ? connectUrl(publicUrl, row.service, row.redirectUri) : null,
    mode: row.mode,
    connected_at: isoTimestamp(row.connectedAt),
  };
}

/** Whether what was granted allows any of the service's tools. */
export function hasTools({ service, grantedScopes }: Pick<IntegrationRow, 'service' | 'grantedScopes'>, clients: ServiceClients): boolean {
  const known = clients.find(service);
  return known === undefined || grantedTools(known.service, grantedScopes).length > 0;
}

/** Where a person connects the service. */
export function connectUrl(publicUrl: string, service: string, redirectUri: string | null): string {
  const query = new URLSearchParams({ service, ...(redirectUri !== null && { redirect_uri: redirectUri }) });
  return `${publicUrl}/integrations/connect?${query}`;
}
