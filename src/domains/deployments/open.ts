/** What the tools and routes of deployments share on a node. */
import type { Platform } from '../domain.ts';
import { type CredentialBox, credentialBox } from './configs/credentials.ts';

export type DeploymentParts = { credentials: CredentialBox };

export function openDeployments({ secretKey, acceptedKeys }: Platform): DeploymentParts {
  return { credentials: credentialBox(secretKey, acceptedKeys) };
}
