/** Id prefixes of integrations. */
export const integrationIds = { integration: 'int_', mcpServer: 'mcp_', authorization: 'aut_' } as const;
