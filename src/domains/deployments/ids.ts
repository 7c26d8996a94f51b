/** Id prefixes of deployments. */
export const deploymentIds = { deployment: 'dep_', config: 'cfg_', snapshot: 'snap_' } as const;
