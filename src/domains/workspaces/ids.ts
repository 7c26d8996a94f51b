/** What ids of workspaces begin with. */
export const workspacesIds = { workspace: 'ws_', file: 'wsf_' } as const;
