/** The API reference's chapter on deployments, with examples. */
import { exampleId } from '../../edge/http/examples.ts';
import type { ReferencePart } from '../../edge/http/reference-part.ts';

export const deploymentsApi: ReferencePart = {
  chapters: [
    {
      name: 'Deployments',
      paths: ['/deployments', '/preview'],
      description:
        'Publishes the files of a workspace at a host. With a test key nothing leaves: the address is a preview that this service serves.',
    },
  ],
  examples: {
    '/deployments/{id}': exampleId('dep_'),
    '/deployments/configs/{id}': exampleId('cfg_'),
    '/preview/{id}': exampleId('dep_'),
    '/preview/{id}/{path}': 'index.html',
  },
};
