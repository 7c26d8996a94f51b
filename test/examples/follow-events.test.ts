/** The example of a resuming client, run as a user runs it. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createServer } from '../../src/edge/http/server.ts';
import type { Connection } from '../../src/edge/http/web-socket.ts';
import { noLog } from '../../src/log.ts';
import type { EventBody } from '../support/bodies.ts';
import { FrontDoor } from '../support/front-door.ts';
import type { Scope } from '../support/scope.ts';
import { Caller, startService } from '../support/service.ts';

type Follower = {
  /** What it printed, line by line. */
  readonly events: EventBody[];
  said(): string;
  until(condition: () => boolean): Promise<void>;
  /** Its exit code. */
  readonly ended: Promise<number | null>;
};

function follow(t: Scope, url: string, token: string, ...from: string[]): Follower {
  const child: ChildProcess = spawn(process.execPath, ['examples/follow-events.mjs', ...from], {
    env: { TROUPE_URL: url, TROUPE_TOKEN: token },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const events: EventBody[] = [];
  let [rest, said, isOver] = ['', '', false];
  let wake = (): void => {};
  child.stdout!.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    events.push(...lines.map((line) => JSON.parse(line)));
    wake();
  });
  child.stderr!.setEncoding('utf8').on('data', (chunk) => {
    said += chunk;
    wake();
  });
  void ended.then(() => {
    isOver = true;
    wake();
  });
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) {
      assert.ok(!isOver, `it ended: ${said}`);
      await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  return { events, said: () => said, until, ended };
}

test('a client like the example sees every event once while the service is killed, stopped and cut off, and ends when its key is revoked', {
  timeout: 300_000,
}, async (t) => {
  const service = await startService(t);
  const door = new FrontDoor(() => service.url);
  await door.open();
  t.after(() => door.close());
  const person = await Caller.register(service);
  const { id: keyId, key } = await person.json('POST', '/v1/api-keys', { name: 'follower', scopes: ['workspaces.read'] });
  const { id: workspaceId } = await person.json('POST', '/v1/workspaces', { name: 'busy' });
  let isWriting = true;
  const writing = (async () => {
    // Some fail, and of some of those the event is there all the same: the service's own list is what counts.
    for (let n = 0; isWriting; n++) await person.upload(workspaceId, `${n % 10}.txt`, `${n}`).catch(() => pause(20));
  })();
  const follower = follow(t, door.url, key, '0');
  const some = () => {
    const wanted = follower.events.length + 20;
    return follower.until(() => follower.events.length >= wanted);
  };
  await some();
  await service.kill();
  await service.restart();
  await some();
  door.cut();
  await some();
  await service.stop();
  await service.restart();
  await some();
  isWriting = false;
  await writing;
  const kept = (await person.events()).filter(({ type }) => type.startsWith('workspace.'));
  await follower.until(() => follower.events.length >= kept.length);
  assert.deepEqual(follower.events, kept);

  await person.json('DELETE', `/v1/api-keys/${keyId}`);
  assert.equal(await follower.ended, 1);
  assert.match(follower.said(), /ended with 4401/);
});

test('a client like the example resumes after its last event, whatever ended the stream, and does not reconnect if that cannot help', async (t) => {
  const event = (prev: number, seq: number) => ({ type: 'event', prev, event: { seq } });
  /** What each connection is sent, and the code that closes it. */
  const visits: [object[], number][] = [
    [[{ type: 'auth_ok', seq: 7, resumed: false }, event(7, 8)], 4430],
    [[{ type: 'auth_ok', seq: 20, resumed: true }, event(8, 11), event(12, 13)], 0],
    [
      [
        { type: 'auth_ok', seq: 20, resumed: true },
        event(11, 12),
        { type: 'replayed', seq: 12 },
        { type: 'goaway', reconnect_after_ms: 1 },
      ],
      1012,
    ],
    [[{ type: 'auth_ok', seq: 30, resumed: false }, { type: 'reset', oldest_seq: 25 }, event(30, 31)], 4430],
    [[{ type: 'auth_ok', seq: 31, resumed: true }], 4429],
  ];
  const auths: any[] = [];
  const server = await createServer({
    handler: () => ({ status: 404, headers: null, body: null }),
    log: noLog,
    maxHeaderBytes: 16_384,
    accessLog: false,
  });
  const handlers = {
    open() {},
    message(connection: Connection<null>, message: string | Buffer) {
      const [messages, code] = visits[auths.length]!;
      auths.push(JSON.parse(String(message)));
      for (const one of messages) connection.send(JSON.stringify(one));
      // The second visit is ended by the client, which sees a hole.
      if (code !== 0) connection.end(code, '');
    },
    drain() {},
    close() {},
  };
  server.webSocket('/v1/ws', handlers, { maxMessageBytes: 65_536, maxBufferedBytes: 65_536, idleTimeoutS: 120 });
  const { port } = await server.listen('127.0.0.1', 0);
  t.after(() => server.close(0));
  const follower = follow(t, `http://127.0.0.1:${port}`, 'mk_live_x');
  assert.equal(await follower.ended, 1);
  assert.deepEqual(
    auths.map(({ resume_from: from }) => from),
    [null, 8, 11, 12, 31],
  );
  assert.deepEqual(
    follower.events.map(({ seq }) => seq),
    [8, 11, 12, 31],
  );
  assert.match(follower.said(), /not all events since are kept/);
  assert.match(follower.said(), /ended with 4429/);
});
