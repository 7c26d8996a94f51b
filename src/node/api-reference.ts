/** The API reference of the whole product: the general text, and what each domain says of its own. */
import type { Domain } from '../domains/domain.ts';
import type { OpenApiOptions } from '../edge/http/openapi.ts';
import { joinReference } from '../edge/http/reference-part.ts';
import { platformApi } from '../edge/platform-api.ts';
import { apiDescription } from './api-description.ts';

/** For readers, from what the product is about to what surrounds it. Chapters of new domains come after these, before the service's own. */
const order = ['Tasks', 'Agents', 'Workspaces', 'Commerce', 'Billing', 'Webhooks', 'API keys', 'Sign-in', 'Settings'];

export type ApiReference = Omit<OpenApiOptions, 'publicUrl'>;

export function apiReferenceOf(domains: readonly Domain[]): ApiReference {
  const parts = [...domains.flatMap(({ api }) => api ?? []), platformApi];
  return { description: apiDescription, ...joinReference(parts, order) };
}
