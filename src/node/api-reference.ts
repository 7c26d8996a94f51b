/** The API reference of the whole product: the general text, and the chapters of each domain. */
import type { Domain } from '../domains/domain.ts';
import type { OpenApiOptions } from '../edge/http/openapi.ts';
import { joinReference } from '../edge/http/reference-part.ts';
import { platformApi } from '../edge/platform-api.ts';
import { apiDescription } from './api-description.ts';

/** In reading order, from the main subject of the product to its periphery. Chapters of new domains follow these, before the service's own. */
const order = ['Tasks', 'Agents', 'Workspaces', 'Commerce', 'Billing', 'Webhooks', 'API keys', 'Sign-in', 'Settings'];

export type ApiReference = Omit<OpenApiOptions, 'publicUrl'>;

export function apiReferenceOf(domains: readonly Domain[]): ApiReference {
  const parts = [...domains.flatMap(({ api }) => api ?? []), platformApi];
  return { description: apiDescription, ...joinReference(parts, order) };
}
