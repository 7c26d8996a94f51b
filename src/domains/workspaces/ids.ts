/** Id prefixes of workspaces. */
export const workspacesIds = { workspace: 'ws_', file: 'wsf_' } as const;
