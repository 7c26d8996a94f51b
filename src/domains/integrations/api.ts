/** The API reference's chapter on integrations, with examples. */
import { exampleId } from '../../edge/http/examples.ts';
import type { ReferencePart } from '../../edge/http/reference-part.ts';

export const integrationsApi: ReferencePart = {
  chapters: [
    {
      name: 'Integrations',
      paths: ['/integrations'],
      description:
        'Accounts at other services, and MCP servers, whose tools agents use. A test key sees and uses those alone that were connected with a test key.',
    },
    {
      name: 'MCP server',
      paths: ['/mcp', '/.well-known/oauth-protected-resource'],
      description:
        'This service as a Model Context Protocol server, for agents of other programs: give an MCP client the address `/mcp` and an API key as bearer token.',
    },
  ],
  examples: { '/integrations/mcp/{id}': exampleId('mcp_'), '/integrations/{id}': exampleId('int_') },
};
