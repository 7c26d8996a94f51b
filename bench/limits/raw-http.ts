/** The limit of answering: raw uWebSockets.js looks the token up in a Map and sends the bytes and headers that the service sends. */
import { App, us_listen_socket_close, us_socket_local_port } from 'uWebSockets.js';
import { serveCalls } from '../support/program.ts';

type Answer = { path: string; authorization: string; headers: [string, string][]; body: string };

serveCalls({
  listen({ path, authorization, headers, body }: Answer) {
    const tokens = new Map([[authorization, { accountId: 'acct_bench' }]]);
    const app = App().get(path, (res, req) => {
      const principal = tokens.get(req.getHeader('authorization'));
      if (principal === undefined) return void res.writeStatus('401 Unauthorized').end('{"detail":"Not authenticated"}');
      for (const [name, value] of headers) res.writeHeader(name, value);
      res.end(body);
    });
    return new Promise((resolve, reject) => {
      app.listen('127.0.0.1', 0, (socket) => {
        if (socket === false) return reject(new Error('no port'));
        process.once('exit', () => us_listen_socket_close(socket));
        resolve(us_socket_local_port(socket));
      });
    });
  },
});
