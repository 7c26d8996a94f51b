/**
 * Follows all events of one account until it is stopped, over any nodes: when a stream ends for any reason, it resumes on any node after the
 * last received event. It also changes the node at random times, and a node that sends nothing for too long counts as lost.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { NodeProcess } from '../support/node-process.ts';
import type { Random } from '../support/random.ts';
import type { History } from './history.ts';

const pingEveryMs = 1_000;
const silentAfterMs = 4_000;
const reconnectMs = 50;
const shortestStayMs = 2_000;
const longestStayMs = 20_000;
/** Codes that mean: reconnect and resume. Without a close frame it is 1006. */
const resumable = [1006, 1012, 4430];

export class Subscriber {
  readonly name: string;
  /** The number of the last event it has. */
  position = 0;
  /** How often a stream was resumed, whichever side had ended it. */
  resumed = 0;
  private stopping = false;
  private socket: WebSocket | null = null;
  private readonly running: Promise<void>;
  private readonly parts: { account: string; token: string; history: History; nodes: () => NodeProcess[]; random: Random };

  constructor(name: string, parts: { account: string; token: string; history: History; nodes: () => NodeProcess[]; random: Random }) {
    this.name = name;
    this.parts = parts;
    this.running = this.follow();
  }

  /** Resolves when it has everything up to `seq`; false when that takes longer. */
  async untilPosition(seq: number, withinMs: number): Promise<boolean> {
    const giveUpAtMs = performance.now() + withinMs;
    while (this.position < seq) {
      if (performance.now() > giveUpAtMs) return false;
      await pause(20);
    }
    return true;
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.socket?.close();
    await this.running;
  }

  private async follow(): Promise<void> {
    while (!this.stopping) {
      const nodes = this.parts.nodes();
      if (nodes.length > 0) {
        const code = await this.stream(this.parts.random.pick(nodes));
        if (this.stopping) return;
        this.resumed++;
        if (!resumable.includes(code)) this.parts.history.anomaly(`${this.name}: its stream was closed with ${code}`);
      }
      await pause(reconnectMs);
    }
  }

  /** One connection, to its end. Resolves with its close code. */
  private stream(node: NodeProcess): Promise<number> {
    const { token, history, account } = this.parts;
    const socket = new WebSocket(`${node.url.replace('http', 'ws')}/v1/ws`);
    this.socket = socket;
    let lastMessageMs = performance.now();
    return new Promise((resolve) => {
      const over = (code: number) => {
        clearInterval(pinging);
        clearTimeout(moving);
        socket.onmessage = null;
        socket.onclose = null;
        resolve(code);
      };
      const pinging = setInterval(() => {
        if (performance.now() - lastMessageMs > silentAfterMs) {
          over(1006);
          socket.close();
        } else if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"ping"}');
      }, pingEveryMs);
      const moving = setTimeout(
        () => {
          over(1006);
          socket.close();
        },
        this.parts.random.between(shortestStayMs, longestStayMs),
      );
      socket.onopen = () => socket.send(JSON.stringify({ type: 'auth', token, resume_from: this.position }));
      socket.onerror = () => {};
      socket.onclose = ({ code }) => over(code);
      socket.onmessage = ({ data }) => {
        lastMessageMs = performance.now();
        const message = JSON.parse(String(data));
        if (message.type === 'reset') history.anomaly(`${this.name}: a stream could not be resumed after ${this.position} on ${node.name}`);
        if (message.type !== 'event') return;
        const { seq, id, type } = message.event;
        history.received.push({
          subscriber: this.name,
          account,
          node: node.name,
          atMs: history.nowMs(),
          prev: message.prev,
          seq,
          id,
          type,
        });
        this.position = seq;
      };
    });
  }
}
