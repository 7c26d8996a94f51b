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
  ],
  examples: { '/integrations/{id}': exampleId('int_') },
};
