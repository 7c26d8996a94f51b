/** The page at the service's root: what the service is and where to continue; HTML for browsers, JSON for programs. */
import Type from 'typebox';
import { html } from '../http/html.ts';
import { page, wantsPage } from '../http/html-page.ts';
import { type AnyRoute, route } from '../http/route.ts';
import { answer } from './answer.ts';

const about = 'Runs natural-language tasks with AI agents, and streams every step.';

const bodyOf = (version: string) => html`<p>${about}</p>
<ul>
  <li><a href="/docs">API reference</a>, with a first task to try</li>
  <li><a href="/v1/openapi.json">OpenAPI description</a></li>
  <li><a href="/health">Health of this service</a></li>
</ul>
<p class="quiet">Version ${version}</p>`;

const Greeting = Type.Object(
  {
    name: Type.Literal('troupe'),
    description: Type.String(),
    version: Type.String(),
    docs: Type.String(),
    openapi: Type.String(),
    health: Type.String(),
  },
  { title: 'Greeting' },
);

/** @param publicUrl base address of this service */
export function greetingRoutes({ version, publicUrl }: { version: string; publicUrl: string }): AnyRoute[] {
  const shown = page('Troupe', bodyOf(version), 200);
  const greeting = {
    name: 'troupe' as const,
    description: about,
    version,
    docs: `${publicUrl}/docs`,
    openapi: `${publicUrl}/v1/openapi.json`,
    health: `${publicUrl}/health`,
  };
  return [
    route({
      method: 'GET',
      path: '/',
      summary: 'Describe this service',
      description: 'A browser, which accepts `text/html`, gets a page.',
      scope: null,
      extension: true,
      responses: { 200: Greeting },
      handler: ({ request }) =>
        wantsPage(request.header('accept'))
          ? { ...shown, headers: { ...shown.headers, Vary: 'Accept' } }
          : answer(200, greeting, { Vary: 'Accept' }),
    }),
  ];
}
