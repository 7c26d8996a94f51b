/**
 * Follows the events of an account and misses none, also when the connection or the node behind it is lost. Node 22, no packages.
 *
 *   TROUPE_URL=http://127.0.0.1:8080 TROUPE_TOKEN=mk_live_… node examples/follow-events.mjs [SEQ]
 *
 * Prints each event after SEQ, or from now on, as a line of JSON. Keep the `seq` of the last one together with what it made you do, in one
 * transaction or file, and give it at the next start: so each event takes effect once, also when this program is killed.
 */
import { setTimeout as sleep } from 'node:timers/promises';

const { TROUPE_URL: url = 'http://127.0.0.1:8080', TROUPE_TOKEN: token } = process.env;
/** Read too slowly, the node leaves, the connection broke: nothing is lost by coming again. With any other code it would only end again. */
const resumable = [4430, 1012, 1006];
const [firstBackOffMs, longestBackOffMs, pulseMs] = [250, 30_000, 20_000];

/** The last event that was handled; null: none is wanted from before. */
let last = process.argv[2] === undefined ? null : Number(process.argv[2]);

for (let failures = 0; ; failures++) {
  const { code, reason, gotOn, reconnectAfterMs } = await follow();
  if (!resumable.includes(code)) {
    console.error(`the stream ended with ${code} ${reason}`);
    process.exit(1);
  }
  if (gotOn) failures = 0;
  // Each client waits a time of its own, or all that a node lost would come back at once.
  await sleep(reconnectAfterMs ?? Math.random() * Math.min(longestBackOffMs, firstBackOffMs * 2 ** failures));
}

/** One connection; resolves with how it ended. */
function follow() {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/ws`);
    let [gotOn, isSilent, reconnectAfterMs] = [false, false, undefined];
    const end = (code, reason) => {
      clearInterval(pulse);
      socket.onmessage = socket.onclose = socket.onerror = null;
      socket.close();
      resolve({ code, reason, gotOn, reconnectAfterMs });
    };
    // A host that lost its power says nothing any more, and the connection would wait for ever.
    const pulse = setInterval(() => {
      if (isSilent) return end(1006, 'silent');
      isSilent = true;
      if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"ping"}');
    }, pulseMs);
    socket.onopen = () => socket.send(JSON.stringify({ type: 'auth', token, resume_from: last }));
    socket.onclose = ({ code, reason }) => end(code, reason);
    // Node 22 reports a refused connection only by this event.
    socket.onerror = () => end(1006, 'not reached');
    socket.onmessage = ({ data }) => {
      isSilent = false;
      const message = JSON.parse(data);
      if (message.type === 'auth_ok' && !message.resumed) last = message.seq;
      else if (message.type === 'event') {
        // What comes after a hole is not handled; it comes again, after what was in the hole.
        if (message.prev !== last) return end(1006, `event ${message.prev} was missed`);
        console.log(JSON.stringify(message.event));
        last = message.event.seq;
        gotOn = true;
      } else if (message.type === 'reset') {
        console.error(`not all events since are kept: read by REST what you need to know; events go on after ${last}`);
      } else if (message.type === 'replayed') gotOn = true;
      else if (message.type === 'goaway') reconnectAfterMs = message.reconnect_after_ms;
    };
  });
}
