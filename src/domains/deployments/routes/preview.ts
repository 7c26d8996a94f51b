/** Previews: the sites of test keys' deployments. */
import { type AnyRoute, route } from '../../../edge/http/route.ts';
import { goToPreview, type PreviewParts, servePreview } from '../preview/preview.ts';

const description =
  'For anybody who has the address, without a token, until the deployment is forgotten. Pages run in a sandbox, apart from this service. ' +
  'A folder without index.html is a list of its files.';

/** A page requests its files by itself, often hundreds. */
const limited = { name: 'preview', times: 20 };

export function previewRoutes(parts: PreviewParts): AnyRoute[] {
  return [
    route({
      method: 'GET',
      path: '/preview/{id}',
      summary: 'Go to a preview',
      extension: true,
      scope: null,
      limited,
      responses: { 308: null },
      handler: ({ request, params }) => goToPreview(parts, request, params.id),
    }),
    route({
      method: 'GET',
      path: '/preview/{id}/{path*}',
      summary: 'See a file of a preview',
      description,
      extension: true,
      scope: null,
      limited,
      responses: { 200: null, 308: null },
      contentTypes: { 200: '*/*' },
      handler: ({ request, params }) => servePreview(parts, request, params),
    }),
  ];
}
