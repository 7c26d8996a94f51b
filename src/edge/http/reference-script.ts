/** A worker thread that posts the text of the reference page's script, and ends. */
import { parentPort } from 'node:worker_threads';
import plugin from '@scalar/fastify-api-reference';

parentPort!.postMessage(scriptOf(plugin as unknown as Plugin));

type PluginRoute = { url: string; handler(request: null, reply: object): void };
type Plugin = (registrar: object, options: object, done: () => void) => void;

/**
 * The package contains the script only inside its Fastify plugin. A plugin is a function that registers routes: it gets a registrar that
 * calls the handler of the script's route and ignores the other routes.
 */
function scriptOf(register: Plugin): string {
  let text = '';
  const reply = { header: () => reply, send: (content: string) => void (text = content) };
  const registrar = {
    hasPlugin: () => false,
    initialConfig: { ignoreTrailingSlash: true },
    route({ url, handler }: PluginRoute): void {
      if (url.endsWith('.js')) handler(null, reply);
    },
  };
  register(registrar, { routePrefix: '/docs', configuration: { url: './openapi.json' } }, () => {});
  if (text === '') throw new Error('the reference page has no script in this version of its package');
  return text;
}
